"""The secret scan on invented secrets and harmless lines in five languages.

Tokens are put together from pieces here, so that no forge takes this file for a leak.
"""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from short_memory.errors import SecretError
from short_memory.secret_scan import Finding, check, scan

A = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

ANNOUNCED = [
    # English.
    ("password-value", "the wifi password is Sunflower-42"),
    ("password-value", "wifi password is swordfish"),
    ("password-value", "Password: hunter2"),
    ("password-value", "password: swordfish"),
    ("password-value", "**Password:** `Tr0ub4dor&3`"),
    ("password-value", "my password for Netflix is m0vieNight"),
    ("password-value", "password hunter2"),
    ("password-value", "passwd=p@ssword"),
    ("password-value", 'MYSQL_ROOT_PASSWORD="s3cr3t-root"'),
    ("password-value", '{"password": "abc123xyz"}'),
    ("password-value", "Her password was changed to Winter2025"),
    ("password-value", "hunter2 is my password"),
    ("password-value", "the password is 'swordfish'"),
    ("password-value", "password (router): 84736251"),
    ("password-value", "Passphrase: CorrectHorseBattery"),
    ("password-value", "pwd -> qwerty123"),
    ("password-value", "Password:\n  hunter2"),
    ("password-value", "passcode is 483920"),
    ("pin-value", "PIN: 4821"),
    ("pin-value", "my pin is 4821"),
    ("pin-value", "the PIN of my phone is 048213"),
    ("pin-value", "pin 7391"),
    ("pin-value", "4821 is my PIN"),
    ("pin-value", "PIN code: 1111"),
    ("pin-value", "door code 48213"),
    ("pin-value", "alarm code: 9043#"),
    ("token-value", f"API key: {HEX}"),
    ("token-value", "token = abcd1234efgh"),
    ("token-value", f"client_secret: {A}"),
    ("token-value", "the recovery code is k7fm-29xq-p3vd"),
    ("card-code", "CVV 123"),
    ("password-value", 'password: "correct horse battery staple"'),
    ("password-value", "pw: hunter22"),
    ("password-value", "Netflix password = Tulip_2023"),
    ("password-value", "password - hunter22"),
    ("pin-value", "the code for the garage is 4821"),
    ("pin-value", "il pin del bancomat è 48213"),
    ("pin-value", "Haustürcode 4821"),
    ("pin-value", "el pin del móvil es 4821"),
    # Italian.
    ("password-value", "la password del wifi è Girasole42"),
    ("password-value", "la password wifi è girasole"),
    ("password-value", "Password di Netflix: cinema2024"),
    ("password-value", "parola d'ordine: Sesamo99"),
    ("pin-value", "il codice PIN della carta è 4821"),
    ("pin-value", "codice della porta: 48213"),
    ("token-value", "chiave API: q8w7e6r5t4y3"),
    # German.
    ("password-value", "Das WLAN-Passwort lautet Sommer2024"),
    ("password-value", "Passwort für das WLAN: sonnenblume"),
    ("password-value", "Kennwort: geheim4711"),
    ("password-value", "Bankpasswort: Taler!99"),
    ("pin-value", "Geheimzahl: 4821"),
    ("pin-value", "Meine PIN ist 4821"),
    ("token-value", "API-Schlüssel: q8w7e6r5t4y3"),
    # French.
    ("password-value", "le mot de passe du wifi est Tournesol42"),
    ("password-value", "mot de passe : soleil2019!"),
    ("password-value", "mdp: azerty123"),
    ("pin-value", "digicode : 48B21"),
    ("pin-value", "le code secret de ma carte est 4821"),
    ("token-value", "clé API : q8w7e6r5t4y3"),
    # Spanish.
    ("password-value", "la contraseña del wifi es Girasol42"),
    ("password-value", "contraseña: girasoles"),
    ("password-value", "la clave del wifi es Verano2024"),
    ("pin-value", "mi PIN es 4821"),
    ("pin-value", "código de la puerta: 48213"),
    # Written so that a plain search would miss it.
    ("password-value", "ｐａｓｓｗｏｒｄ：ｈｕｎｔｅｒ２"),
    ("password-value", "pass\u00adword: hun\u200bter2"),
    ("pin-value", "PIN: ٤٨٢١"),
]

