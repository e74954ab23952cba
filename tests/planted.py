"""Made-up sessions, each with one cause for a cache that did not hold planted in it (D21)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tests.builders import OMIT, ClaudeFolder, Json, Transcript, dumps, hash_of, tool, usage

FIXED = 18_000
"""Tokens of system prompt and tools."""
PLANTED = "planted"
"""What the call says that is to be found."""
READ, GREP = tool("Read", path="string"), tool("Grep", pattern="string")


@dataclass
class Thread:
    """A thread whose calls read from the cache what stood in the context before, until one does not."""

    t: Transcript
    hour: bool = False
    logs_requests: bool = False
    context: int = 0
    asked: str | None = None
    sent: int = 0
    says: str = "done"
    root: str | None = None
    """The uuid of its first prompt."""

    def call(self, *, read: int | None = None, grow: int = 1_500, **more: Any) -> None:
        """An answer; `read` = of the context before it so much only from the cache."""
        before = self.context
        carried = before if read is None else read
        context = (before or FIXED + 4_000) + grow
        write = context - carried - 3
        counted = usage(3, write=write, read=carried, output=200, write_1h=write if self.hour else 0)
        self.t.response(self.says, usage=counted, **more)
        self.context = context

    def prompt(self, text: str = "go on", **more: Any) -> None:
        self.t.prompt(text, **more)

    def turns(self, count: int = 4) -> None:
        """Prompts and answers that the cache holds for."""
        for _ in range(count):
            self.prompt()
            self.ask()
            self.call(**self.ref())

    def ask(self, *, drop: int = 0, **more: Any) -> None:
        """Log the request of the next call, where this thread's version does."""
        if self.logs_requests:
            base = self.asked or OMIT
            kept = max(0, self.sent - drop) if self.asked else 0
            self.asked, self.sent = self.t.request(base=base, keep=kept, tail=2, **more), kept + 2

    def ref(self) -> Json:
        """What the answer names as its request."""
        return {"requestRef": self.asked} if self.asked else {}

    def wait(self, **time: float) -> None:
        self.t.clock.now += timedelta(**time)


Plant = Callable[[Thread], None]


def short_pause(thread: Thread) -> None:
    """Six minutes, longer than a cache of five lives."""
    thread.wait(minutes=6)
    thread.prompt("back")
    thread.call(read=FIXED)


def long_pause(thread: Thread) -> None:
    """An hour and a half."""
    thread.wait(minutes=90)
    thread.prompt("back")
    thread.call(read=0)


def pause_of_an_hours_cache(thread: Thread) -> None:
    """Longer than the hour that it was written for."""
    thread.wait(minutes=75)
    thread.prompt("back")
    thread.call(read=0)


def resumed_next_day(thread: Thread) -> None:
    """The session is opened again a day later."""
    thread.wait(hours=23)
    thread.t.attachment("hook_success", hookName="SessionStart:resume", hookEvent="SessionStart", content="")
    thread.prompt("good morning")
    thread.call(read=0)


def switched_model(thread: Thread) -> None:
    """`/model`."""
    thread.t.model = "claude-haiku-4-5-20251001"
    thread.prompt("quickly")
    thread.call(read=0)


def connected_server(thread: Thread) -> None:
    """An MCP server comes up midway: its tools stand before everything else."""
    names = ["mcp__tracker__search", "mcp__tracker__create"]
    thread.t.attachment("deferred_tools_delta", addedNames=names, addedLines=names, removedNames=[])
    thread.prompt("look into the tracker")
    thread.call(read=0)


def listed_skills(thread: Thread) -> None:
    """Another list of skills."""
    thread.t.attachment("skill_listing", content="- deploy: puts it live", skillCount=1)
    thread.prompt("deploy it")
    thread.call(read=0)


def edited_instructions(thread: Thread) -> None:
    """CLAUDE.md is edited, and sent as it is now."""
    thread.t.edit("/home/ada/site/CLAUDE.md", usage=usage(3, write=1_500, read=thread.context, output=50))
    thread.context += 1_503
    thread.prompt("go by it")
    thread.call(read=FIXED)


