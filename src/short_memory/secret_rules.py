"""What secrets look like: the words that announce one, the values that are none, and shapes known by their prefix.

The words are those of English, Italian, German, French and Spanish. Every pattern is for text in lower case, except the
shapes, and has only bounded repeats, so that a scan takes time in proportion to the text.
"""

from __future__ import annotations

import re

# Words that announce a value. The first group that matches decides on the rule.
LABEL = re.compile(
    r"(?:(?P<token>(?<![^\W_])(?:"
    r"(?:api|access|secret|private|client|auth|bearer|refresh|app|bot|encryption)[-_ ]?(?:key|token|secret)"
    r"|token|secret|jeton|api[- ]?schlüssel|chiave (?:api|segreta)|cl[ée] (?:api|secrète)|clave (?:api|secreta)"
    r"|(?:recovery|backup) (?:code|key)|codice di (?:recupero|backup)|wiederherstellungscode|code de récupération"
    r"|código de recuperación))"
    r"|(?P<password>passwor[dt]|passwd|passphrase|pass ?code|kennwort|mot de passe|contraseña|contrasena"
    r"|parola (?:d'ordine|chiave)|phrase secrète|(?<![^\W_])(?:pwd?|psw|mdp))"
    r"|(?P<key>(?<![^\W_])(?:clave|(?:wi-?fi|wlan)[- ](?:pass|key|schlüssel)|chiave (?:del )?wi-?fi|clé (?:du )?wi-?fi)"
    r"|(?<=_)pass)"
    r"|(?P<pin>(?<![^\W_])(?:pin|puk|geheimzahl|digicode"
    r"|(?:door|gate|alarm|entry|access|unlock|security|safe|locker|garage|keypad|lock) code"
    r"|code (?:for|of|to) (?:the|my|our) (?:front |back )?(?:door|gate|garage|alarm|safe|building|house|locker)"
    r"|(?:tür|haustür|zugangs|alarm|sicherheits)code"
    r"|codice (?:segreto|di accesso|d'accesso|di sblocco|allarme|dell'allarme|del(?:la)? (?:porta|cancello|cassaforte))"
    r"|code (?:secret|confidentiel|d'entrée|d'accès|de la porte|de l'immeuble|de l'alarme)"
    r"|código (?:secreto|de acceso|de seguridad|de la (?:puerta|alarma)))(?:[- ](?:code|number|nummer))?)"
    r"|(?P<card>(?<![^\W_])(?:cvv|cvc)2?))"
    r"(?![^\W_])"
)
RULES = {
    "token": "token-value",
    "password": "password-value",
    "key": "password-value",
    "pin": "pin-value",
    "card": "card-code",
}
# How many digits make a secret of a number that stands for itself.
DIGITS = {"pin": range(4, 9), "card": range(3, 5)}

_CLOSE = r"[\"'`*_)\]]{0,3}"
_BREAK = r"[ \t]{0,4}\n[ \t>*+-]{0,8}"
_DAY = r"(?:\d{4}-\d{2}-\d{2}: )?"  # which the host puts before each fact
_OF = (
    r"(?: (?:for|of|to|on|in|at|di|del|della|dello|dell'|dei|per|su|für|vom|von|zum|zur|im|am|du|de|des|pour|sur"
    r"|para|en|al)"
    r"(?: |(?<='))[^\s:=]{1,24}(?: [^\s:=]{1,24}){0,4}?| \([^()\n]{1,40}\))"
)
# One or two words between the announcing word and a colon: "password wifi: …", but not "password manager: …".
_NAMED = (
    r"(?: (?!manager|policy|polic|reset|rotation|length|hint|generator|safe|strength|rules?\b|expir|tresor|richtlinie"
    r"|gestore|gestionnaire|gestor|length|list)[^\s:=\d]{1,24}){1,2}"
)
_IS = (
    r"(?:'s|(?: was| has been| wurde| è stata| a été| fue)? (?:changed|set|reset|geändert|cambiata|changé|cambiada) "
    r"(?:to|auf|zu|in|en|a):?"
    r"| (?:is|was|are|ist|war|lautet|è|era|est|était|es|sarà|will be)(?: now| jetzt| ora| adesso)?:?"
    r"| [-\u2013\u2014])"
)
_VALUE = r"(?P<value>\S{1,128})"
# How a value follows its word: after a sign, after a verb, or at once.
AFTER_SIGN = re.compile(
    rf"{_CLOSE}(?:{_OF}|{_NAMED})??[ \t]{{0,4}}(?:[:=]{{1,2}}>?|->|→){_CLOSE}(?:{_BREAK}{_DAY}|[ \t]{{0,8}}){_VALUE}"
)
AFTER_VERB = re.compile(rf"{_CLOSE}(?:{_OF}|{_NAMED})??{_IS}(?:{_BREAK}{_DAY}|[ \t]{{1,4}}){_VALUE}")
AFTER_NOTHING = re.compile(rf"{_CLOSE}(?:{_BREAK}|[ \t]{{1,4}}){_VALUE}")
BEFORE = re.compile(
    r"(?<!\S)(?P<value>\S{1,128})\s{1,4}(?:is|ist|è|est|es)\s{1,4}"
    r"(?:my|the|our|his|her|mein|das|die|unser|la|il|mia|mio|le|mon|ma|mi|el|nuestra)\s{1,4}(?:[\w-]{1,12}\s{1,4})?\Z"
)
CLAUSE_ENDS = re.compile(
    r"[\"'`*_)\]]{0,3}[ \t]{0,4}(?:\Z|[\n.,;!)(]|->|→|for |of |für |di |del |per |pour |du |de |para )"
)
WIFI = re.compile(r"wi-?fi|wlan")

