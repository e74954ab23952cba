"""The fixed context: what every call of a session carries without it standing in the transcript (D11)."""

from __future__ import annotations

from crusts_index.insight.session.numbers import DERIVED, ESTIMATED
from crusts_index.insight.window.catalogue import core_schema_tokens
from crusts_index.insight.window.settings import schemas_of
from crusts_index.jsontext import loads
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import Block, Call, ContextReport, Facts, Surrounding
    from crusts_index.rows.window import SentParts

LEAST_TOKENS = 1_000
DEFAULT_SKILLS_TOKENS = 476
MORE_THAN_USUAL = 1.5
"""Times the usual fixed context, above which a transcript that begins in the middle carried more than that."""
AS_SENT, BY_SNAPSHOT = "as sent", "from the prompt's snapshot"
BY_CONTEXT, BY_TABLE = "as /context said", "by the table"
MOST_OFF = 2.0
"""Times that what was sent may weigh more or less than the bill leaves for it, to be all of it."""
UNDIVIDED = "fixed context, not divided"


class FixedContext(NamedTuple):
    """What the first call carried beyond the messages before it; tokens, derived, its parts estimated.

    `internal_tokens` is what none of the other parts explains; None where the parts do not fit, and then the
    whole is one undivided number. `known_*` are the messages and attachments before the first call. `reason`
    says in words how it came about.
    """

    tokens: int | None
    schema_tokens: int
    claude_md_tokens: int
    memory_tokens: int
    skill_tokens: int
    internal_tokens: int | None
    first_call_tokens: int | None
    known_message_tokens: int
    known_attachment_tokens: int
    reason: str
    before_tokens: int = 0
    """Of a transcript that begins in the middle: what the first call carried of before; no part of `tokens`."""
    system_tokens: int = 0
    """The system prompt, where it is logged."""
    source: str = ""
    """Where `schema_tokens` is from, in words; empty where nothing is divided."""
    tool_names: tuple[str, ...] = ()
    """Of the tools, where they are logged."""
    sent_scale: float = 1.0
    """Tokens as billed for each that a tool as sent was estimated at."""
    files: tuple[tuple[str, int], ...] = ()
    """Path and tokens of each of the CLAUDE.md files in it."""

    @property
    def by_category(self) -> dict[str, int]:
        """Its parts by category (D8): schemas are tools, memory is state, all else is system."""
        if self.tokens is None:
            return {}
        other = self.tokens - self.schema_tokens - self.memory_tokens
        parts = {"system": other, "tools": self.schema_tokens, "state": self.memory_tokens}
        return parts | {"conversation": self.before_tokens} if self.before_tokens else parts

    @property
    def parts(self) -> list[tuple[str, str, str, int, str]]:
        """Kind, what, category, tokens and accuracy of each; together they are what `by_category` has."""
        if self.tokens is None:
            return []
        other = self.schema_tokens + self.claude_md_tokens + self.memory_tokens + self.skill_tokens + self.system_tokens
        found = [
            ("schemas", f"tool schemas {self.source}".rstrip(), "tools", self.schema_tokens, ESTIMATED),
            ("fixed", f"system prompt {self.source}".rstrip(), "system", self.system_tokens, ESTIMATED),
            *(("memory", path, "system", tokens, ESTIMATED) for path, tokens in self.files),
            ("memory", "memory files", "state", self.memory_tokens, ESTIMATED),
            ("skills", "skill listing", "system", self.skill_tokens, ESTIMATED),
            ("fixed", UNDIVIDED, "system", self.tokens - other, DERIVED),
            ("before", "before this transcript begins", "conversation", self.before_tokens, DERIVED),
        ]
        return [part for part in found if part[3]]


def unknown_fixed(reason: str, first: int | None = None, messages: int = 0, attachments: int = 0) -> FixedContext:
    """A fixed context of which nothing is known but why."""
    return FixedContext(None, 0, 0, 0, 0, None, first, messages, attachments, reason)


