"""The second store: narrow tables, facts of newer versions, two integers a block, sums.

Every row of the first store is carried over, of transcripts that are gone too. What the new columns ask for that was
not kept stays null, but for the two integers of a block, which are made from its characters: they are rough, as all
rows of transcripts are that a parser before the third has read.

Tables are copied one after the other, each in the order of its ids and a transcript at a time (`…_rows.sql`), and
dropped before the next one: the pages of the one serve the next. A statement ends with the first row that does not fit
(`or fail`): the transaction as a whole is what is taken back, and SQLite need not remember pages for each statement.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from alembic import context, op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

USUAL = """
user assistant system progress attachment text thinking tool_use tool_result image document
conversation retrieved tools state main subagent sidechain
agent_progress compact_boundary microcompact_boundary local_command turn_duration stop_hook_summary api_error
informational away_summary file-history-snapshot file-history-delta queue-operation last-prompt mode permission-mode
custom-title ai-title agent-name summary pr-link cost-state bridge-session worktree-state api-request
api-request-shape api-request-blob tools-used atis-latch content-replacement
command bash notification interruption reminder aborted meta
hook_success hook_additional_context hook_progress bash_progress mcp_progress query_update search_results_received
waiting_for_task file edited_text_file compact_file_reference deferred_tools_delta mcp_instructions_delta
skill_listing agent_listing_delta queued_command prompt_snapshot task_reminder todo_reminder nested_memory
plan_mode auto_mode date environment model instructions session_context
Read Edit Write MultiEdit NotebookEdit Bash Grep Glob LS WebFetch WebSearch Task Agent TodoWrite TaskCreate TaskUpdate
TaskList TaskGet TaskOutput TaskStop ToolSearch Skill BashOutput KillShell AskUserQuestion EnterPlanMode ExitPlanMode
NotebookRead SendMessage
end_turn stop_sequence max_tokens tool_use_error refusal standard fast batch low medium high xhigh max
main HEAD master develop default auto manual 5m 1h sdk repl_main_thread tool
claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-opus-4-5 claude-opus-4-5-20251101 claude-opus-4-1-20250805
claude-opus-4-20250514 claude-sonnet-5 claude-sonnet-4-6 claude-sonnet-4-5 claude-sonnet-4-5-20250929
claude-sonnet-4-20250514 claude-haiku-4-5 claude-haiku-4-5-20251001 claude-opus-5 claude-fable-5
messages_changed system_changed tools_changed model_changed
global general-purpose Explore Plan async_hook_response remote_session_change command_permissions
hook_system_message hook_non_blocking_error hook_blocking_error deferred_tools_record invoked_skills
skill caveat task-notification ide session_start api_refusal frame-link fork-context-ref relocated agent-setting tag
claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-fable-5-1 claude-fable-5-2 claude-3-7-sonnet-20250219
claude-3-5-sonnet-20241022 claude-3-5-haiku-20241022
LSP Monitor Workflow EnterWorktree ExitWorktree StructuredOutput ListMcpResourcesTool ReadMcpResourceTool
""".split()
"""Words whose id is their place here, from 1; of all others it is 48 bits of their hash."""

_FIRST_HASHED = 1 << 16

_REPLACED = (
    *("texts", "tool_uses", "blocks", "tool_loads", "preserved", "removals", "attachments", "compactions"),
    *("api_calls", "responses", "records"),
)
_SCRATCH = (
    "create temp table placeholders (response_id integer primary key)",
    "create temp table aborted (response_id integer primary key)",
    """
    create temp view usages as
    select c.id as call_id, u.id as response_id, u.transcript_id, u.is_nested, u.last_record_id
    from old_api_calls c join old_responses u on u.call_id = c.id
    where u.model is c.model and u.input_tokens = c.input_tokens and u.cache_read_tokens = c.cache_read_tokens
      and u.cache_write_tokens = c.cache_write_tokens and u.cache_write_1h_tokens = c.cache_write_1h_tokens
      and u.output_tokens = c.output_tokens and u.thinking_tokens is c.thinking_tokens
      and u.web_searches = c.web_searches and u.is_advisor = c.is_advisor
      and mode(u.speed, u.geo, u.service_tier) is c.speed
    """,
)
"""Responses whose output was a placeholder, that were cut off, and those that say the usage that their call has."""
_TIDY = ("drop view temp.usages", "drop table temp.aborted", "drop table temp.placeholders")

_SOFT = {
    "text": (0.848, 0.852),
    "thinking": (0.842, 0.839),
    "tool_use": (0.825, 0.825),
    "tool_result": (0.852, 0.918),
    "attachment": (0.883, 0.881),
}
"""Soft characters of a character, by the kind of block; of those that counted as code, and of others: as measured."""
_MARKS = {
    "text": (0.115, 0.061),
    "thinking": (0.071, 0.049),
    "tool_use": (0.102, 0.102),
    "tool_result": (0.144, 0.131),
    "attachment": (0.111, 0.074),
}
"""Likewise marks."""

_COPIED = 0.8
"""Part of the time after which all rows are there; the indexes take the rest."""


class Words(dict[str, int]):
    """The ids of words; those that were asked for are in it afterwards."""

    def __init__(self) -> None:
        self._usual = {word: number for number, word in enumerate(dict.fromkeys(USUAL), 1)}

    def __missing__(self, word: str) -> int:
        number = self._usual.get(word)
        if number is None:
            number = int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=6).digest(), "big")
            if number < _FIRST_HASHED:
                number += _FIRST_HASHED
        self[word] = number
        return number

    def id(self, word: object) -> int | None:
        """The id of what a row has."""
        if word is None:
            return None
        return self[word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word)]


class _Step(NamedTuple):
    """What is done for all transcripts, one after the other."""

    share: int
    """Of the time that all of them take."""
    drops: list[str]
    """Tables that nobody asks for any more then."""
    statements: list[str]


def upgrade() -> None:
    """Bring a store to this revision, within the caller's transaction."""
    store = op.get_bind().connection.driver_connection
    assert isinstance(store, sqlite3.Connection)
    tell: Callable[[float], None] = context.config.attributes.get("tell") or (lambda _: None)
    laying = _statements(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
    # A tree is made quicker once all that it holds is there.
    indexes = [statement for statement in laying if statement.startswith("CREATE INDEX ")]
    words = Words()
    for table in _REPLACED:
        store.execute(f"alter table {table} rename to old_{table}")
    for statement in laying:
        if statement not in indexes:
            store.execute(statement)
    _teach(store, words)
    for statement in _SCRATCH:
        store.execute(statement)
    _copy(store, tell)
    store.executemany("insert or fail into words (id, word) values (?, ?)", [(id, word) for word, id in words.items()])
    for statement in _TIDY:
        store.execute(statement)
    for place, statement in enumerate(indexes, 1):
        store.execute(statement)
        tell(_COPIED + (1 - _COPIED) * place / len(indexes))
    store.execute("alter table sessions add column repo TEXT")


def _statements(script: str) -> list[str]:
    return [part for part in script.split(";\n") if part.strip()]


def _steps() -> list[_Step]:
    path = Path(__file__).with_name(f"{Path(__file__).stem}_rows.sql")
    _, *steps = path.read_text(encoding="utf-8").split("\n-- step ")
    return [
        _Step(int(share), drops.split(), _statements(statements))
        for share, drops, statements in (re.fullmatch(r"(\d+) *(.*)\n((?s:.*))", step).groups() for step in steps)
    ]


def _teach(store: sqlite3.Connection, words: Words) -> None:
    """Give the connection the functions that the statements ask for."""

    def ratio_of(ratios: dict[str, tuple[float, float]]) -> Callable[[str, int, int], int]:
        def measured(kind: str, chars: int, estimate: int) -> int:
            code, other = ratios.get(kind, (0.0, 0.0))
            return round(chars * (code if estimate * 4 > chars + 3 else other))

        return measured

    functions: dict[str, tuple[int, Callable[..., object]]] = {
        "word": (1, words.id),
        "bare": (2, _bare),
        "soft": (3, ratio_of(_SOFT)),
        "marks": (3, ratio_of(_MARKS)),
        "mode": (3, _mode),
    }
    for name, (count, function) in functions.items():
        store.create_function(name, count, function, deterministic=True)


def _bare(logged: str | None, prefix: str) -> str | None:
    """An id without the prefix that its kind has; one without that begins with `=`."""
    if logged is None:
        return None
    rest = logged.removeprefix(prefix)
    return rest if rest != logged and rest[:1] not in ("", "=") else f"={logged}"


def _mode(speed: str | None, geo: str | None, tier: str | None) -> str | None:
    """What the usage of a response says that may have a price of its own."""
    said = (speed if speed != "standard" else "", geo if geo != "global" else "", tier if tier != "default" else "")
    return " ".join(part or "" for part in said).replace("  ", " ").strip(" ") or None


def _copy(store: sqlite3.Connection, tell: Callable[[float], None]) -> None:
    stretches, steps = list(_stretches(store)), _steps()
    everything = sum(step.share for step in steps)
    before = 0
    for step in steps:
        for low, high, part in stretches:
            for statement in step.statements:
                store.execute(statement, {"low": low, "high": high})
            tell(_COPIED * (before + step.share * part) / everything)
        for table in step.drops:
            store.execute(f"drop table old_{table}")
        before += step.share


def _stretches(store: sqlite3.Connection) -> Iterator[tuple[int, int, float]]:
    """Ranges of ids that hold one transcript each and together all there are, and which part is done with each."""
    transcripts = store.execute("select id, offset from transcripts order by id").fetchall()
    everything = sum(offset for _, offset in transcripts) or 1
    low, done = -(1 << 63), 0
    for transcript, offset in transcripts:
        done += offset
        high = (transcript + 1) << 40
        yield low, high, min(1.0, done / everything)
        low = high
    yield low, (1 << 63) - 1, 1.0