SHAPES = [
    ("model-api-key", "sk" + "-proj-" + A),
    ("model-api-key", "sk" + "-ant-api03-" + A),
    ("github-token", "gh" + "p_" + A),
    ("github-token", "gh" + "s_" + A),
    ("github-token", "github" + "_pat_" + A),
    ("gitlab-token", "gl" + "pat-" + A[:20]),
    ("slack-token", "xo" + "xb-1234567890-" + A[:20]),
    ("slack-token", "xo" + "xp-1234567890-" + A[:20]),
    ("slack-token", "https://hooks." + "slack.com/services/T12345678/B12345678/" + A[:24]),
    ("aws-access-key", "AK" + "IA" + "IOSFODNN7EXAMPL3"),
    ("google-api-key", "AI" + "za" + A[:35]),
    ("stripe-key", "sk" + "_live_" + A[:24]),
    ("hugging-face-token", "h" + "f_" + A[:34]),
    ("package-registry-token", "np" + "m_" + A),
    ("telegram-bot-token", "123456789" + ":AA" + A[:33]),
    ("sendgrid-key", "SG" + "." + A[:22] + "." + A + "1234567"),
    ("azure-account-key", "Account" + "Key=" + A + A + "=="),
    ("json-web-token", "ey" + "JhbGciOi." + "ey" + "JzdWIiOiIx." + A),
    ("bearer-token", "Authorization: " + "Bearer " + A),
    ("private-key", "-----BEGIN " + "OPENSSH PRIVATE KEY-----"),
    ("private-key", "-----BEGIN " + "PRIVATE KEY-----"),
    ("private-key", "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----"),
    ("age-secret-key", "AGE-SECRET" + "-KEY-1" + "Q" * 58),
    ("age-secret-key", "age-secret" + "-key-1" + "q" * 58),
    ("wallet-key", "xp" + "rv" + A.replace("1", "2") * 3),
    ("one-time-password-seed", "otp" + "auth://totp/Site:me?secret=JBSWY3DPEHPK3PXP"),
    ("wifi-code", "WIFI" + ":T:WPA;S:Home;P:sunflower;;"),
    ("url-password", "postgres" + "://me:hunter2@localhost/db"),
    ("url-password", "https" + "://me:pass@example.org"),
]

CARDS = [
    "4111 1111 1111 1111",
    "4111111111111111",
    "Visa 4111-1111-1111-1111 12/27",
    "5555 5555 5555 4444",
    "2223 0031 2200 3222",
    "3782 822463 10005",
    "378282246310005",
    "3056 930902 5904",
    "6011 1111 1111 1117",
    "3530 1113 3330 0000",
    "6250 9410 0652 8599",
    "6759 6498 2643 8453",
    "41111111 11111111",
    "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    "4111 1111\n1111 1111",
    "４１１１ １１１１ １１１１ １１１１",
]

