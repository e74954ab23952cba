"""Reads the rows of one session and puts them together as Facts, up to a cut (D7, D10)."""

from __future__ import annotations

import gc

from crusts_index.errors import CrustsError
from crusts_index.insight.session.circumstances import (
    attachments_of,
    loads_of,
    reports_of,
    surroundings_of,
    threads_of,
)
from crusts_index.insight.session.facts import Block, Call, Compaction, Facts, Removal, Session
from crusts_index.insight.session.inferred import infer_compactions
from crusts_index.insight.session.joined import join_tool_uses
from crusts_index.insight.session.parts import Part, names_in, read_parts
from crusts_index.insight.session.path import Path, walk
from crusts_index.insight.session.trim import trimmed_end
from crusts_index.rows.session import SessionThread
from crusts_index.rows.window import SentParts, SessionPart, SessionRemoval, SessionTold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.rows import Fetch
    from crusts_index.rows.session import SessionToolUse
    from crusts_index.rows.window import SessionBlock

    PartBlocks = list[tuple[Part, list[SessionBlock]]]


def load(fetch: Fetch, session_id: str, until: int | None = None, *, trim: bool = True) -> Facts:
    """The facts of a session's own view up to message `until`, as if its transcript ended there (D7).

    Without `until`, a trailing call of crusts itself is left out unless `trim` is False.
    Raises CrustsError for a session that the store does not know and for a number out of range.
    """
    was_on = gc.isenabled()
    gc.disable()  # rows form no cycles; looking for some takes a quarter of the time
    try:
        return _load(fetch, session_id, until, trim=trim)
    finally:
        if was_on:
            gc.enable()


def _load(fetch: Fetch, session_id: str, until: int | None, *, trim: bool) -> Facts:
    heads = fetch(SessionPart, session=session_id)
    if not heads and not fetch(SessionThread, session=session_id, transcript=None, cut=None):
        raise CrustsError(f"the store knows no session {session_id}")
    parts = read_parts(fetch, heads)
    count = sum(part.messages for part in parts)
    if until is not None and not 1 <= until <= count:
        raise CrustsError(
            f"there is no message {until:,}: the messages of this session are numbered 1 to {count:,}"
            if count
            else "this session has no messages"
        )
    facts = _Assembly(fetch, session_id, heads, parts, until).facts()
    facts.is_partial = until is not None
    if until is None and trim:
        end = trimmed_end(facts)
        if end is not None:
            facts = _Assembly(fetch, session_id, heads, read_parts(fetch, heads), end).facts()
            facts.trimmed = count - end
    return facts


