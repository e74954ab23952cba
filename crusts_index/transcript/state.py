"""The small state that a fold carries from one stretch of a transcript to the next; kept with the high-water mark."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field


@dataclass(slots=True)
class ThreadState:
    """How far one thread has come."""

    kind: str
    messages: int = 0
    calls: int = 0
    branches: int = 0
    epochs: int = 0
    branch: int = 0
    epoch: int = 0
    is_chained: bool = False
    """Whether its records name parents: only then a prompt without one is a new beginning."""


@dataclass(slots=True)
class About:
    """What a transcript says of itself, first or last."""

    records: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    last_message_ms: int | None = None
    first_cwd: str | None = None
    last_cwd: str | None = None
    version: str | None = None
    last_version: str | None = None
    git_branch: str | None = None
    entrypoint: str | None = None
    agent_id: str | None = None


@dataclass(slots=True)
class State:
    """All of it."""

    time_ms: int | None = None
    sidechain: int | None = None
    threads: list[ThreadState] = field(default_factory=list)
    agents: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, int] = field(default_factory=dict)
    about: About = field(default_factory=About)

    def dump(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def load(cls, text: str) -> State:
        """From what `dump` wrote."""
        value = json.loads(text)
        value["threads"] = [ThreadState(**thread) for thread in value["threads"]]
        value["about"] = About(**value["about"])
        return cls(**value)

    @property
    def record_session(self) -> str | None:
        """The most frequent `sessionId`; ties go to the smaller one (D3)."""
        return min(self.sessions, key=lambda name: (-self.sessions[name], name), default=None)