HARMLESS = [
    # English: the words without a value.
    "password manager: Bitwarden",
    "password manager: 1Password",
    "password manager: KeePassXC",
    "I forgot my password",
    "Password: forgotten",
    "password: in the safe at home",
    "passwords: kept in Bitwarden -> passwords.md",
    "the password is required",
    "the password is important!",
    "my password is weak",
    "the password is cumbersome",
    "CVV: on the back",
    "password: 12-character minimum",
    "password policy: 12 characters, changed every 90days",
    "password reset for anna@example.org",
    "password changed on 2024-01-15",
    "password:\n- 2026-09-30: changed it again",
    "password: ********",
    "password: <your password>",
    "PASSWORD=${DB_PASSWORD}",
    "uses a password and WPA2 at home",
    "1Password is my password manager",
    "prefers passkeys over passwords",
    "passwordless sign-in since 2024",
    "password: see vault.kdbx",
    "password: https://example.org/help",
    "wifi password is on the router",
    "PIN board above the desk",
    "enamel pin 2019",
    "pin 13 on the Arduino is the LED",
    "pins 4 to 7 are ground",
    "PIN: in the safe",
    "forgot the PIN of the old phone",
    "bowling pins, 10 of them",
    "the pin is loose",
    "token ring",
    "token ring network from 1985",
    "token budget: 4096",
    "the bus token costs 2.50",
    "token of appreciation: flowers",
    "secret santa in December",
    "secret ingredient: 100g butter",
    "secret: paprika",
    "the secret is patience",
    "the key is under the mat",
    "API keys are rotated every 90 days",
    "access code review on 2024-05-02",
    "security code training",
    "door code changed",
    "likes The Secret Garden (1911)",
    "AES-256 and SHA-256 are fine",
    "works on task-management-for-the-whole-house-2024",
    "sk-learn pipelines",
    "reads about JWT and OAuth2",
    "uses age for encryption",
    "http://localhost:8080/@me",
    "postgres" + "://me:${PASSWORD}@localhost/db",
    "mailto:anna@example.org",
    "ssh anna@example.org",
    "a Bearer of good news",
    # Italian.
    "ho dimenticato la password",
    "gestore di password: Bitwarden",
    "Password: dimenticata",
    "la password è scaduta",
    "la password è importante",
    "cambia password ogni 3 mesi",
    "il PIN è nella cassaforte",
    "codice fiscale RSSMRA85T10A562S",
    "codice segreto di Leonardo",
    "il segreto è la pazienza",
    "token di cortesia",
    "partita IVA 12345678903",
    "chiave di casa sotto il vaso",
    "CAP 00184 Roma",
    # German.
    "Passwort vergessen",
    "Passwort: vergessen",
    "Das Passwort ist wichtig",
    "Passwörter liegen im Tresor",
    "Passwort: 8-stellig",
    "Kennwort geändert am 12.03.2021",
    "PIN-Brief kam am 12.03.2021",
    "die PIN ist geheim",
    "Geheimzahl vergessen",
    "Geheimnis der alten Mühle",
    "PLZ 10115 Berlin",
    "Schlüssel beim Nachbarn",
    # French.
    "mot de passe oublié",
    "Mot de passe : oublié",
    "le mot de passe est obligatoire",
    "gestionnaire de mots de passe : Bitwarden",
    "code postal 75011",
    "le code secret est dans le coffre",
    "pin parasol 2 m",
    "jeton de caddie",
    "la clé est chez le voisin",
    # Spanish.
    "olvidé la contraseña",
    "Contraseña: olvidada",
    "la contraseña es importante",
    "la clave es la paciencia",
    "la clave: practicar cada día",
    "código postal 28013",
    "el PIN está en casa",
    # Numbers.
    "phone +39 06 4111 1111",
    "phone +49 1511 1111111",
    "+41 79 555 12 34, +41 79 555 12 35",
    "ISBN 978-3-16-148410-0",
    "ISBN 9783161484100",
    "bar code 4006381333931",
    "IBAN DE89 3704 0044 0532 0130 00",
    "IBAN GB82WEST12345698765432",
    "IBAN IT60X0542811101000000123456",
    "IBAN SK36 4111 1111 1111 1111 1111",
    "born 1985-10-12, moved 2001-05-03 to 2009",
    "order 4111 1111 1111 1112",
    "order 1234 5678 9012 3452",
    "timestamp 20240115123045",
    "5 12 2024 and 6 11 2025",
    "2024-01-15 2024-01-16",
    "pi is 3.14159265358979",
    "IMEI 356938035643809",
    "SIM 8939010000000000000",
    # A second set, written without the rules at hand.
    "Wi-Fi password on the fridge",
    "Wi-Fi password: ask Marta",
    "password rotation: every 90 days",
    "He hates password rules like 8+ characters",
    "password must contain 1 digit",
    "password - changed in May",
    "token economy with the kids: 5 stars = 1 film",
    "secret recipe: 2 eggs, 100g sugar",
    "Pin: lunch on Thursday at 12:30",
    "secret is out since 2019",
    "token is valid until 2026-12-31",
    "API key: see Bitwarden",
    "Password is the same everywhere",
    "the passphrase is easy to remember",
    "la password del wifi è sul router",
    "password: chiedi a Giulia",
    "WLAN-Passwort steht auf dem Router",
    "Token für die Waschmaschine: 2 Euro",
    "le mot de passe du wifi est sur la box",
    "la contraseña del wifi está en la nevera",
    "clave: ser puntual",
    "phone 415-555-2671, office 415-555-2672",
    "ISBN-13: 978-0-306-40615-7 and 978-1-86197-876-9",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "MAC 00:1B:44:11:3A:B7",
    # Plain notes.
    "- 2026-09-30: dislikes turn-based RPGs",
    "- home: lives in Rome -> home.md",
    "- password: Bitwarden -> password.md",
    "- car: plate AB123CD, 84000 km",
    "flat 4B, floor 3, bell 12",
    "allergic to nuts",
    "meets Anna at 10:30 on 2026-12-01",
    "version 2.4.1 of KeePassXC",
    "room A1b2C3 in the north wing",
    "commit 0f1e2d3c4b5a69788796a5b4c3d2e1f0",
]


@pytest.mark.case("secret-refused-everywhere")
@pytest.mark.parametrize(("rule", "text"), ANNOUNCED, ids=range(len(ANNOUNCED)))
def test_a_value_beside_a_word_that_announces_it_is_found(rule, text):
    assert scan(f"- likes tea\n{text}\n") == [Finding(rule, 2)]


