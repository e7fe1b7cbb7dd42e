"""The verbs of adapter protocol 1, one method each, over the parts that a chat uses.

A method asks the engine and translates; it decides nothing that a host would not decide. `release/ADAPTER.md` says what
each verb takes and gives.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from short_memory import tools
from short_memory.access import AgentGrant
from short_memory.bundle import shared_places
from short_memory.errors import ShortMemoryError
from short_memory.scopes import Channel, Conversation
from short_memory_host.conformance import answers, hands, program
from short_memory_host.conformance.request import Request, RequestError
from short_memory_host.conformance.world import World, patched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from short_memory_host.conformance.answers import Answer

CONTRACT = 2
HOST = "short-memory"
FEATURES = ("agents", "channels", "links", "processes", "skills")
# Where the clock stands before the first reset.
BEFORE_RESET = datetime(2000, 1, 1, tzinfo=UTC)
# What moves the clock or the files on: an edit from outside, or an end, must have been noticed by then.
MOVES_ON = ("clock", "file.put", "file.link")


class Adapter:
    """The host behind the protocol: it takes a request and gives an answer."""

    def __init__(self) -> None:
        self._world = World(BEFORE_RESET)
        self._verbs: dict[object, Callable[[Request], Answer]] = {
            "hello": self.hello,
            "reset": self.reset,
            "clock": self.clock,
            "install": self.install,
            "addon": self.addon,
            "addon.kill": self.addon_kill,
            "agent": self.agent,
            "chat": self.chat,
            "file.put": self.file_put,
            "file.get": self.file_get,
            "file.link": self.file_link,
            "turn": self.turn,
            "tool": self.tool,
            "skill.read": self.skill_read,
            "decide": self.decide,
            "proposals": self.proposals,
            "changes": self.changes,
        }

    def __call__(self, fields: Mapping[str, Any]) -> Answer:
        """Answer one request."""
        do = fields.get("do")
        verb = self._verbs.get(do) if isinstance(do, str) else None
        if verb is None:
            return {"unsupported": True}
        try:
            if do in MOVES_ON:
                self._world.notice()
            return {"ok": True, **verb(Request(fields))}
        except (RequestError, ShortMemoryError) as error:
            return answers.refused(error)
        except OSError as error:
            return answers.refused(RequestError("system", f"The system refused: {error.strerror}."))

    def close(self) -> None:
        """Throw the data folder away."""
        self._world.close()

    def hello(self, _request: Request) -> Answer:
        """Say what this host is."""
        return {"contract": CONTRACT, "features": list(FEATURES), "host": HOST}

    def reset(self, request: Request) -> Answer:
        """Begin anew with an empty host."""
        fresh = World(request.moment("now"))
        self._world.close()
        self._world = fresh
        return {}

    def clock(self, request: Request) -> Answer:
        """Set the clock."""
        self._world.now = request.moment("now")
        return {}

    # Add-ons and agents

    def install(self, request: Request) -> Answer:
        """Check an add-on as the host does, and enable it if the owner agrees or agreed to the same before."""
        owner, manifest = request.person("owner"), request.text_or_none("manifest")
        addon = self._world.unpack(patched(request.pairs("patch")) if manifest is None else manifest)
        new = addon.manifest
        installed = [one.manifest for (whose, _), one in self._world.addons.items() if whose == owner]
        for problem in shared_places(new, installed):
            raise RequestError(problem.code, str(problem))
        warnings = [warning.code for warning in addon.warnings]
        on = request.flag("agree", default=True)
        if not on:
            before = self._world.granting.of(owner).addon(new.id)
            if before is None or before.digest != new.capabilities_digest:
                return {"state": "waiting", "warnings": warnings}
            # A version that asks for the same comes by itself, so it leaves an add-on off that the owner switched off.
            on = before.on
        self._world.enable(owner, addon, on=on)
        return {"state": "on" if on else "off", "warnings": warnings}

    def addon(self, request: Request) -> Answer:
        """Switch an add-on on or off, or remove it."""
        owner, name = request.person("owner"), request.text("id")
        state = request.one_of("state", "on", "off", "removed")
        self._world.addon(owner, name)
        if state != "removed":
            self._world.granting.switch(owner, name, on=state == "on")
            return {}
        self._world.granting.remove(owner, name)
        del self._world.addons[owner, name]
        return {}

    def addon_kill(self, request: Request) -> Answer:
        """Let the add-on's program die while it runs."""
        program.kill(self._world.addon(request.person("owner"), request.text("id")))
        return {}

    def agent(self, request: Request) -> Answer:
        """Set what a saved agent may do; what is not named is not allowed."""
        owner, name = request.person("owner"), request.text("id")
        given = request.mapping("grants")
        before = self._world.granting.of(owner).agents
        for addon in sorted({*given, *(addon for agent, addon in before if agent == name)}):
            rights = Request(Request(given).mapping(addon))
            grant = AgentGrant(rights.flag("read", default=False), rights.flag("propose", default=False))
            self._world.granting.allow_agent(owner, name, addon, grant)
        return {}

    def chat(self, request: Request) -> Answer:
        """Make a chat, or change one."""
        owner, name = request.person("owner"), request.text("id")
        channel, shared = self._channel(request.mapping("channel")), request.flag("shared", default=False)
        chat = Conversation(name, owner, request.text_or_none("agent"), channel, shared=shared)
        opened = request.flag("user_notes", default=False)
        if channel is not None:
            self._world.granting.open_room(owner, channel, opened=opened)
        self._world.chats[name] = chat
        return {}

    # The person's hands on the files

    def file_put(self, request: Request) -> Answer:
        """Write a file as an editor would."""
        hands.put(self._files(request), request.text("path"), request.text_or_none("text"))
        return {}

    def file_get(self, request: Request) -> Answer:
        """Read a file."""
        return {"text": hands.get(self._files(request), request.text("path"))}

    def file_link(self, request: Request) -> Answer:
        """Put a link in place."""
        target, text = request.text("target"), request.text_or_none("text")
        hands.link(self._files(request), request.text("path"), target, text)
        return {}

    # What a model gets and does

    def turn(self, request: Request) -> Answer:
        """Begin a turn. What the person says is text to the host and decides nothing, so it is not even passed on."""
        chat = self._world.chat(request.text("chat"))
        turn = self._world.memory.turn(chat, can_call=request.flag("tools", default=True))
        news = self._world.memory.news(chat)
        self._world.memory.told(news)
        return answers.turn(turn, news=news, skills=self._world.skills(chat))

    def tool(self, request: Request) -> Answer:
        """Call a tool as the model of a chat."""
        chat, arguments = self._world.chat(request.text("chat")), json.dumps(request.mapping("args"))
        result = tools.call(self._world.memory, chat, request.text("name"), arguments, zone=UTC)
        if result.error is not None:
            raise result.error
        return answers.tool(result)

    def skill_read(self, request: Request) -> Answer:
        """Read the body of a skill as the model of a chat."""
        name, skills = request.text("name"), self._world.skills(self._world.chat(request.text("chat")))
        for skill in skills:
            if skill.name == name:
                return {"text": skill.body}
        raise RequestError(
            "no-skill", f"No such skill here. Skills: {', '.join(one.name for one in skills) or 'none'}."
        )

    # What the owner decides

    def decide(self, request: Request) -> Answer:
        """Say yes or no to a card."""
        who, name, digest = request.person("who"), request.name("proposal"), request.text_or_none("digest")
        if request.flag("yes", default=True):
            return {"change": self._world.memory.confirm(who, name, digest).id}
        self._world.memory.decline(who, name)
        return {"change": None}

    def proposals(self, request: Request) -> Answer:
        """List what waits for the owner."""
        found = self._world.memory.open_proposals(request.person("owner"))
        return {"open": [one.id for one in found], "cards": list(map(answers.card, found))}

    def changes(self, request: Request) -> Answer:
        """List what confirmations and takings back wrote."""
        found = self._world.notebook.history(request.person("owner"), limit=10_000)
        return {"changes": [answers.change(one) for one in reversed(found) if one.cause in ("proposal", "revert")]}

    def _channel(self, given: Mapping[str, Any]) -> Channel | None:
        if not given:
            return None
        named = Request(given)
        return self._world.channel(named.text("binding"), named.text("conversation"))

    def _files(self, request: Request) -> Path:
        return self._world.files(request.person("owner"))
