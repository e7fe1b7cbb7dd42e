"""The verbs of the adapter, each one function of the reference host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from release.reference_host import addons, block, deciding, gates, proposing, reading, taking_back
from release.reference_host.world import Chat, RefusalError, World, moment

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = dict[str, Any]
_TOOLS: dict[str, Callable[..., Answer]] = {
    "context_read": reading.read,
    "propose_change": proposing.propose,
    "revert_change": taking_back.take_back,
}


class ReferenceHost:
    """The host behind the adapter: it takes a request and gives an answer. `bug` names a fault of `faults.py`."""

    def __init__(self, bug: str | None = None) -> None:
        self._bug = bug
        self._world = World(bug)
        self._verbs: dict[str, Callable[..., Answer]] = {
            "hello": self._hello,
            "reset": self._reset,
            "clock": self._clock,
            "install": self._install,
            "addon": self._addon,
            "addon.kill": self._kill,
            "agent": self._agent,
            "chat": self._chat,
            "file.put": self._put,
            "file.get": self._get,
            "file.link": self._link,
            "turn": self._turn,
            "tool": self._tool,
            "skill.read": self._skill,
            "decide": self._decide,
            "proposals": self._proposals,
            "changes": self._changes,
        }

    def __call__(self, request: dict[str, Any]) -> Answer:
        """Answer one request of the adapter protocol."""
        fields = dict(request)
        verb = self._verbs.get(fields.pop("do"))
        if verb is None:
            return {"unsupported": True}
        proposing.sweep(self._world)
        try:
            answer = verb(**fields)
        except RefusalError as refusal:
            return {"ok": False, "error": refusal.error}
        proposing.sweep(self._world)
        return {"ok": True, **answer}

    def _hello(self) -> Answer:
        features = ["agents", "channels", "links", "processes", "skills"]
        return {"contract": 2, "features": features, "host": "reference"}

    def _reset(self, now: str) -> Answer:
        self._world = World(self._bug, now=moment(now))
        return {}

    def _clock(self, now: str) -> Answer:
        self._world.now = moment(now)
        return {}

    def _install(self, owner: str, **fields: Any) -> Answer:  # noqa: ANN401 - fields of the protocol
        return addons.install(self._world, owner, **fields)

    def _addon(self, owner: str, id: str, state: str) -> Answer:  # noqa: A002 - the protocol's field
        return addons.switch(self._world, owner, id, state)

    def _kill(self, owner: str, id: str) -> Answer:  # noqa: A002 - the protocol's field
        self._world.addons[owner, id].alive = False
        return {}

    def _agent(self, owner: str, id: str, grants: dict[str, Any] | None = None) -> Answer:  # noqa: A002 - the protocol's field
        before = self._world.agents.get((owner, id))
        self._world.agents[owner, id] = {addon: dict(rights) for addon, rights in (grants or {}).items()}
        if before and self._world.broken("withdrawn-all"):
            for proposal in self._world.proposals.values():
                proposal.state = "expired"
        return {}

    def _chat(
        self,
        owner: str,
        id: str,  # noqa: A002 - the protocol's field
        agent: str | None = None,
        channel: dict[str, str] | None = None,
        *,
        shared: bool = False,
        user_notes: bool = False,
    ) -> Answer:
        self._world.chats[id] = Chat(id, owner, agent, channel, shared=shared, user_notes=user_notes)
        return {}

    def _put(self, owner: str, path: str, text: str | None) -> Answer:
        self._world.put(owner, path, text)
        return {}

    def _get(self, owner: str, path: str) -> Answer:
        return {"text": self._world.files.get((owner, path))}

    def _link(self, owner: str, path: str, target: str, text: str | None = None) -> Answer:
        if text is not None:
            self._world.files[owner, target] = text
        self._world.files.pop((owner, path), None)
        self._world.links[owner, path] = target
        return {}

    def _turn(self, chat: str, *, tools: bool = True, says: str = "") -> Answer:
        world, whose = self._world, self._world.chats[chat]
        if says and world.broken("chat-confirms"):
            for proposal in [each for each in world.proposals.values() if each.state == "open"]:
                deciding.decide(world, proposal=proposal.id, who=proposal.owner)
        return {
            "context": block.block(world, whose, tools=tools),
            "tools": self._offered(whose) if tools or world.broken("read-without-tools") else [],
            "sections": [
                {"scope": each.scope.kind, "bytes": each.bytes, "lines": len(each.kept), "cut": each.cut}
                for each in block.sections(world, whose)
            ],
            "paths": {scope.kind: scope.index for scope in gates.scopes(world, whose)},
            "news": proposing.news(world, whose),
            "skills": reading.described_skills(world, whose),
        }

    def _offered(self, chat: Chat) -> list[str]:
        world = self._world
        may_read = bool(block.sections(world, chat)) or world.broken("read-always-there")
        may_propose = any(scope.may_propose for scope in gates.scopes(world, chat))
        offered = ["context_read"] if may_read else []
        offered += ["propose_change"] if may_propose else []
        return offered + (["revert_change"] if may_propose or world.broken("revert-always-there") else [])

    def _tool(self, chat: str, name: str, args: dict[str, Any]) -> Answer:
        whose = self._world.chats[chat]
        offered = self._offered(whose)
        if name not in offered:
            listed = ", ".join(offered) or "none"
            raise RefusalError("no-tool", f"That tool is not offered here. Tools for notes: {listed}.")
        try:
            return _TOOLS[name](self._world, whose, **args)
        except TypeError as error:
            raise RefusalError("bad-arguments", "The arguments do not fit the tool.") from error

    def _skill(self, chat: str, name: str) -> Answer:
        return reading.skill_body(self._world, self._world.chats[chat], name)

    def _decide(self, proposal: str, who: str, *, yes: bool = True, digest: str | None = None) -> Answer:
        return deciding.decide(self._world, proposal=proposal, who=who, yes=yes, digest=digest)

    def _proposals(self, owner: str) -> Answer:
        return deciding.cards(self._world, owner)

    def _changes(self, owner: str) -> Answer:
        mine = [each for each in self._world.changes if each.owner == owner]
        return {"changes": [{"id": each.id, "files": [edit.path for edit in each.edits]} for each in mine]}
