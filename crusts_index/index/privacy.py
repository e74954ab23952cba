"""What the store may hold where no text may be kept (`keepText` is not true): said once, for every column. Spec: D16.

`KEPT` names each column that can hold text, and what becomes of it. Rows go through it before they are written
(`withhold`), and a store that has text from before is gone through by the same rules (`scrub`). What stays is what the
numbers need: ids, names of models, tools, servers, agents, hooks and skills, versions, folders of projects, and the
paths of Claude Code's own files. A name is one word: whatever else stands in its place is veiled, equal staying equal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from crusts_index.claude.context_report import bucket_of
from crusts_index.index.calls import settle_calls
from crusts_index.index.extent import SUMS
from crusts_index.index.sessions import told_repo
from crusts_index.index.sums import settle_all_sums
from crusts_index.index.veil import veiled
from crusts_index.index.vocabulary import WORDS, sweep_words
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import transaction
from crusts_index.store.promises import NO_TEXT, TEXT, note_text, promise
from crusts_index.transcript.depth import is_deep
from crusts_index.transcript.lean import msgspec
from crusts_index.transcript.rows import COLUMNS, Row
from crusts_index.transcript.state import State
from crusts_index.transcript.words import word_id

_NAME = re.compile(r"\S{1,200}")
_COUNTED = frozenset(("cost-state", "session_writes_lost"))
_DETAIL_NAMES = frozenset("name kind model unread".split())


class Rule(NamedTuple):
    """What becomes of a column: `make` gives its value from those of the columns `of`; the last one is itself."""

    make: Callable[..., Any]
    of: tuple[str, ...] = ()


def _as_it_is(value: Any) -> Any:
    return value


def _name(value: Any) -> Any:
    return value if not isinstance(value, str) or not value or _NAME.fullmatch(value) else veiled(value)


def _nothing(_: Any) -> None:
    return None


def _names(array: str | None) -> str | None:
    """Of a JSON array of names."""
    found = _loads(array)
    kept = [_name(one) for one in found if isinstance(one, str)] if isinstance(found, list) else None
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")) if kept else None


def _attached(kind: str | None, name: str | None) -> Any:
    """The name of an attachment: a hook's or a model's, else a path."""
    return _name(name) if str(kind).startswith(("hook_", "async_hook", "model")) else veiled(name)


def _scope(kind: str, scope: str | None) -> Any:
    """Whose habit it is: a model's name, or a project's path, which stays."""
    return _name(scope) if kind == "limit" else scope


def _said(key: str, value: str | None) -> str | None:
    """The value of a bookkeeping record."""
    if key in ("mode", "permission-mode", "agent-setting"):
        return _name(value)  # type: ignore[no-any-return]
    if key == "relocated":
        return value  # a folder, as `cwd` is
    if key == "worktree-state":
        repo = told_repo(value)  # a folder, too
        return json.dumps({"worktreeSession": {"originalCwd": repo}}, ensure_ascii=False) if repo else None
    return json.dumps(_numbers(_loads(value)), separators=(",", ":")) if key in _COUNTED and value else None


def _numbers(value: Any) -> Any:
    """Of a JSON value what is numbers, under keys that are names."""
    if isinstance(value, dict):
        return {_name(key): _numbers(part) for key, part in value.items() if isinstance(part, int | float | dict)}
    return value if isinstance(value, int | float) else None


def _report(rows: str | None) -> str | None:
    """The rows of a `/context` output, each called by what it is a part of."""
    found = _loads(rows)
    kept = [
        [bucket_of(row[0]).replace("_", " "), row[1], row[2] is True]
        for row in (found if isinstance(found, list) else ())
        if isinstance(row, list) and len(row) == 3 and isinstance(row[0], str) and isinstance(row[1], int)
    ]
    return json.dumps(kept) if rows is not None else None


def _detail(text: str | None) -> str | None:
    """What settings say: numbers, switches and names."""
    found = _detail_part("", _loads(text))
    return json.dumps(found, ensure_ascii=False) if found else None


def _detail_part(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        inside = key if key in ("env", "imports") else ""
        parts = {name: _detail_part(inside or name, part) for name, part in value.items()}
        return {name: part for name, part in parts.items() if part is not None}
    if isinstance(value, list):
        return [kept for part in value if (kept := _detail_part(key, part)) is not None]
    if not isinstance(value, str):
        return value
    if key == "imports":
        return veiled(value)
    return _name(value) if key in _DETAIL_NAMES or key in ("env", "disabled") else None


def _state(text: str) -> str:
    """The reader's state; one that cannot be read stays so, and its transcript is read from the beginning."""
    try:
        state = State.load(text)
    except msgspec.MsgspecError:
        return "null"
    state.sessions = {_name(session): count for session, count in state.sessions.items()}
    state.agents = {_name(agent): number for agent, number in state.agents.items()}
    for column, rule in KEPT["transcripts"].items():
        if hasattr(state.about, column):
            setattr(state.about, column, rule.make(getattr(state.about, column)))
    return state.dump()