QUOTES = "\"'`*_<>«»“”\u2018\u2019„()[]{}"
QUOTED = re.compile(r"[\"'`“«„][^\n\"'`”»“]{8,80}[\"'`”»“]")
SYMBOL = re.compile(r"[!@#$%^&*+=?~|\\<>{}]")
PIN = re.compile(r"(?=(?:[a-d]?\d){4})[a-d]?\d{1,8}[a-d]?\d{0,8}[#*]?")
YEAR = re.compile(r"(?:19|20)\d\d")

# A token of text that has a value's look and is none, as a whole.
HARMLESS = re.compile(
    r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{1,2}[:.h]\d{2}(?:h|am|pm|uhr)?|v?\d{1,4}(?:\.\d{1,5}){1,4}"
    r"|\d{1,4}[-\u2013][a-zà-ÿ]{3,20}"
    r"|\d{1,4}\+?(?:chars?|days?|bits?|mins?|months?|years?|characters?|zeichen|tage|caratteri|giorni)"
    r"|(?:sha|aes|wpa|md|rsa|utf|base|oauth|argon|ed|fido|u2f|ipv|mp|usb|iso|rfc|erc|http|web)-?\d[\w-]{0,16}"
    r"|(?:iphone|ipad|windows|android|macos|office|galaxy|pixel|xbox|ps)-?\d[\w-]{0,8}"
    r"|[\w.+-]{1,64}@[\w-]{1,63}\.[a-z.]{2,24}|(?:https?:|mailto:|/|~/|\./).{0,128}"
    r"|.{1,120}\.(?:md|txt|pdf|png|jpe?g|kdbx|docx?|html?|json|ya?ml|py|org|com|net)"
    r"|[x*•.?#…_-]{1,128}|\$\{?[a-z_]{1,40}\}?|%[a-z_]{1,40}%|\{\{.{0,120}|1password\w{0,4}|keepass\w{0,4}|m365|o365"
)

# Words that stand after "password:" and are no password, in five languages; names of password managers among them.
_COMMON = """
required needed optional forgotten forgot unknown missing changed unchanged reset expired invalid wrong correct weak
strong safe secure secret hidden private personal shared empty blank default saved stored written kept public
important necessary protected encrypted hashed disabled enabled locked unlocked rotated renewed pending later never
always again today tomorrow yesterday weekly monthly yearly nothing something whatever different identical
ditto email phone paper notebook vault keychain manager browser bitwarden lastpass dashlane nordpass
protonpass roboform vaultwarden enpass apple google icloud microsoft firefox chrome proton keeper passbolt yubikey
passkey passkeys biometric fingerprint faceid touchid
richiesta obbligatoria necessaria dimenticata sconosciuta mancante cambiata scaduta sbagliata errata corretta debole
forte sicura segreta nascosta privata personale condivisa vuota salvata scritta conservata importante protetta
bloccata nessuna niente domani sempre diversa uguale carta quaderno
vergessen unbekannt fehlt fehlend geändert abgelaufen ungültig falsch richtig schwach stark sicher geheim versteckt
privat persönlich geteilt gespeichert notiert wichtig nötig notwendig erforderlich geschützt gesperrt keins keines
nichts morgen gestern immer anders gleich zettel papier tresor schlüsselbund
oublié oubliée requis obligatoire inconnu manquant changé expiré invalide incorrect faible robuste caché privé
personnel partagé enregistré écrit important nécessaire protégé bloqué aucun demain jamais toujours identique
papier carnet coffre
olvidada requerida obligatoria desconocida falta cambiada caducada inválida incorrecta débil fuerte segura secreta
oculta privada compartida guardada escrita necesaria protegida bloqueada ninguna mañana siempre igual distinta
papel cuaderno
"""
NOT_PASSWORDS = frozenset(_COMMON.split())