class Start(NamedTuple):
    """The first call of a session and what stood before it, in tokens: all that its fixed context follows from.

    `schemas` are those of the core tools. `bound`: what the first call after a compaction leaves for the fixed context,
    the least of several; None = there was none. `is_listed`, `is_nested`: a skill listing, a nested CLAUDE.md stands
    before it. `files` surrounded the session, all that did if `is_complete`. `usual`: of a transcript that begins in
    the middle, the median fixed context of sessions like it; else None. `is_reported`: `schemas` is what `/context`
    said. `sent`: what is logged of its system prompt and tools.
    """

    context: int
    messages: int
    attachments: int
    schemas: int
    bound: int | None
    is_listed: bool
    is_nested: bool
    files: Sequence[Surrounding]
    is_complete: bool
    usual: int | None = None
    is_reported: bool = False
    sent: SentParts | None = None


def start_of(facts: Facts, calibrated: int | None = None) -> Start | None:
    """The start of a session; None without a call. Of a cut before its first call it is that call's.

    `calibrated`: tokens of the core schemas as the user's `/context` said; a report in the session outranks it.
    """
    if not facts.calls and facts.is_partial:
        facts = facts.whole()
    if not facts.calls:
        return None
    first = facts.calls[0]
    before = _blocks_before(facts, first)
    reported = reported_schemas(facts.context_reports) or calibrated
    return Start(
        context=first.context_tokens,
        messages=sum(block.tokens for block in before if block.kind != "attachment"),
        attachments=sum(block.tokens for block in before if block.kind == "attachment"),
        schemas=core_schema_tokens(facts.session.first_version, reported),
        bound=_bound_by_compactions(facts),
        is_listed=any(block.subtype == "skill_listing" for block in before),
        is_nested=any(block.subtype == "nested_memory" for block in before),
        files=facts.surroundings,
        is_complete=facts.surroundings_complete,
        usual=_usual(facts) if facts.begins_amid else None,
        is_reported=bool(reported),
        sent=facts.sent,
    )


def fixed_context(facts: Facts, calibrated: int | None = None) -> FixedContext:
    """Derive the fixed context of a session from its facts; `calibrated` as for `start_of`."""
    return fixed_by(start_of(facts, calibrated))


def fixed_by(start: Start | None) -> FixedContext:
    """Derive the fixed context of a session from its start."""
    if start is None:
        return unknown_fixed("no call yet, so nothing to derive it from")
    before = start.messages + start.attachments
    whole = start.context - before
    said = f"first call {start.context:,} − {before:,} in messages before it"
    if start.bound is not None and LEAST_TOKENS <= start.bound < whole:
        said += f" is more than the {start.bound:,} that a call right after a compaction leaves for it"
        whole = start.bound
    if whole < LEAST_TOKENS:
        reason = f"{said} leaves {whole:,}, less than {LEAST_TOKENS:,}: not derived"
        return unknown_fixed(reason, start.context, start.messages, start.attachments)
    if start.usual is not None and whole > MORE_THAN_USUAL * start.usual:
        said += f" = {whole:,}, of which {whole - start.usual:,} are of before this transcript begins"
        reason = f"{said}; the rest, as usual in sessions like it, is not divided"
        known = (start.context, start.messages, start.attachments)
        return FixedContext(start.usual, 0, 0, 0, 0, None, *known, reason, before_tokens=whole - start.usual)
    if start.sent is not None and start.sent.tools:
        return _divided_as_sent(start, start.sent, whole, said)
    files, memory, skills = _around(start)
    claude_md = sum(tokens for _, tokens in files)
    internal = whole - start.schemas - claude_md - memory - skills
    if internal < LEAST_TOKENS:
        reason = f"{said} = {whole:,}, undivided: the parts known would not fit into it"
        return FixedContext(whole, 0, 0, 0, 0, None, start.context, start.messages, start.attachments, reason)
    reason = f"{said} = {whole:,}, of which core schemas {start.schemas:,}"
    if start.is_complete:
        reason += f", CLAUDE.md {claude_md:,}, memory {memory:,}, skills {skills:,}"
    else:
        reason += "; the rest undivided, since what surrounded the session is not known as it was then"
    return FixedContext(
        tokens=whole,
        schema_tokens=start.schemas,
        claude_md_tokens=claude_md,
        memory_tokens=memory,
        skill_tokens=skills,
        internal_tokens=internal,
        first_call_tokens=start.context,
        known_message_tokens=start.messages,
        known_attachment_tokens=start.attachments,
        reason=reason,
        source=BY_CONTEXT if start.is_reported else BY_TABLE,
        files=tuple(files),
    )