def _loads(text: str | None) -> Any:
    try:
        return json.loads(text) if text and not is_deep(text.encode("utf-8", "replace")) else None
    except (ValueError, RecursionError):
        return None


STAYS = Rule(_as_it_is)
NAME = Rule(_name)
NAMES = Rule(_names)
VEILED = Rule(veiled)
GOES = Rule(_nothing)

KEPT: dict[str, dict[str, Rule]] = {
    "projects": {"path": STAYS, "name": STAYS},
    "sessions": {"session_id": STAYS, "repo": STAYS},
    "words": {"word": NAME},
    "transcripts": {
        **dict.fromkeys(("root", "path", "folder", "kind", "stem", "parent_session"), STAYS),
        **dict.fromkeys(("head_hash", "tail_hash", "first_cwd", "last_cwd"), STAYS),
        **dict.fromkeys(("version", "last_version", "entrypoint", "record_session", "agent_id"), NAME),
        **dict.fromkeys(("agent_type", "parent_tool_use_id", "parent_agent_id"), NAME),
        **dict.fromkeys(("git_branch", "agent_description"), GOES),
    },
    "fold_states": {"state": Rule(_state)},
    "threads": {"kind": STAYS, "agent_id": NAME, "parent_tool_use_id": NAME},
    "branches": {"fork_uuid": NAME},
    "stored_records": {"uuid": NAME, "parent_uuid": NAME},
    "stored_responses": {"request_id": NAME, "message_id": NAME},
    "stored_response_facts": {"request": NAME},
    "stored_requests": {"uuid": NAME, "base": NAME},
    "stored_sent_parts": {"path": VEILED},
    "stored_call_sums": {"mode": STAYS},  # made of three words of its responses, and settled with them
    "stored_curves": {"contexts": STAYS},
    "texts": {"text": GOES},
    "stored_tool_uses": {
        **dict.fromkeys(("use_key", "agent_id"), NAME),
        **dict.fromkeys(("path", "read_offset", "read_limit"), VEILED),
        "command": GOES,
    },
    "tool_loads": {"name": NAME},
    "compactions": {
        **dict.fromkeys(("uuid", "record_session", "trigger"), NAME),
        **dict.fromkeys(("preserved", "discovered_tools"), NAMES),
        "focus": GOES,
    },
    "preserved": {"uuid": NAME},
    "removals": {"kind": STAYS, "use_key": NAME, "uuid": NAME},
    "attachments": {
        **dict.fromkeys(("type", "event"), NAME),
        **dict.fromkeys(("added", "removed"), NAMES),
        "name": Rule(_attached, ("type", "name")),
    },
    "context_reports": {"model": NAME, "version": NAME, "rows": Rule(_report)},
    "meta_records": {"key": STAYS, "value": Rule(_said, ("key", "value"))},
    "surroundings": {
        **dict.fromkeys(("kind", "path", "project_path", "content_hash"), STAYS),
        "name": NAME,
        "detail": Rule(_detail),
    },
    "cost_states": {"model": NAME},
    "payload_facts": {
        **dict.fromkeys(("session_id", "cache_ttl", "worktree_of"), STAYS),
        **dict.fromkeys(("repo", "worktree", "branch", "pr"), GOES),
        "model": NAME,
    },
    "limit_samples": {"name": STAYS},
    "weights": {"name": STAYS, "model": NAME},
    "models": {"model": NAME, "source": STAYS},
    "prices": {"model": NAME, "speed": NAME, "from_day": STAYS, "source": STAYS},
    "habits": {"kind": STAYS, "scope": Rule(_scope, ("kind", "scope"))},
    "problems": {"reason": STAYS},
    "runs": {"kind": STAYS, "version": STAYS},
    "forgotten": {"session_id": STAYS},
    "store_facts": {"name": STAYS, "value": STAYS},
}
"""What becomes of each column that can hold text. The reader makes text of whole numbers and uuids that are none."""

_GONE_WORDS = {"stored_responses": "git_branch"}
"""Columns of words that are no names; all others hold names, and `words` has what becomes of those."""
_ODD_MODES = """
select id from stored_responses
where speed in (select old from temp.odd_words) or geo in (select old from temp.odd_words)
  or service_tier in (select old from temp.odd_words)
"""
_EMPTY = {"texts": "text", "meta_records": "value"}
"""Tables whose rows say nothing without that column: they go with it."""