_START = r"(?<![A-Za-z0-9_-])"
# Shapes that a prefix gives away, wherever they stand. Letter case counts.
SHAPES = {
    "model-api-key": rf"{_START}sk-(?=[A-Za-z_-]{{0,40}}[0-9])[A-Za-z0-9_-]{{20,200}}",
    "github-token": r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})",
    "gitlab-token": rf"{_START}gl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{{20,100}}",
    "slack-token": rf"{_START}xox[abeoprs]-[A-Za-z0-9-]{{10,250}}|hooks\.slack\.com/services/T[A-Z0-9]{{6,12}}/",
    "aws-access-key": r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "google-api-key": rf"{_START}(?:AIza[A-Za-z0-9_-]{{35}}|GOCSPX-[A-Za-z0-9_-]{{28}})",
    "stripe-key": r"(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,200}",
    "hugging-face-token": r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,60}",
    "package-registry-token": r"(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,250})",
    "telegram-bot-token": r"(?<![A-Za-z0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
    "sendgrid-key": r"(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}",
    "azure-account-key": r"AccountKey=[A-Za-z0-9+/]{40,128}",
    "json-web-token": rf"{_START}eyJ[A-Za-z0-9_-]{{5,1000}}\.eyJ[A-Za-z0-9_-]{{5,2000}}\.[A-Za-z0-9_-]{{10,1000}}",
    "bearer-token": r"\b[Bb]earer (?=[A-Za-z._~+/-]{0,60}[0-9])[A-Za-z0-9._~+/-]{20,500}",
    "private-key": r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-[0-9]",
    "age-secret-key": r"(?<![A-Za-z0-9])(?:AGE-SECRET-KEY-1|age-secret-key-1)[A-Za-z0-9]{20,80}",
    "wallet-key": r"(?<![A-Za-z0-9])[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}",
    "one-time-password-seed": r"otpauth(?:-migration)?://[a-z]{1,12}[/?][^\s]{4,300}",
    "wifi-code": r"WIFI:(?:[TSH]:[^;\n]{0,64};){0,3}P:[^;\n]{1,64};",
}
# The name before the colon may be missing; a placeholder is no password.
ADDRESS = (
    r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,15}://"
    r"[^\s/:@?#]{0,64}:(?![*x.]{1,32}@|<|\$\{|\{)[^\s/@?#]{1,128}@[A-Za-z0-9\[]"
)

# A run of digits as a card is written: at a stretch, in fours, as American Express and Diners do, or in other groups.
CARD = re.compile(
    r"(?<![\d+])(?:\d{14,19}|\d{4}(?:[ .-]?\s?\d{4}){3}(?:[ -]\d{3})?|\d{4}[ -]?\s?\d{6}[ -]?\s?\d{4,5}"
    r"|\d(?:[ -]\d){13,18}|\d{3,8}(?:[ -]\d{3,8}){1,5})(?!\d)"
)
# Issuer prefixes with the lengths of their numbers: American Express, Diners, Discover, JCB, Maestro, Mastercard, Visa,
# UnionPay. The old Visa numbers of 13 digits are left out, because German bar codes look like them.
CARD_PREFIX = re.compile(
    r"3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|(?:6011|64[4-9]\d|65\d\d)\d{12}(?:\d{3})?|35(?:2[89]|[3-8]\d)\d{12}"
    r"|(?:5018|5020|5038|6304|6759|676[1-3])\d{12}|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"
    r"|4\d{15}(?:\d{3})?|62\d{14,17}"
)
IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Z0-9])")
