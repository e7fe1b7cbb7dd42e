"""What the engine refuses, as a closed set of errors with stable codes.

Each error carries its facts as attributes and says in one text what happened and what to do next. The text is for the
person or the model that asked; a log gets the code alone. A surface translates codes in one table of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class ShortMemoryError(Exception):
    """Anything the engine refuses. `code` is stable, `text` may be reworded."""

    code: ClassVar[str]

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class BadArgumentsError(ShortMemoryError):
    """A tool was called with arguments that do not fit its schema."""

    code = "bad-arguments"


class NoToolError(ShortMemoryError):
    """The turn does not offer this tool."""

    code = "no-tool"

    def __init__(self, offered: Sequence[str]) -> None:
        listed = ", ".join(offered) or "none"
        super().__init__(f"That tool is not offered here. Tools for notes in this turn: {listed}.")


class NoScopeError(ShortMemoryError):
    """No changes to these notes can be proposed in this turn."""

    code = "no-scope"

    def __init__(self, scopes: Sequence[str]) -> None:
        listed = ", ".join(scopes) or "none"
        super().__init__(f"No changes to those notes can be proposed in this chat. Scopes you can use: {listed}.")


class NoTopicError(ShortMemoryError):
    """Unknown, foreign and path-like names all get this answer."""

    code = "no-topic"

    def __init__(self, topics: Sequence[str]) -> None:
        super().__init__(f"No such topic here. Topics: {', '.join(topics) or 'none'}.")
        self.topics = tuple(topics)


class BadFileError(ShortMemoryError):
    """The name is neither `index.md` nor the file of a topic."""

    code = "bad-file"


class NoMatchError(ShortMemoryError):
    """`old` stands nowhere in the file, or more than once."""

    code = "no-match"

    def __init__(self, file: str, found: int, present: str) -> None:
        where = "nowhere" if found == 0 else f"{found} times"
        super().__init__(
            f"`old` stands {where} in {file}; it must stand there exactly once. "
            f"Quote it from the present text and propose again. {file} now:\n{present or '(no file yet)'}"
        )
        self.present = present


class OverCapError(ShortMemoryError):
    """The text would be larger than its cap. `entries` holds what the file has now."""

    code = "over-cap"

    def __init__(self, file: str, measures: str, entries: Sequence[str]) -> None:
        now = "\n".join(entries) or "(nothing)"
        super().__init__(
            f"{file} would have {measures}. Join, shorten or drop entries and propose again. It now has:\n{now}"
        )
        self.file = file
        self.measures = measures
        self.entries = tuple(entries)


class BadTextError(ShortMemoryError):
    """The text holds something that cannot be seen, or that changes how other text is shown."""

    code = "bad-text"

    def __init__(self, rule: str, file: str, line: int, found: str) -> None:
        super().__init__(f"{file}, line {line}: {found} is not allowed in notes ({rule}). Leave it out and try again.")
        self.rule = rule
        self.file = file
        self.line = line
        self.found = found


class SecretError(ShortMemoryError):
    """The text holds a secret. The value is never repeated."""

    code = "secret"

    def __init__(self, rule: str, file: str, line: int) -> None:
        super().__init__(
            f"{file}, line {line} looks like a secret ({rule}). Notes never hold secrets: "
            "tell the person to keep it in a password manager."
        )
        self.rule = rule
        self.file = file
        self.line = line


class UnchangedError(ShortMemoryError):
    """The files already say this."""

    code = "unchanged"

    def __init__(self) -> None:
        super().__init__("The notes already say exactly this. There is nothing to change.")


class AlreadyDeclinedError(ShortMemoryError):
    """The person declined the same proposal in the last 30 days."""

    code = "already-declined"

    def __init__(self, proposal: str) -> None:
        super().__init__(
            "The person already declined this. Do not propose it again; "
            "they can press “Propose again” on that card if they change their mind."
        )
        self.proposal = proposal


class LimitError(ShortMemoryError):
    """Too many proposals."""

    code = "limit"

    def __init__(self, limit: int, where: str) -> None:
        super().__init__(
            f"There are already {limit} proposals {where}, which is the most. "
            "Ask the person to decide on those that are open, and do not propose more now."
        )
        self.limit = limit


class NoProposalError(ShortMemoryError):
    """No such proposal; somebody else's gets the same answer."""

    code = "no-proposal"

    def __init__(self) -> None:
        super().__init__("No such proposal. It may have been removed; look in the inbox.")


class DecidedError(ShortMemoryError):
    """The proposal is in a final state, which is the code."""

    def __init__(self) -> None:
        super().__init__(f"This proposal is {self.code} already. Nothing was written now.")


class ConfirmedError(DecidedError):
    """It was confirmed."""

    code = "confirmed"


class DeclinedError(DecidedError):
    """It was declined."""

    code = "declined"


class ExpiredError(DecidedError):
    """24 hours passed, or what it needed was taken away."""

    code = "expired"


class StaleError(ShortMemoryError):
    """The yes was for another card than the one that stands now, or the files moved on."""

    code = "stale"

    def __init__(self, *, redrawn: bool) -> None:
        then = "Read the new card and decide again." if redrawn else "Ask for a new proposal."
        super().__init__(f"The notes changed since this card was shown. Nothing was written. {then}")
        self.redrawn = redrawn


class NoChangeError(ShortMemoryError):
    """No such change set, or not one that this actor may take back."""

    code = "no-change"

    def __init__(self) -> None:
        super().__init__("There is no such change to take back here. The Memory tab lists every change and its Undo.")


class ChangedError(ShortMemoryError):
    """A change set cannot be taken back: later changes touch the same lines. Holds both texts by path."""

    code = "changed"

    def __init__(self, texts: dict[str, tuple[str | None, str | None]]) -> None:
        super().__init__(
            f"{', '.join(texts)} changed since, in the same lines. Nothing was written. "
            "Compare both texts and edit the note by hand."
        )
        self.texts = texts


class ConflictError(ShortMemoryError):
    """A write named a version that is not the present one. Holds the present text."""

    code = "conflict"

    def __init__(self, file: str, present: str | None) -> None:
        super().__init__(f"{file} changed since you opened it. Nothing was written. Compare both texts and keep one.")
        self.present = present


class UnreadableError(ShortMemoryError):
    """The file is there, and is no plain UTF-8 text file of the person's."""

    code = "unreadable"

    def __init__(self, file: str, why: str) -> None:
        super().__init__(f"{file} is left out: {why}. Put a plain UTF-8 text file there.")
        self.why = why


class StorageError(ShortMemoryError):
    """The disk refused. Nothing of the change was kept."""

    code = "storage"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The change could not be stored ({why}). Nothing was written. Free space or mend the disk, then try again."
        )


class NewerDataError(ShortMemoryError):
    """The data folder was written by a newer version of this program."""

    code = "newer-data"

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"The data folder has schema version {found}; this program knows up to {known}. "
            "Nothing was touched. Update the program."
        )


def every() -> Iterator[type[ShortMemoryError]]:
    """Yield every error that has a code, so that a surface's table can be checked against the set."""
    waiting = [ShortMemoryError]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if hasattr(kind, "code"):
            yield kind