def withhold(rows: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """The rows of a stretch as they may be written where no text may be kept."""
    kept = {table: _withhold(table, found) if table in KEPT else found for table, found in rows.items()}
    _withhold_words(kept, rows["words"])
    return kept


def withhold_from(table: str, values: dict[str, Any]) -> dict[str, Any]:
    """Likewise the columns of one row, by name."""
    rules = KEPT[table]
    return {
        column: rules[column].make(*(values[one] for one in rules[column].of or (column,)))
        if column in rules
        else value
        for column, value in values.items()
    }


def scrub(store: sqlite3.Connection) -> bool:
    """Take out the text that a store has from before, of transcripts that are gone too; True if there was any.

    The store remembers that it has none, and promises to take it from what lies beside it.
    """
    store.execute("pragma secure_delete = on")  # what is deleted is overwritten
    before = store.total_changes
    with transaction(store):
        odd = _scrub_words(store)
        for table, rules in KEPT.items():
            for column, rule in rules.items():
                if table not in _EMPTY and table != "words" and rule is not STAYS:
                    _rewrite(store, table, column, rule)
        store.execute("delete from texts")
        _rewrite(store, "meta_records", "value", KEPT["meta_records"]["value"])
        store.execute("delete from meta_records where value is null")
        settle_calls(store, odd, ())
        if store.total_changes > before:
            settle_all_sums(store)
        sweep_words(store)
        is_changed = store.total_changes > before
        note_text(store, NO_TEXT)
        promise(store, TEXT)
    return is_changed


def _withhold(table: str, rows: Sequence[Row]) -> list[Row]:
    names = COLUMNS[table]
    made = [
        (names.index(column), rule.make, [names.index(one) for one in rule.of or (column,)])
        for column, rule in KEPT[table].items()
        if rule is not STAYS and column in names
    ]
    empty = names.index(_EMPTY[table]) if table in _EMPTY else None
    kept = []
    for row in rows:
        values = list(row)
        for place, make, of in made:
            values[place] = make(*(row[one] for one in of))
        if empty is None or values[empty] is not None:
            kept.append(tuple(values))
    return kept


def _withhold_words(rows: dict[str, list[Row]], words: Sequence[Row]) -> None:
    """Give words that are no names the numbers of what stands for them; those that no row has then are left out."""
    names = {number: _name(word) for number, word in words}
    veiled_as = {number: word_id(names[number]) for number, word in words if names[number] != word}
    used: set[object] = set()
    for table, columns in WORDS.items():
        found = rows.get(table)
        if not found:
            continue
        told = COLUMNS[table]
        gone = [told.index(column) for column in columns if column == _GONE_WORDS.get(table)]
        places = [told.index(column) for column in columns if column != _GONE_WORDS.get(table)]
        if gone or veiled_as:
            changed = [list(row) for row in found]
            for values in changed:
                for place in gone:
                    values[place] = None
                for place in places:
                    values[place] = veiled_as.get(values[place], values[place])
            found = rows[table] = [tuple(values) for values in changed]
        for place in places:
            used.update(row[place] for row in found)
    kept = {veiled_as.get(number, number): name for number, name in names.items()}
    rows["words"] = [(number, name) for number, name in kept.items() if number in used]


def _scrub_words(store: sqlite3.Connection) -> list[int]:
    """Likewise in the store; gives back responses whose mode has another name now."""
    odd = [
        (number, word_id(_name(word)), _name(word))
        for number, word in store.execute("select id, word from words")
        if _name(word) != word
    ]
    store.execute("create temp table if not exists odd_words (old integer primary key, made integer)")
    store.execute("delete from temp.odd_words")
    store.executemany("insert into temp.odd_words values (?, ?)", [row[:2] for row in odd])
    store.executemany("insert or ignore into words (id, word) values (?, ?)", [row[1:] for row in odd])
    for table, column in _GONE_WORDS.items():
        store.execute(f"update {table} set {column} = null where {column} is not null")
    responses = [row[0] for row in store.execute(_ODD_MODES)]
    for table, columns in WORDS.items():
        for column in columns if odd and table not in SUMS else ():
            store.execute(
                f"update {table} set {column} = (select made from temp.odd_words where old = {column})"
                f" where {column} in (select old from temp.odd_words)"
            )
    return responses


def _rewrite(store: sqlite3.Connection, table: str, column: str, rule: Rule) -> None:
    of = rule.of or (column,)
    store.create_function("made", len(of), rule.make, deterministic=True)
    made = f"made({', '.join(of)})"
    store.execute(f"update {table} set {column} = {made} where {column} is not null and {column} is not {made}")
