"""The fixed context: what every call of a session carries without it standing in the transcript (D11)."""

from __future__ import annotations

from crusts_index.insight.window.catalogue import core_schema_tokens
from crusts_index.insight.window.settings import schemas_of
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Block, Call, Facts

LEAST_TOKENS = 1_000
DEFAULT_SKILLS_TOKENS = 476


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

    @property
    def by_category(self) -> dict[str, int]:
        """Its parts by category (D8): schemas are tools, memory is state, all else is system."""
        if self.tokens is None:
            return {}
        other = self.tokens - self.schema_tokens - self.memory_tokens
        return {"system": other, "tools": self.schema_tokens, "state": self.memory_tokens}


def unknown_fixed(reason: str, first: int | None = None, messages: int = 0, attachments: int = 0) -> FixedContext:
    """A fixed context of which nothing is known but why."""
    return FixedContext(None, 0, 0, 0, 0, None, first, messages, attachments, reason)


def fixed_context(facts: Facts, calibrated: int | None = None) -> FixedContext:
    """Derive the fixed context of a session from its first call.

    `calibrated`: tokens of the core schemas as the user's `/context` said; a report in the session outranks it.
    """
    schemas = core_schema_tokens(facts.session.first_version, reported_schemas(facts) or calibrated)
    if not facts.calls:
        return unknown_fixed("no call yet, so nothing to derive it from")
    first = facts.calls[0]
    before = _blocks_before(facts, first)
    messages = sum(block.tokens for block in before if block.kind != "attachment")
    attachments = sum(block.tokens for block in before if block.kind == "attachment")
    whole = first.context_tokens - messages - attachments
    said = f"first call {first.context_tokens:,} − {messages + attachments:,} in messages before it"
    bound = _bound_by_compactions(facts)
    if bound is not None and LEAST_TOKENS <= bound < whole:
        said += f" is more than the {bound:,} that a call right after a compaction leaves for it"
        whole = bound
    if whole < LEAST_TOKENS:
        reason = f"{said} leaves {whole:,}, less than {LEAST_TOKENS:,}: not derived"
        return unknown_fixed(reason, first.context_tokens, messages, attachments)
    claude_md, memory, skills = _around(facts, before)
    internal = whole - schemas - claude_md - memory - skills
    if internal < LEAST_TOKENS:
        reason = f"{said} = {whole:,}, undivided: the parts known would not fit into it"
        return FixedContext(whole, 0, 0, 0, 0, None, first.context_tokens, messages, attachments, reason)
    reason = f"{said} = {whole:,}, of which core schemas {schemas:,}"
    if facts.surroundings_complete:
        reason += f", CLAUDE.md {claude_md:,}, memory {memory:,}, skills {skills:,}"
    else:
        reason += "; the rest undivided, since what surrounded the session is not known as it was then"
    return FixedContext(
        tokens=whole,
        schema_tokens=schemas,
        claude_md_tokens=claude_md,
        memory_tokens=memory,
        skill_tokens=skills,
        internal_tokens=internal,
        first_call_tokens=first.context_tokens,
        known_message_tokens=messages,
        known_attachment_tokens=attachments,
        reason=reason,
    )


def reported_schemas(facts: Facts) -> int | None:
    """Tokens of the loaded system tools as the session's last `/context` said."""
    reported = (schemas_of(report.rows) for report in reversed(facts.context_reports) if report.id > 0)
    return next((tokens for tokens in reported if tokens), None)


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


def _around(facts: Facts, before: list[Block]) -> tuple[int, int, int]:
    """Tokens of CLAUDE.md files, memory and skill listings; nothing where they are not known as they were."""
    if not facts.surroundings_complete:
        return 0, 0, 0
    claude_md = memory = skills = 0
    listed = any(block.subtype == "skill_listing" for block in before)
    nested = any(block.subtype == "nested_memory" for block in before)
    for one in facts.surroundings:
        loaded = one.detail.get("loaded_tokens", one.tokens)
        if one.kind in ("claude_md", "rule"):
            if not (nested and one.project_path is not None):
                claude_md += loaded + one.detail.get("import_tokens", 0)
        elif one.kind == "memory":
            memory += loaded
        elif one.kind in ("skill", "command", "agent") and not listed:
            skills += loaded
    if not listed and not skills:
        skills = DEFAULT_SKILLS_TOKENS
    return claude_md, memory, skills
