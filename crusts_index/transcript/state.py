"""The small state that a fold carries from one stretch of a transcript to the next; kept with the high-water mark.

Types are told by themselves and not as texts, as in `shapes`.
"""

from crusts_index.transcript.lean import msgspec


class ThreadState(msgspec.Struct, array_like=True):
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
    follows_command: bool = False
    """Whether its last message is a slash command of the user: what Claude Code adds next is its body (D8)."""
    model: str | None = None
    """That of the response begun last: what follows is estimated by it (D9)."""
    latest: int = 0
    """Offset of that response."""
    waiting: int | None = None
    """Offset of its first record whose blocks wait for a model."""
    root: int = 0
    """Its last branch that follows nothing."""


class About(msgspec.Struct, array_like=True):
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


class State(msgspec.Struct, array_like=True):
    """All of it."""

    time_ms: int | None = None
    sidechain: int | None = None
    threads: list[ThreadState] = msgspec.field(default_factory=list)
    agents: dict[str, int] = msgspec.field(default_factory=dict)
    sessions: dict[str, int] = msgspec.field(default_factory=dict)
    about: About = msgspec.field(default_factory=About)
    firsts: dict[str, int] = msgspec.field(default_factory=dict)
    """Time of the first prompt and the first command so far."""

    def dump(self) -> str:
        """As JSON."""
        return _encode(self).decode()

    @classmethod
    def load(cls, text: str) -> "State":
        """From what `dump` wrote."""
        return _decode(text)

    @property
    def record_session(self) -> str | None:
        """The most frequent `sessionId`; ties go to the smaller one (D3)."""
        return min(self.sessions, key=lambda name: (-self.sessions[name], name), default=None)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(State).decode
