"""A proposal: a change that the model asks for and the owner decides on.

open -> confirmed | declined | expired | stale. Pure: it reads no clock and no disk; the caller passes `now` and the
present texts, and keeps the result. Everything that can refuse a change refuses it here, before a card is drawn.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from short_memory import caps, changes, facts, index, secret_scan, text_safety
from short_memory.changes import FileChange
from short_memory.errors import (
    BadArgumentsError,
    BadFileError,
    BadTextError,
    ConfirmedError,
    DeclinedError,
    ExpiredError,
    NoMatchError,
    OverCapError,
    SecretError,
    ShortMemoryError,
    StaleError,
    UnchangedError,
)
from short_memory.scopes import INDEX, Conversation, Scope, is_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date, datetime

    from short_memory.caps import Cap

State = Literal["open", "confirmed", "declined", "expired", "stale"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit as asked.

    With `old` and `new` the one place where `old` stands becomes `new`; an empty `old` appends a line. Without them
    `text` is the whole new text, and None deletes the file.
    """

    file: str
    text: str | None = None
    old: str | None = None
    new: str | None = None

    @property
    def whole(self) -> bool:
        """Whether it gives the whole text, or deletes."""
        return self.old is None

    @property
    def appends(self) -> bool:
        """Whether it appends a line."""
        return self.old == ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal with what its card shows: the edits as asked and the files as they would become."""

    id: str
    conversation: Conversation
    scope: Scope
    edits: tuple[Edit, ...]
    files: tuple[FileChange, ...]
    why: str
    day: date
    made: datetime
    end: datetime
    state: State = "open"
    decided: datetime | None = None
    change: str | None = None
    told: bool = False

    @property
    def owner(self) -> str:
        """The person who decides."""
        return self.conversation.owner

    @property
    def digest(self) -> str:
        """The name of the card as it stands: a yes for another card is refused."""
        return changes.digest(self.id, self.files, self.why, self.end.isoformat())

    @property
    def identity(self) -> str:
        """The name of what is asked for, whenever and for whatever reason it is asked."""
        return identity(self.scope, self.edits)


def identity(scope: Scope, edits: Sequence[Edit]) -> str:
    """Return the name of what is asked for; dates of appended items do not count."""
    rows = [[one.file, one.text, one.old, _undated(one.new or "") if one.appends else one.new] for one in edits]
    return hashlib.sha256(json.dumps([scope.index, rows]).encode()).hexdigest()


def draw(scope: Scope, edits: Sequence[Edit], present: Mapping[str, bytes | None], day: date) -> tuple[FileChange, ...]:
    """Apply edits to the present files, complete the index, and check everything that a card must satisfy.

    Args:
        scope: Where the files lie, and their caps.
        edits: In the order asked; several may touch one file.
        present: The bytes of each file of the scope that an edit names, and of the index.
        day: The day that an appended fact without a date gets.

    Returns:
        One change for each file, in the order first named; a completed index comes last.

    Raises:
        BadArgumentsError, BadFileError, NoMatchError, UnchangedError, OverCapError, BadTextError, SecretError.
    """
    _check_edits(edits)
    texts: dict[str, str | None] = {}
    for edit in edits:
        now = texts[edit.file] if edit.file in texts else _normal(present.get(edit.file))
        texts[edit.file] = _edited(edit, now, day)
    _complete_index(texts, present)
    drawn = tuple(
        FileChange(scope.path(file), present.get(file), None if text is None else text.encode())
        for file, text in texts.items()
        if text != _normal(present.get(file))
    )
    if not drawn:
        raise UnchangedError
    for one in drawn:
        check_text(one, scope.cap_of(one.file))
    return drawn


def check_files(files: Iterable[str]) -> None:
    """Refuse a name that is neither `index.md` nor the file of a topic.

    Raises:
        BadFileError: One of them is no such name.
    """
    if not all(map(is_file, files)):
        raise BadFileError(
            "A file is index.md or a topic's file, such as food.md: lower-case letters, digits and hyphens, no folder."
        )


def check_text(change: FileChange, cap: Cap, *, keep_secrets: bool = False) -> None:
    """Check what a change would write: its size, and the lines that it adds.

    Lines that stand there already are not judged again: the owner may have kept them. Only the owner, by hand, keeps a
    secret.

    Raises:
        OverCapError, BadTextError, SecretError.
    """
    if change.after is None:
        return
    text, old = change.after.decode(), caps.normal(change.old)
    became = caps.size(text)
    if not became.fits(cap):
        measures = f"{became.lines} lines and {became.bytes} bytes; at most {cap.lines} lines and {cap.bytes} bytes"
        raise OverCapError(change.path, measures, [line for line in old.split("\n") if line])
    numbers, added = _added(old, text)
    unsafe = text_safety.find(added)
    if unsafe is not None:
        raise BadTextError(unsafe.rule, change.path, numbers[unsafe.line - 1] + 1, unsafe.found)
    if not keep_secrets:
        _check_secrets(change.path, old, text, {number + 1 for number in numbers})


def check_comes_back(change: FileChange, cap: Cap) -> None:
    """Check what a taking back would write; what was no text comes back as it was. Errors as `check_text`."""
    if change.after is None or changes.shown(change.after).encode() != change.after:
        return
    check_text(replace(change, after=caps.normal(change.new).encode()), cap)


def redrawn(proposal: Proposal, present: Mapping[str, bytes | None]) -> Proposal:
    """Bring an open proposal up to the present files (contract 6.6).

    Returns:
        The same proposal if its files are as it saw them; with a new card if each edit of a changed file can be made
        anew; else the proposal as `stale`.
    """
    names = {one.file: one for one in proposal.files}
    moved = {file for file, one in names.items() if present.get(file) != one.before}
    if not moved:
        return proposal
    if any(edit.whole and edit.file in moved for edit in proposal.edits):
        return replace(proposal, state="stale")
    try:
        files = draw(proposal.scope, proposal.edits, present, proposal.day)
    except ShortMemoryError:
        return replace(proposal, state="stale")
    return replace(proposal, files=files)


def ended(proposal: Proposal) -> ShortMemoryError:
    """Return the refusal of a proposal in a final state."""
    kinds = {"confirmed": ConfirmedError, "declined": DeclinedError, "expired": ExpiredError}
    return StaleError(redrawn=False) if proposal.state == "stale" else kinds[proposal.state]()


def _check_edits(edits: Sequence[Edit]) -> None:
    if not 0 < len(edits) <= caps.PROPOSAL_EDITS:
        raise BadArgumentsError(f"`edits` must hold 1 to {caps.PROPOSAL_EDITS} edits; it holds {len(edits)}.")
    check_files(edit.file for edit in edits)
    new = sum(len(text_safety.encoded((edit.text or "") + (edit.new or ""), edit.file)) for edit in edits)
    if new > caps.PROPOSAL_BYTES:
        raise OverCapError("The proposal", f"{new} bytes of new text; at most {caps.PROPOSAL_BYTES}", ())


def _check_secrets(path: str, old: str, text: str, added: set[int]) -> None:
    """Refuse a secret on an added line, and one that an added line completes."""
    found = secret_scan.scan(text)
    were, lines = old.split("\n"), text.split("\n")
    kept = {(secret.rule, were[secret.line - 1]) for secret in secret_scan.scan(old)} if found else set()
    for secret in found:
        if secret.line in added or (secret.rule, lines[secret.line - 1]) not in kept:
            raise SecretError(secret.rule, path, secret.line)


def _undated(new: str) -> str:
    return facts.undated(caps.normal(new).removesuffix("\n"))


def _edited(edit: Edit, now: str | None, day: date) -> str | None:
    if edit.whole:
        return None if edit.text is None else caps.normal(edit.text)
    new = caps.normal(edit.new or "")
    if edit.appends:
        return _appended(edit.file, now or "", new, day)
    old, text = caps.normal(edit.old or ""), now or ""
    # A pattern takes long to build: one that is longer than the text stands nowhere in it.
    found = len(re.findall(f"(?={re.escape(old)})", text)) if 0 < len(old) <= len(text) else 0
    if found != 1:
        raise NoMatchError(edit.file, found, text)
    return text.replace(old, new)


def _appended(file: str, now: str, new: str, day: date) -> str:
    line = new.removesuffix("\n")
    if "\n" in line or not line.strip():
        raise BadArgumentsError("An edit with an empty `old` appends one line: put exactly one line into `new`.")
    if file == INDEX:
        return now if line in now.split("\n") else f"{index.with_end(now)}{line}\n"
    if any(facts.undated(there) == facts.undated(line) for there in now.split("\n")):
        return now
    return f"{index.with_end(now)}{facts.dated(line, day)}\n"


def _complete_index(texts: dict[str, str | None], present: Mapping[str, bytes | None]) -> None:
    """Add the entry of a topic that has none, and drop the entries of a deleted one (contract 6.10)."""
    before = text = texts[INDEX] if INDEX in texts else _normal(present.get(INDEX))
    for file, content in list(texts.items()):
        if file == INDEX:
            continue
        if content is None:
            text = index.without_file(text or "", file)
        elif not index.has_file(text or "", file):
            text = index.with_topic(text or "", file, facts.gist(content))
    if (text or "") != (before or ""):
        texts[INDEX] = text


def _normal(raw: bytes | None) -> str | None:
    return None if raw is None else caps.normal(changes.shown(raw))


def _added(old: str, new: str) -> tuple[list[int], str]:
    """Return the numbers of the lines that `new` adds to `old`, and these lines."""
    lines = new.split("\n")
    blocks = difflib.SequenceMatcher(None, old.split("\n"), lines, autojunk=False).get_opcodes()
    numbers = [number for tag, _, _, start, end in blocks if tag != "equal" for number in range(start, end)]
    return numbers, "\n".join(lines[number] for number in numbers)