def told_instructions(thread: Thread) -> None:
    """CLAUDE.md is changed outside, and told again with another text."""
    thread.t.instructions({"/home/ada/site/CLAUDE.md": "Be brief, and kind."})
    thread.prompt("go by it")
    thread.call(read=FIXED)


def rewound(thread: Thread) -> None:
    """The user goes back to an earlier message and says something else."""
    thread.prompt("no, the other way", parentUuid=thread.root)
    thread.context = FIXED + 8_000
    thread.call(read=FIXED + 1_000)


def cleared_results(thread: Thread) -> None:
    """Old tool results are taken out."""
    meta = {"trigger": "auto", "preTokens": 30_000, "tokensSaved": 900, "compactedToolIds": ["toolu_x"]}
    thread.t.system("microcompact_boundary", content="Context microcompacted", microcompactMetadata=meta)
    thread.prompt()
    thread.call(read=FIXED)


def cut_unmarked(thread: Thread) -> None:
    """The context is smaller than before, and nothing says why."""
    thread.prompt()
    thread.context -= 5_000
    thread.call(read=FIXED, grow=500)


def updated(thread: Thread) -> None:
    """Claude Code is another version from one call to the next."""
    thread.t.version = "2.1.333"
    thread.prompt()
    thread.call(read=0)


def changed_tools(thread: Thread) -> None:
    """By the requests: one tool more."""
    thread.t.request_shape(["You help."], [READ, GREP], shape=hash_of("other tools"))
    thread.prompt()
    thread.ask(shape=hash_of("other tools"))
    thread.call(read=0, **thread.ref())


def changed_system(thread: Thread) -> None:
    """By the requests: another system prompt."""
    thread.t.request_shape(["You help a lot."], [READ], shape=hash_of("other system"))
    thread.prompt()
    thread.ask(shape=hash_of("other system"))
    thread.call(read=0, **thread.ref())


def changed_effort(thread: Thread) -> None:
    """By the requests: another effort."""
    thread.prompt("think hard")
    thread.ask(effort="high")
    thread.call(read=FIXED, **thread.ref())


def changed_cache_control(thread: Thread) -> None:
    """By the requests: caching asked for in another way."""
    thread.prompt()
    thread.ask(ttl="1h")
    thread.call(read=0, **thread.ref())


def changed_messages(thread: Thread) -> None:
    """By the requests: the third message from the end is another one."""
    thread.prompt()
    thread.ask(drop=3)
    thread.call(read=FIXED, **thread.ref())


def logged(thread: Thread) -> None:
    """The API tells the reason."""
    thread.prompt()
    told = {"cache_miss_reason": {"type": "system_changed", "cache_missed_input_tokens": 9_000}}
    counted = usage(3, write=thread.context - FIXED, read=FIXED, output=200)
    thread.t.response(thread.says, usage=counted)
    record = json.loads(thread.t.pieces.pop())
    record["message"]["diagnostics"] = told
    thread.t.pieces.append(dumps(record) + b"\n")
    thread.context += 3


def nothing_read(thread: Thread) -> None:
    """Nothing at all tells why, and nothing was read."""
    thread.prompt()
    thread.call(read=0)


def fixed_read(thread: Thread) -> None:
    """Nothing tells why, and the fixed context was read."""
    thread.prompt()
    thread.call(read=FIXED)


def asked_again(thread: Thread) -> None:
    """A subagent that was done gets another prompt and sends all that it knows again."""
    thread.wait(minutes=2)
    thread.prompt("one more thing")
    thread.call(read=0)


def opened_again(thread: Thread) -> None:
    """The session is resumed at once, by another process."""
    thread.t.attachment("hook_success", hookName="SessionStart:resume", hookEvent="SessionStart", content="")
    thread.prompt("go on")
    thread.call(read=0)


def never_cached(thread: Thread) -> None:
    """What the call before sent without caching it is sent again."""
    thread.t.response("big", usage=usage(4_000, read=thread.context, output=50))
    before, thread.context = thread.context, thread.context + 4_000
    thread.prompt("go on")
    thread.call(read=before)


