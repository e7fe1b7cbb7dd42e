"""The constant beginning of the guided step's prompt: rules and examples.

Every change here costs every person one slow first message, and moves the figures in docs/models.md: measure it with
`python -m bench.guided`. The examples' topics are few and homely, so that a note never lands in one of them by habit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

RULES: Final = (
    "You sort the messages of one person, before an assistant answers them. The assistant keeps short notes about that "
    'person, sorted by topic. For each message write one JSON object. "wants" says what the person wants, "do" what '
    'happens:\n{"wants":"...","do":"reply"} general knowledge, an explanation, a translation, a story or poem, maths '
    "or code, small talk: the answer would be the same for anybody.\n"
    '{"wants":"...","do":"read","topics":[...]} a fact about me, advice for me, a letter for me: the answer depends on '
    "this person, what they eat, where they live, their people, health, work, plans, taste. Name the topics that "
    'help.\n{"wants":"...","do":"note","topic":"...","fact":"..."} remember this about me, accept the offer: the '
    "person tells a lasting fact about themselves to keep, or says yes to an offer to note it. Take a topic that is "
    "there, or name a new one in one broad word, such as food, health, home, family, work. Write the fact short, in "
    "the person's language."
)

_Topics = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Example:
    """One message and the decision on it."""

    topics: _Topics
    text: str
    decided: dict[str, Any]
    previous: tuple[tuple[str, str], ...] = ()


def _reply(wants: str) -> dict[str, Any]:
    return {"wants": wants, "do": "reply"}


def _read(wants: str, *topics: str) -> dict[str, Any]:
    return {"wants": wants, "do": "read", "topics": list(topics)}


def _note(topic: str, fact: str, *, wants: str = "remember this about me") -> dict[str, Any]:
    return {"wants": wants, "do": "note", "topic": topic, "fact": fact}


_NONE: Final[_Topics] = ()
_GARDEN: Final = (("garden", "tomatoes, a lemon tree"), ("car", "old diesel, inspection in June"))
_GARTEN: Final = (("garten", "Tomaten, ein Zitronenbaum"), ("auto", "alter Diesel, TÜV im Juni"))
_MUSIC: Final = (("sport", "runs on Sundays, bad back"), ("music", "plays the cello, likes jazz"))
_MUSICA: Final = (("sport", "corre la domenica, mal di schiena"), ("musica", "suona il violoncello, ama il jazz"))

EXAMPLES: Final = (
    Example(_NONE, "What is the capital of Peru?", _reply("general knowledge")),
    Example(_NONE, "Remember that I play the cello.", _note("music", "plays the cello")),
    Example(_GARDEN, "when is my next inspection?", _read("a fact about me", "car")),
    Example(_GARDEN, "How does a diesel engine work?", _reply("an explanation")),
    Example(_GARDEN, "what should I plant this weekend?", _read("advice for me", "garden")),
    Example(
        _GARDEN,
        "by the way, I sold the diesel, I have an electric one now",
        _note("car", "sold the diesel, has an electric car"),
    ),
    Example(_GARDEN, "write to my insurance about the dent in the door", _read("a letter for me", "car")),
    Example(_GARDEN, "Translate into French: 'Remember that I love my garden.'", _reply("a translation")),
    Example(_MUSICA, "mi consigli qualcosa da ascoltare?", _read("advice for me", "musica")),
    Example(_MUSICA, "Chi ha inventato la radio?", _reply("general knowledge")),
    Example(_MUSICA, "Segna che mio figlio si chiama Luca", _note("figli", "il figlio si chiama Luca")),
    Example(_MUSICA, "Spiegami come funziona un arcobaleno", _reply("an explanation")),
    Example(_MUSICA, "Scrivimi una barzelletta sui gatti", _reply("a story or poem")),
    Example(
        _MUSIC,
        "yes",
        _note("sport", "swims on Fridays", wants="accept the offer"),
        (("user", "I also swim on Fridays now."), ("assistant", "Nice! Shall I note that?")),
    ),
    Example(_GARTEN, "Was soll ich am Wochenende pflanzen?", _read("advice for me", "garten")),
    Example(_GARTEN, "Wie viele Einwohner hat Wien?", _reply("general knowledge")),
    Example(_GARTEN, "Merk dir, dass mein Kater Felix heißt.", _note("haustiere", "der Kater heißt Felix")),
    Example(_GARTEN, "Erzähl mir einen Witz über Lehrer", _reply("a story or poem")),
    Example(_MUSIC, "leave my notes out of it: which music is good for running?", _reply("an answer without notes")),
    Example(_MUSIC, "I'm so bored of this rain", _reply("small talk")),
    Example(
        _GARDEN,
        "thank you, that helps",
        _reply("small talk"),
        (("user", "How often do I water a cactus?"), ("assistant", "Every two weeks.")),
    ),
    Example(
        _NONE,
        "no thanks",
        _reply("decline the offer"),
        (("user", "I like tea more than coffee."), ("assistant", "Shall I note that?")),
    ),
)