class _Assembly:
    """The facts in the making."""

    def __init__(
        self,
        fetch: Fetch,
        session_id: str,
        heads: list[SessionPart],
        parts: list[Part],
        until: int | None,
    ) -> None:
        self._fetch, self._session_id, self._heads, self._until = fetch, session_id, heads, until
        if until is not None:
            while parts and parts[-1].base >= until:
                parts.pop()
            if parts:
                parts[-1].cut_at(fetch, until)
        self._parts = parts
        self._forks = {branch: fork for part in parts for branch, fork in part.forks.items()}
        self._compactions: list[Compaction] = []
        self._removals: list[Removal] = []
        self._path, self._leaf_epoch, self._leaf_record = self._live_path()

    def facts(self) -> Facts:
        """Everything, in an order in which each has what it needs."""
        rows = [(part, part.blocks(self._fetch)) for part in self._parts]
        self._removals = self._read_removals()
        self._compactions = self._read_compactions(rows)
        calls = self._read_calls(rows)
        inferred: list[Compaction] = []
        if not self._compactions:
            inferred = infer_compactions(rows, calls, self._removals, self._path)
        live = self._live_compaction(inferred)
        uses = {row.id: row for part in self._parts for row in part.tool_uses(self._fetch)}
        blocks = self._make_blocks(rows, uses, live, inferred)
        last_ms = max((part.last_ms for part in self._parts if part.last_ms is not None), default=None)
        session = self._session(last_ms)
        first_call_ms = calls[0].time_ms if calls else session.started_ms
        around = surroundings_of(self._fetch, session, first_call_ms)
        return Facts(
            session=session,
            calls=self._place_calls(calls, live, inferred),
            blocks=blocks,
            tool_uses=join_tool_uses(uses, blocks),
            compactions=self._compactions,
            inferred=inferred,
            removals=self._removals,
            loads=loads_of(self._fetch, self._parts),
            attachments=attachments_of(self._fetch, self._parts),
            context_reports=reports_of(self._fetch, self._session_id, rows),
            surroundings=around.files,
            surroundings_complete=around.is_complete,
            settings=around.settings,
            told=self._fetch(SessionTold, session=self._session_id),
            sent=self._sent(calls),
            threads=threads_of(self._fetch, self._session_id, self._parts),
            leaf_record_id=self._leaf_record,
            live_from=live,
            parts=[part.transcript for part in self._parts],
            until=self._until,
            trimmed=0,
            is_partial=False,
            begins_amid=bool(self._parts) and self._parts[0].begins_amid(self._fetch),
            _fetch=self._fetch,
        )

    # ------------------------------------------------------------------ where the conversation stands

    def _live_path(self) -> tuple[Path, int, int | None]:
        """The path to the later of the last message, the last boundary and the last leaf named (D10)."""
        part = next((part for part in reversed(self._parts) if part.end is not None), None)
        if part is None or part.end is None:
            return walk(self._forks, 0), 0, None
        end, leaf_record = part.end, None
        if part.cut is None:
            leaf_record = part.named_leaf(self._fetch)
            if leaf_record is not None:
                end = leaf_record
        return (
            walk(self._forks, end.branch, leaf_record.record_id if leaf_record else None),
            end.epoch,
            leaf_record.record_id if leaf_record else None,
        )

    def _live_compaction(self, inferred: list[Compaction]) -> Compaction | None:
        if inferred:
            return inferred[-1]
        return next((one for one in self._compactions if one.epoch == self._leaf_epoch), None)

    # ------------------------------------------------------------------ rows to facts

    def _session(self, last_ms: int | None) -> Session:
        heads = self._heads
        if not heads:
            return Session(
                self._session_id,
                "",
                None,
                None,
                None,
                None,
                None,
                None,
                gone=True,
                transcript_path=None,
                messages=0,
            )
        last = heads[len(self._parts) - 1] if self._parts else heads[-1]
        project = heads[0].project
        versions = [
            version for head in heads[: len(self._parts)] for version in (head.version, head.last_version) if version
        ]
        last_part = self._parts[-1] if self._parts else None
        return Session(
            session_id=self._session_id,
            project=project,
            project_folder=project if project.startswith("/") else None,
            title=heads[-1].title,
            version=versions[-1] if versions else None,
            first_version=versions[0] if versions else None,
            started_ms=min((head.first_ms for head in heads if head.first_ms is not None), default=None),
            last_ms=last_ms,
            gone=bool(last.gone),
            transcript_path=last.path,
            messages=last_part.base + last_part.messages if last_part else 0,
            entrypoint=last.entrypoint,
            git_branch=last.git_branch,
        )

    def _sent(self, calls: list[Call]) -> SentParts | None:
        if not calls:
            return None
        first = calls[0].id
        return next(iter(self._fetch(SentParts, firsts=f"[[{first >> 40},{first}]]")), None)

    def _read_calls(self, rows: PartBlocks) -> list[Call]:
        holds = self._path.holds
        calls = []
        for part, block_rows in rows:
            unbilled = {block.response_id for block in block_rows if not block.is_exact}
            for row in part.calls():
                branch = part.branch(row.branch)
                calls.append(
                    Call(  # by place, since by name takes five times as long
                        row.id,
                        row.id,
                        row.last_record_id,
                        part.base + row.message,
                        part.calls_base + row.ordinal,
                        branch,
                        part.epoch(row.epoch),
                        row.model,
                        row.time_ms,
                        row.input_tokens,
                        row.cache_read_tokens,
                        row.cache_write_tokens,
                        row.cache_write_1h_tokens,
                        row.output_tokens,
                        row.thinking_tokens,
                        row.context_tokens,
                        row.cost_usd,
                        row.cache_read_usd,
                        row.stop_reason,
                        row.id in unbilled,
                        holds(branch, row.id, row.id),
                        live_epoch=False,
                        effort=row.effort,
                    )
                )
        return calls

    def _place_calls(self, calls: list[Call], live: Compaction | None, inferred: list[Compaction]) -> list[Call]:
        if inferred and live is not None:
            starts = [one.id for one in inferred]
            return [
                call._replace(
                    epoch=call.epoch + sum(start <= call.id for start in starts) * call.on_path,
                    live_epoch=call.on_path and call.id >= live.id,
                )
                for call in calls
            ]
        return [
            call._replace(live_epoch=True) if call.on_path and call.epoch == self._leaf_epoch else call
            for call in calls
        ]

    def _make_blocks(
        self,
        rows: PartBlocks,
        uses: dict[int, SessionToolUse],
        live: Compaction | None,
        inferred: list[Compaction],
    ) -> list[Block]:
        holds, leaf_epoch = self._path.holds, self._leaf_epoch
        preserved = live.preserved_records if live else frozenset()
        out = {one.target_record_id for one in self._removals if one.on_path and one.target_record_id}
        emptied = {one.tool_use_row for one in self._removals if one.on_path and one.tool_use_row}
        starts = [one.id for one in inferred]
        blocks: list[Block] = []
        answered: set[int | None] = set()  # a second result of one tool use is a replay of the first
        for part, block_rows in rows:
            base, calls_base, branch_of, epoch_of = part.base, part.calls_base, part.branch, part.epoch
            for row in block_rows:
                record_id, use_row, response = row.record_id, row.tool_use_id, row.response_id
                branch, epoch = branch_of(row.branch), epoch_of(row.epoch)
                on_path = holds(branch, record_id, response)
                if starts and on_path:
                    epoch += sum(start <= record_id for start in starts)
                    inside = epoch == len(starts)
                else:
                    inside = on_path and epoch == leaf_epoch
                in_window = (inside or record_id in preserved) and record_id not in out
                if in_window and row.kind == "tool_result":
                    in_window = use_row not in emptied and use_row not in answered
                    answered.add(use_row)
                use = uses.get(use_row) if use_row is not None else None
                blocks.append(
                    Block(  # by place, since by name takes five times as long
                        row.id,
                        record_id,
                        base + row.message,
                        row.time_ms,
                        row.kind,
                        row.category,
                        row.tokens,
                        row.estimate,
                        row.chars,
                        row.is_exact == 1,
                        branch,
                        epoch,
                        calls_base + row.call_ordinal,
                        row.type,
                        row.subtype,
                        row.is_prompt == 1,
                        row.is_summary == 1,
                        row.is_meta == 1,
                        row.origin,
                        use.name if use else None,
                        use_row,
                        response,
                        in_window,
                        on_path,
                    )
                )
        return _name_last_prompt(blocks)

    def _read_compactions(self, rows: PartBlocks) -> list[Compaction]:
        found = []
        for part, block_rows in rows:
            for row in part.boundaries():
                branch, epoch = part.branch(row.branch), part.epoch(row.epoch)
                after = [block for block in block_rows if block.id > row.id and part.epoch(block.epoch) == epoch]
                summary = next((block for block in after if block.is_summary), None)
                preserved = names_in(row.preserved)
                found.append(
                    Compaction(
                        id=row.id,
                        message=part.base + after[0].message if after else None,
                        time_ms=row.time_ms,
                        trigger=row.trigger,
                        pre_tokens=row.pre_tokens,
                        post_tokens=row.post_tokens,
                        dropped_tokens=row.dropped_tokens,
                        duration_ms=row.duration_ms,
                        focus=row.focus,
                        preserved=preserved,
                        discovered_tools=names_in(row.discovered_tools),
                        epoch=epoch,
                        branch=branch,
                        summary_record_id=summary.record_id if summary else None,
                        summary_message=part.base + summary.message if summary else None,
                        is_owner=bool(row.is_owner),
                        on_path=self._path.holds(branch, row.id),
                        preserved_records=part.preserved(self._fetch, preserved, block_rows),
                    )
                )
        return found

    def _read_removals(self) -> list[Removal]:
        holds = self._path.holds
        return [
            Removal(
                record_id=row.record_id,
                kind=row.kind,
                tool_use_row=row.tool_use_row,
                target_record_id=row.target_record_id,
                saved_tokens=row.saved_tokens,
                on_path=holds(part.branch(row.branch), row.record_id, row.response_id),
            )
            for part in self._parts
            for row in part.kept(self._fetch(SessionRemoval, transcript=part.transcript))
        ]


def _name_last_prompt(blocks: list[Block]) -> list[Block]:
    """The last human prompt of the window is the category `user` (D8)."""
    last = next((block.record_id for block in reversed(blocks) if block.is_prompt and block.in_window), None)
    if last is None:
        return blocks
    return [
        block._replace(category="user") if block.record_id == last and block.category == "conversation" else block
        for block in blocks
    ]