def none(thread: Thread) -> None:
    """Nothing breaks."""


def waits_within_the_hour(thread: Thread) -> None:
    """Twenty minutes, which a cache written for an hour outlives."""
    thread.wait(minutes=20)
    thread.prompt("back")
    thread.call()


def compacted(thread: Thread) -> None:
    """A compaction: what the first call behind it sends is no break."""
    thread.t.boundary()
    thread.t.summary()
    thread.context = 0
    thread.call()


PLANTS: dict[str, tuple[Plant, str | None, str, Json]] = {
    "a pause of six minutes": (short_pause, "pause", "inferred", {}),
    "a pause over an hour": (long_pause, "long_pause", "inferred", {}),
    "a pause longer than an hour's cache": (pause_of_an_hours_cache, "long_pause", "inferred", {"hour": True}),
    "a resume after a day": (resumed_next_day, "long_pause", "inferred", {}),
    "a model switch": (switched_model, "model_switched", "inferred", {}),
    "an MCP server connected midway": (connected_server, "tools_changed", "inferred", {}),
    "another list of skills": (listed_skills, "tools_changed", "inferred", {}),
    "an edit of CLAUDE.md": (edited_instructions, "instructions_changed", "inferred", {}),
    "CLAUDE.md changed outside": (told_instructions, "instructions_changed", "inferred", {"tells": True}),
    "a rewind": (rewound, "rewind", "inferred", {}),
    "a microcompaction": (cleared_results, "context_edited", "inferred", {}),
    "a cut that nothing marks": (cut_unmarked, "context_edited", "inferred", {}),
    "an update": (updated, "updated", "inferred", {}),
    "tools changed in the requests": (changed_tools, "tools_changed", "exact", {"logs_requests": True}),
    "the system prompt changed in the requests": (changed_system, "system_changed", "exact", {"logs_requests": True}),
    "another effort": (changed_effort, "effort_changed", "exact", {"logs_requests": True}),
    "another cache control": (changed_cache_control, "cache_control_changed", "exact", {"logs_requests": True}),
    "a message changed": (changed_messages, "messages_changed", "exact", {"logs_requests": True}),
    "logged by the API": (logged, "system_changed", "logged", {}),
    "nothing read": (nothing_read, "prefix_changed", "inferred", {}),
    "the fixed context read": (fixed_read, "messages_changed", "inferred", {}),
    "a resumed subagent": (asked_again, "resumed_agent", "inferred", {"agent": True}),
    "a session opened again": (opened_again, "opened_again", "inferred", {}),
    "what was never cached": (never_cached, "not_written", "inferred", {}),
    "no break at all": (none, None, "", {}),
    "twenty minutes within an hour's cache": (waits_within_the_hour, None, "", {"hour": True}),
    "a compaction": (compacted, None, "", {}),
}
"""By what is planted: how, the reason that is to be named (None = no break), how it is known, what kind of session."""


def plant(folder: ClaudeFolder, name: str) -> tuple[Thread, str | None, str]:
    """Write the session with that cause in it; gives back its thread, and what is to be told of it."""
    how, reason, certainty, options = PLANTS[name]
    main = folder.main(model="claude-opus-4-6")
    thread = Thread(main, hour=options.get("hour", False), logs_requests=options.get("logs_requests", False))
    if options.get("agent"):
        outer = Thread(main)
        outer.turns()
        thread.t = folder.subagent(model="claude-opus-4-6", clock=main.clock, meta={"agentType": "Explore"})
    if options.get("tells"):
        thread.t.instructions({"/home/ada/site/CLAUDE.md": "Be brief."})
    if thread.logs_requests:
        thread.t.request_shape(["You help."], [READ])
    thread.root = thread.t.prompt("begin")
    thread.turns()
    thread.says = PLANTED
    how(thread)
    thread.says = "done"
    thread.turns(2)
    for transcript in {id(one): one for one in (main, thread.t)}.values():
        transcript.write()
    return thread, reason, certainty