def _divided_as_sent(start: Start, sent: SentParts, whole: int, said: str) -> FixedContext:
    """Nothing but these two parts is sent before the messages: they share what the bill leaves, if it is near them."""
    system, schemas = sent.system, sent.tools
    logged = system + schemas
    if system and logged <= whole * MOST_OFF and whole <= logged * MOST_OFF:
        schemas = schemas * whole // logged
        system = whole - schemas
    elif logged > whole:
        schemas = schemas * whole // logged
        system = min(system, whole - schemas)
    source = AS_SENT if sent.is_shape else BY_SNAPSHOT
    return FixedContext(
        tokens=whole,
        schema_tokens=schemas,
        claude_md_tokens=0,
        memory_tokens=0,
        skill_tokens=0,
        internal_tokens=whole - schemas,
        first_call_tokens=start.context,
        known_message_tokens=start.messages,
        known_attachment_tokens=start.attachments,
        reason=f"{said} = {whole:,}, of which tools {schemas:,} and system prompt {system:,}, {source}",
        system_tokens=system,
        source=source,
        tool_names=tuple(loads(sent.names)) if sent.names else (),
        sent_scale=schemas / sent.tools,
    )


def reported_schemas(reports: Sequence[ContextReport]) -> int | None:
    """Tokens of the loaded system tools as the session's last `/context` said, recorded or pasted."""
    reported = (schemas_of(report.rows) for report in reversed(reports))
    return next((tokens for tokens in reported if tokens), None)


def _usual(facts: Facts) -> int | None:
    """The median fixed context of other sessions, those that begin at their beginning: of that project and version,
    else of the project, else of the version, else of all."""
    session = facts.session
    for project, version in (
        (session.project, session.first_version),
        (session.project, None),
        (None, session.first_version),
        (None, None),
    ):
        peers = (one for one in facts.peers(project=project, version=version) if not one.amid)
        found = (one.context - one.messages - one.attachments for one in peers)
        left = sorted(tokens for tokens in found if tokens >= LEAST_TOKENS)
        if left:
            return left[len(left) // 2]
    return None


def _bound_by_compactions(facts: Facts) -> int | None:
    """The least that the first calls after a compaction leave: messages of before are gone from those."""
    left = []
    for boundary in facts.compactions:
        calls = (call for call in facts.calls if call.epoch == boundary.epoch and call.branch == boundary.branch)
        call = next(calls, None)
        if call is not None:
            carried = sum(
                block.tokens
                for block in facts.blocks
                if (block.epoch == boundary.epoch or block.record_id in boundary.preserved_records)
                and block.call_ordinal < call.ordinal
            )
            left.append(call.context_tokens - carried)
    return min(left, default=None)


def _blocks_before(facts: Facts, first: Call) -> list[Block]:
    before = []
    for block in facts.blocks:
        if block.call_ordinal >= first.ordinal:
            break
        same = block.on_path if first.on_path else block.branch == first.branch
        if same and block.call_id is None:
            before.append(block)
    return before


def _around(start: Start) -> tuple[list[tuple[str, int]], int, int]:
    """CLAUDE.md files with their tokens, and tokens of memory and skill listings; nothing where they are not known as
    they were."""
    files: list[tuple[str, int]] = []
    memory = skills = 0
    if not start.is_complete:
        return files, memory, skills
    for one in start.files:
        loaded = one.detail.get("loaded_tokens", one.tokens)
        if one.kind in ("claude_md", "rule"):
            if not (start.is_nested and one.project_path is not None):
                files.append((one.path, loaded + one.detail.get("import_tokens", 0)))
        elif one.kind == "memory":
            memory += loaded
        elif one.kind in ("skill", "command", "agent") and not start.is_listed:
            skills += loaded
    if not start.is_listed and not skills:
        skills = DEFAULT_SKILLS_TOKENS
    return files, memory, skills
