"""The tools of a session: loaded, used, never used, announced only; and what each MCP server took."""

from __future__ import annotations

from crusts_index.insight.window.catalogue import core_tool_names
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.insight.session.facts import Facts, Surrounding
    from crusts_index.insight.window.fixed import FixedContext


class Server(NamedTuple):
    """One MCP server. `source`: global or project where it is configured, transcript where only seen there.

    `tokens` are of its calls and their results, estimated (D9).
    """

    name: str
    source: str
    calls: int
    tokens: int

    @property
    def unused(self) -> bool:
        """Whether no tool of it was called."""
        return not self.calls


class Toolset(NamedTuple):
    """The tools of a session by name. `loaded` are in the context from the start or by ToolSearch.

    `schema_tokens` are of those it began with, None where the fixed
    context is not divided; `schema_source` says how they are known. `call_tokens` are of all tool uses, `result_tokens`
    of all results (D9).
    """

    loaded: tuple[str, ...]
    used: tuple[str, ...]
    unused: tuple[str, ...]
    loaded_deferred: tuple[str, ...]
    deferred_built_in: tuple[str, ...]
    deferred_mcp: tuple[str, ...]
    schema_tokens: int | None
    schema_source: str
    call_tokens: int
    result_tokens: int
    servers: tuple[Server, ...]

    @property
    def unused_servers(self) -> tuple[str, ...]:
        """Servers of which no tool was called."""
        return tuple(server.name for server in self.servers if server.unused)

    @property
    def mcp_tokens(self) -> int:
        """What the calls and results of all servers took."""
        return sum(server.tokens for server in self.servers)


def toolset_of(facts: Facts, fixed: FixedContext) -> Toolset:
    """The tools of a session, over its whole life and all its branches; those it began with as sent, where logged."""
    deferred = announced(facts)
    loaded_deferred = tuple(dict.fromkeys(load.name for load in facts.loads))
    used = tuple(dict.fromkeys(use.name for use in facts.tool_uses if use.name))
    version = facts.session.first_version
    core = fixed.tool_names or core_tool_names(version, deferred)
    loaded = tuple(dict.fromkeys((*core, *(name for name in used if name not in deferred), *loaded_deferred)))
    waiting = [name for name in deferred if name not in loaded]
    return Toolset(
        loaded=loaded,
        used=used,
        unused=tuple(name for name in loaded if name not in used),
        loaded_deferred=loaded_deferred,
        deferred_built_in=tuple(name for name in waiting if not name.startswith("mcp__")),
        deferred_mcp=tuple(name for name in waiting if name.startswith("mcp__")),
        schema_tokens=fixed.schema_tokens or None,
        schema_source=fixed.source,
        call_tokens=sum(use.use_tokens for use in facts.tool_uses),
        result_tokens=sum(use.result_block_tokens for use in facts.tool_uses),
        servers=_servers(facts, deferred),
    )


def announced(facts: Facts) -> tuple[str, ...]:
    """The deferred tools that the transcript announced and did not take back, in that order."""
    names: dict[str, None] = {}
    for one in facts.attachments:
        if one.type == "deferred_tools_delta":
            names.update(dict.fromkeys(one.added))
            for name in one.removed:
                names.pop(name, None)
    return tuple(names)


def configured_servers(surroundings: Iterable[Surrounding]) -> dict[str, str]:
    """Configured MCP servers that are not switched off: name to source, global or project."""
    found: dict[str, str] = {}
    off: set[str] = set()
    for one in surroundings:
        if one.kind == "mcp":
            off.update(one.detail.get("disabled") or ())
            for server in one.detail.get("servers") or ():
                if not server.get("disabled"):
                    found.setdefault(server["name"], "global" if one.project_path is None else "project")
    return {name: source for name, source in found.items() if name not in off}


def server_of(tool: str) -> str | None:
    """The server in a tool's name `mcp__<server>__<tool>`; None for a built-in tool."""
    return tool[5:].partition("__")[0] or None if tool.startswith("mcp__") else None


def _servers(facts: Facts, deferred: tuple[str, ...]) -> tuple[Server, ...]:
    calls: dict[str, int] = {}
    tokens: dict[str, int] = {}
    for use in facts.tool_uses:
        if use.server:
            calls[use.server] = calls.get(use.server, 0) + (use.use_record_id is not None)
            tokens[use.server] = tokens.get(use.server, 0) + use.use_tokens + use.result_block_tokens
    sources = configured_servers(facts.surroundings)
    seen = dict.fromkeys((*calls, *filter(None, map(server_of, deferred))))
    # In a tool's name a server's own name has no other characters than these.
    known = {spelled(name): name for name in sources}
    for name in seen:
        if name not in known:
            sources[name] = "transcript"
            known[name] = name
    servers = [Server(name, sources[name], calls.get(key, 0), tokens.get(key, 0)) for key, name in known.items()]
    return tuple(sorted(servers, key=lambda server: (-server.tokens, -server.calls, server.name)))


def spelled(server: str) -> str:
    """A server's name as it stands in the names of its tools."""
    return "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "_" for char in server)