@pytest.mark.case("secret-refused-everywhere")
@pytest.mark.parametrize(("rule", "text"), SHAPES, ids=range(len(SHAPES)))
def test_every_listed_shape_is_found(rule, text):
    assert Finding(rule, 2) in scan(f"- likes tea\n- see {text} there\n")


@pytest.mark.parametrize("text", CARDS, ids=range(len(CARDS)))
def test_a_payment_card_is_found_however_it_is_grouped(text):
    assert scan(f"- likes tea\n- card {text}\n") == [Finding("payment-card", 2)]


@pytest.mark.parametrize("text", HARMLESS, ids=range(len(HARMLESS)))
def test_a_harmless_line_is_not_found(text):
    assert scan(f"- likes tea\n{text}\n") == []


def test_the_sets_are_as_large_as_promised():
    assert len(ANNOUNCED) + len(SHAPES) + len(CARDS) >= 100
    assert len(set(HARMLESS)) >= 120


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("github-token", "gh" + "p_" + A[:10] + "\n" + A[10:]),
        ("model-api-key", "sk" + "-\n" + A),
        ("json-web-token", "ey" + "JhbGciOi.\n" + "ey" + "JzdWIiOiIx." + A),
    ],
)
def test_a_shape_that_goes_on_after_a_line_break_is_found_where_it_begins(rule, text):
    assert scan(f"- likes tea\n{text}\n") == [Finding(rule, 2)]


@pytest.mark.parametrize("announced", ["The wifi password:", "The password is", "My PIN:", "The password is now:"])
def test_a_value_in_the_next_fact_is_found_across_its_day(announced):
    value = "4821" if "PIN" in announced else "hunter2" + "x9"
    found = scan(f"- 2026-12-01: {announced}\n- 2026-12-02: {value}\n")
    assert [one.line for one in found] == [1]


def test_a_fact_after_one_that_names_a_secret_is_not_taken_for_it():
    assert scan("- 2026-12-01: Keeps the PIN in a safe\n- 2026-12-02: 1500 m in the pool\n") == []


def test_all_secrets_of_a_text_are_listed_in_the_order_of_lines_and_each_rule_once_a_line():
    text = "PIN: 4821\n\npassword: hunter2, password: hunter3\n4111 1111 1111 1111 PIN 4821\n"
    assert scan(text) == [
        Finding("pin-value", 1),
        Finding("password-value", 3),
        Finding("payment-card", 4),
        Finding("pin-value", 4),
    ]


@pytest.mark.case("secret-refused-everywhere")
def test_the_refusal_names_rule_and_line_and_never_the_value():
    with pytest.raises(SecretError) as caught:
        check("- home: Rome\n- password: hunter2\n- PIN: 4821\n", "home.md")
    assert (caught.value.rule, caught.value.line) == ("password-value", 2)
    assert "hunter2" not in caught.value.text


def test_a_text_without_secrets_passes_the_check():
    assert check("- home: Rome\n", "home.md") is None


@pytest.mark.parametrize(
    "text",
    [
        "password " * 222,
        "password: " * 200,
        "a" * 2000,
        "password " + "a" * 2000,
        "4111 " * 400,
        "1" * 2000,
        "1 " * 1000,
        "eyJ" + "a" * 1997,
        "eyJaaaaa." * 222,
        "a://" * 500,
        "DE89 3704 " * 200,
        "is my password " * 130,
        "token for a b c d e " * 100,
        "sk-" + "a" * 1997,
        "sk-" * 666,
        "-eyJ" * 500,
        "a+" * 1000,
        "lives in Rome, likes tea and long walks, works at night " * 36,
    ],
    ids=range(18),
)
def test_the_time_grows_with_the_text_and_not_faster(text):
    def seconds(lines):
        best = []
        for _ in range(3):
            started = time.process_time()
            scan("\n".join([text] * lines))
            best.append(time.process_time() - started)
        return min(best)

    assert seconds(1) < 0.05
    assert seconds(8) < 0.2


@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_any_text_is_scanned_and_lines_are_its_own(text):
    assert all(1 <= finding.line <= text.count("\n") + 1 for finding in scan(text))


@given(st.text(st.sampled_from("İıßſẞﬃ½①\n٣é "), max_size=20))
def test_letters_that_change_their_length_never_move_a_finding(text):
    assert Finding("password-value", text.count("\n") + 2) in scan(f"{text}\npassword: hunter2")
