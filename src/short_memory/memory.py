"""Memory, the one door for chats: what a turn reads, and the life of a proposal, in the order in which it happens.

Nothing here writes a note but `confirm`, which only an owner's session reaches, and `revert_own`, which takes back the
last confirmed proposal of the same chat. Every gate is asked again at use.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from short_memory import access, caps, proposals, secret_scan, text_safety
from short_memory.changes import ChangeSet, plan_revert, shown
from short_memory.errors import (
    AlreadyDeclinedError,
    BadArgumentsError,
    ChangedError,
    ConflictError,
    LimitError,
    NoChangeError,
    NoProposalError,
    NoScopeError,
    StaleError,
    UnreadableError,
)
from short_memory.proposals import Edit, Proposal
from short_memory.reading import Reader, Turn
from short_memory.scopes import INDEX, OWNER, Actor, Conversation, Scope
from short_memory.writing import absorb, moment, new_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime, tzinfo

    from short_memory.access import Grants
    from short_memory.store.note_store import NoteStore
    from short_memory.writing import Clock


class Memory:
    """The notes of every owner in one store, as chats use them."""

    def __init__(self, store: NoteStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._reader = Reader(store)

    # What a turn reads

    def turn(self, conversation: Conversation, *, can_call: bool) -> Turn:
        """Return the block, the tools and the topics of a turn. Reads files and no database."""
        return self._reader.turn(conversation, can_call=can_call)

    def read(self, conversation: Conversation, names: Sequence[str]) -> str:
        """Return the text of topics of this turn. Errors as `Reader.read`."""
        return self._reader.read(conversation, names)

    # What a model proposes

    def propose(
        self, conversation: Conversation, kind: str, edits: Sequence[Edit], *, why: str, zone: tzinfo
    ) -> Proposal:
        """Keep a proposal, after everything about it was checked. No note is touched.

        Args:
            conversation: The chat that asks.
            kind: The scope to write to: user, agent or channel.
            edits: What to change.
            why: The model's reason, one line, at most `caps.WHY_CHARACTERS` characters.
            zone: The person's time zone, for the day of an appended fact.

        Returns:
            The proposal; the one that is open already if the same was asked before.

        Raises:
            NoScopeError, AlreadyDeclinedError, LimitError, and what `proposals.draw` raises.
        """
        _check_why(why)
        now, owner = moment(self._clock), conversation.owner
        with self._store.locked(owner):
            scope = self._scope(conversation, kind)
            present = self._present(owner, scope, edits, now)
            day = now.astimezone(zone).date()
            files = proposals.draw(scope, edits, present, day)
            same = self._same(owner, scope, edits, now)
            if same is not None:
                return same
            self._check_limits(conversation, now)
            made = Proposal(
                id=new_id(),
                conversation=conversation,
                scope=scope,
                edits=tuple(edits),
                files=files,
                why=why,
                day=day,
                made=now,
                end=now + caps.PROPOSAL_LIFE,
            )
            self._store.journal.propose(made)
        return made

    def revert_own(self, conversation: Conversation, change: str | None) -> ChangeSet:
        """Take back the last confirmed proposal of this chat, for its model (contract 7).

        Raises:
            NoChangeError: There is none, or it is another one, or it was taken back already.
            ChangedError: Its files are not as it left them.
            OverCapError, BadTextError, SecretError: What stood before may not come back.
        """
        owner = conversation.owner
        with self._store.locked(owner):
            last = self._store.journal.last_of(conversation)
            if last is None or change not in (None, last.id) or self._store.journal.taken_back([last.id]):
                raise NoChangeError
            scope = self._scope_still_allowed(last, conversation)
            absorb(self._store, owner, [one.path for one in last.files], moment(self._clock))
            present = {one.path: self._store.read(owner, one.path) for one in last.files}
            plan = plan_revert(last, present)
            if not plan.exact:
                raise ChangedError({one.path: (shown(present[one.path]), one.old) for one in last.files})
            for one in plan.files:
                proposals.check_comes_back(one, scope.cap_of(one.file))
            back = ChangeSet(
                id=new_id(),
                owner=owner,
                made=moment(self._clock),
                actor=Actor("model", conversation.agent or ""),
                cause="revert",
                files=plan.files,
                conversation=conversation.id,
                reverts=last.id,
            )
            self._store.apply(back)
        return back

    # What an owner decides

    def confirm(self, owner: str, name: str, digest: str | None) -> ChangeSet:
        """Write what the card shows, all or nothing. Only the session of the owner may reach this.

        Args:
            owner: The person whose session says yes.
            name: The proposal.
            digest: The card that they saw; None decides on the card as it stands (the conformance adapter).

        Returns:
            The change set; the first one if it was confirmed before.

        Raises:
            NoProposalError, DeclinedError, ExpiredError, StaleError, StorageError.
        """
        with self._store.locked(owner):
            now = moment(self._clock)
            proposal = self._up_to_date(self._known(owner, name), now)
            if proposal.change is not None:
                return self._change(owner, proposal.change)
            if proposal.state != "open":
                raise proposals.ended(proposal)
            if digest not in (None, proposal.digest):
                raise StaleError(redrawn=True)
            change = ChangeSet(
                id=new_id(),
                owner=owner,
                made=now,
                actor=OWNER,
                cause="proposal",
                files=proposal.files,
                conversation=proposal.conversation.id,
                proposal=proposal.id,
            )
            try:
                self._store.apply(change, decided=replace(proposal, state="confirmed", decided=now, change=change.id))
            except ConflictError:
                again = self._up_to_date(self._known(owner, name), now)
                raise StaleError(redrawn=again.state == "open") from None
        return change

    def decline(self, owner: str, name: str) -> Proposal:
        """Say no. Declining twice is one no; errors as `confirm`."""
        with self._store.locked(owner):
            now = moment(self._clock)
            proposal = self._up_to_date(self._known(owner, name), now)
            if proposal.state == "declined":
                return proposal
            if proposal.state != "open":
                raise proposals.ended(proposal)
            declined = replace(proposal, state="declined", decided=now)
            self._store.journal.update([declined])
        return declined

    def propose_again(self, owner: str, name: str) -> Proposal:
        """Open a declined, expired or stale proposal anew, by the owner: a new card with a new digest and 24 hours.

        Where the same is open already, it is that one.

        Raises:
            NoProposalError, ConfirmedError, NoScopeError, and what `proposals.draw` raises.
        """
        now = moment(self._clock)
        with self._store.locked(owner):
            old = self._up_to_date(self._known(owner, name), now)
            if old.state == "open":
                return old
            if old.state == "confirmed":
                raise proposals.ended(old)
            same = self._open_same(owner, old.identity, now)
            if same is not None:
                return same
            if not access.may_propose(old.scope, old.conversation, self._store.grants(owner)):
                raise NoScopeError([])
            files = proposals.draw(old.scope, old.edits, self._present(owner, old.scope, old.edits, now), old.day)
            fresh = replace(old, id=new_id(), files=files, made=now, end=now + caps.PROPOSAL_LIFE)
            again = replace(fresh, state="open", decided=None, told=False)
            self._store.journal.propose(again)
        return again

    # What there is to decide, and what became of it

    def proposal(self, owner: str, name: str) -> Proposal:
        """Return one proposal as its card stands now.

        Raises:
            NoProposalError: There is none of this name for this owner.
        """
        with self._store.locked(owner):
            return self._up_to_date(self._known(owner, name), moment(self._clock))

    def open_proposals(self, owner: str) -> list[Proposal]:
        """Return the owner's open proposals as their cards stand now, oldest first."""
        with self._store.locked(owner):
            return self._open(owner, moment(self._clock))

    def proposals_of(self, conversation: Conversation) -> list[Proposal]:
        """Return every proposal of a chat, oldest first, as their cards stand now."""
        with self._store.locked(conversation.owner):
            now = moment(self._clock)
            return [self._up_to_date(one, now) for one in self._store.journal.proposals_of(conversation)]

    def news(self, conversation: Conversation) -> list[Proposal]:
        """Return the proposals of this chat that ended and that its model was not told of (contract 6.8)."""
        if not self._store.journal.has_untold(conversation):
            return []
        # Outside the lock a confirmation could be seen that is still being written, and fails.
        return [one for one in self.proposals_of(conversation) if one.state != "open" and not one.told]

    def told(self, news: Iterable[Proposal]) -> None:
        """Remember that a model was told."""
        self._store.journal.told([one.id for one in news])

    # How

    def _scope(self, conversation: Conversation, kind: str) -> Scope:
        scopes = access.scopes(conversation, self._store.grants(conversation.owner))
        open_scopes = [scope for scope in scopes if scope.may_propose]
        for scope in open_scopes:
            if scope.kind == kind:
                return scope
        raise NoScopeError([scope.kind for scope in open_scopes])

    def _present(self, owner: str, scope: Scope, edits: Iterable[Edit], now: datetime) -> dict[str, bytes | None]:
        """Read the index and the files that edits name, by file name; what others edited is journaled first."""
        files = dict.fromkeys([*(edit.file for edit in edits), INDEX])
        proposals.check_files(files)
        absorb(self._store, owner, map(scope.path, files), now)
        return {file: self._text_bytes(owner, scope.path(file)) for file in files}

    def _text_bytes(self, owner: str, path: str) -> bytes | None:
        raw = self._store.read(owner, path)
        try:
            return None if raw is None else raw.decode().encode()
        except UnicodeDecodeError:
            raise UnreadableError(path, "it is not UTF-8") from None

    def _known(self, owner: str, name: str) -> Proposal:
        found = self._store.journal.proposal(owner, name)
        if found is None:
            raise NoProposalError
        return found

    def _open(self, owner: str, now: datetime) -> list[Proposal]:
        brought = [self._up_to_date(one, now) for one in self._store.journal.open_proposals(owner)]
        return [one for one in brought if one.state == "open"]

    def _up_to_date(self, proposal: Proposal, now: datetime) -> Proposal:
        """Bring an open proposal up to the clock, the grants and the files, and keep what it became."""
        if proposal.state != "open":
            return proposal
        became = self._became(proposal, now, self._store.grants(proposal.owner))
        if became is not proposal:
            self._store.journal.update([became])
        return became

    def _became(self, proposal: Proposal, now: datetime, grants: Grants) -> Proposal:
        if now >= proposal.end or not access.may_propose(proposal.scope, proposal.conversation, grants):
            return replace(proposal, state="expired", decided=now)
        try:
            present = self._present(proposal.owner, proposal.scope, proposal.edits, now)
        except UnreadableError:
            return replace(proposal, state="stale", decided=now)
        became = proposals.redrawn(proposal, present)
        return replace(became, decided=now) if became.state == "stale" else became

    def _same(self, owner: str, scope: Scope, edits: Sequence[Edit], now: datetime) -> Proposal | None:
        identity = proposals.identity(scope, edits)
        same = self._open_same(owner, identity, now)
        declined = self._store.journal.declined(owner, identity, now - caps.DECLINED_REMEMBERED)
        if same is None and declined is not None:
            raise AlreadyDeclinedError(declined.id)
        return same

    def _open_same(self, owner: str, identity: str, now: datetime) -> Proposal | None:
        return next((one for one in self._open(owner, now) if one.identity == identity), None)

    def _check_limits(self, conversation: Conversation, now: datetime) -> None:
        waiting = self._store.journal.open_proposals(conversation.owner)
        if sum(one.conversation.id == conversation.id for one in waiting) >= caps.OPEN_IN_A_CONVERSATION:
            raise LimitError(caps.OPEN_IN_A_CONVERSATION, "open in this chat")
        if len(waiting) >= caps.OPEN_IN_ALL:
            raise LimitError(caps.OPEN_IN_ALL, "open in all")
        made = self._store.journal.made_since(conversation.owner, conversation.agent, now - timedelta(days=1))
        if made >= caps.A_DAY_AND_AGENT:
            raise LimitError(caps.A_DAY_AND_AGENT, "in the last 24 hours")

    def _scope_still_allowed(self, change: ChangeSet, conversation: Conversation) -> Scope:
        made_by = self._store.journal.proposal(conversation.owner, change.proposal or "")
        grants = self._store.grants(conversation.owner)
        if made_by is None or not access.may_propose(made_by.scope, conversation, grants):
            raise NoChangeError
        return made_by.scope

    def _change(self, owner: str, name: str) -> ChangeSet:
        found = self._store.journal.change(owner, name)
        if found is None:
            raise NoChangeError
        return found


def _check_why(why: str) -> None:
    if len(why) > caps.WHY_CHARACTERS or "\n" in why:
        raise BadArgumentsError(f"`why` must be one line of at most {caps.WHY_CHARACTERS} characters.")
    text_safety.check(why, "`why`")
    secret_scan.check(why, "`why`")
