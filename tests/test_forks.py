"""Forked sessions: whose the copied calls, tool uses, results and compactions are, whatever is read first (D2)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.builders import OMIT, ClaudeFolder, Transcript
from tests.picture import read, scratch

FIRST = "11111111-0000-4000-8000-000000000000"
SECOND = "22222222-0000-4000-8000-000000000000"
THIRD = "33333333-0000-4000-8000-000000000000"
Fork = Callable[[Transcript, Iterable[bytes]], None]


def by_flag(fork: Transcript, lines: Iterable[bytes]) -> None:
    """As `--fork-session` copies: only answers say which session asked."""
    fork.copy(lines, asked=True)


def by_branch(fork: Transcript, lines: Iterable[bytes]) -> None:
    """As `/branch` copies: every record says where it came from."""
    fork.copy(lines, asked=True, forked=True)


def by_older(fork: Transcript, lines: Iterable[bytes]) -> None:
    """As older versions fork."""
    fork.copy(lines, forked=True)


@pytest.fixture
def folder() -> Iterator[ClaudeFolder]:
    """A home with a config folder."""
    with scratch() as home:
        yield ClaudeFolder(home)


@pytest.fixture(params=[by_flag, by_branch, by_older])
def copied(request: pytest.FixtureRequest) -> Fork:
    """How a fork copies."""
    return request.param  # type: ignore[no-any-return]


ORDERS = [pytest.param((a, b, c), id=f"{a[0]}{b[0]}{c[0]}") for a, b, c in (
    (FIRST, SECOND, THIRD), (SECOND, FIRST, THIRD), (THIRD, SECOND, FIRST))]  # fmt: skip
"""Names of an origin, a fork and a fork of that: the order of their paths must not matter."""


def work(t: Transcript, words: str = "go on") -> None:
    """A prompt, a Read and its result, an answer: two calls."""
    t.prompt(words)
    t.read("/repo/a.py", "x = 1\n" * 40, context=30_000)
    t.response("done", context=31_000)


def compact(t: Transcript) -> None:
    """A compaction as it is written, with nothing behind it."""
    t.boundary(pre=31_000, post=4_000)
    t.summary("what was done")
    t.attachment("file", filename="/repo/a.py", content="x = 1\n")


def owners(db: Path) -> dict[str, dict[str, int]]:
    """By session: calls, tool uses, results and compactions that totals count there."""
    counts = {
        "calls": "select session_id, count(*) from calls group by 1",
        "uses": "select session_id, count(*) from tool_results where is_owner = 1 group by 1",
        "results": "select session_id, count(*) from tool_results where is_result_owner = 1 group by 1",
        "compactions": "select session_id, count(*) from compactions_overview where is_owner = 1 group by 1",
    }
    found: dict[str, dict[str, int]] = {}
    with closing(sqlite3.connect(db)) as store:
        for name, sql in counts.items():
            for session, count in store.execute(sql):
                found.setdefault(session, {})[name] = count
    return found


def either(folder: ClaudeFolder, *made: Transcript, backwards: bool) -> Path:
    """The store after reading one file a run, forwards or backwards."""
    db = folder.home / "index.db"
    for one in reversed(made) if backwards else made:
        db = read(folder, one)
    return db


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("names", ORDERS)
def test_the_origin_owns_all_that_a_fork_copies(
    folder: ClaudeFolder, copied: Fork, names: tuple[str, str, str], backwards: bool
) -> None:
    """Calls, tool uses, results and compactions of copied history count for the origin, new ones for the fork."""
    origin = folder.main(names[0])
    work(origin)
    compact(origin)
    work(origin, "and now")
    fork = folder.main(names[1])
    copied(fork, origin.lines())
    work(fork, "in the fork")
    compact(fork)
    expected = {
        names[0]: {"calls": 4, "uses": 2, "results": 2, "compactions": 1},
        names[1]: {"calls": 2, "uses": 1, "results": 1, "compactions": 1},
    }
    assert expected == owners(either(folder, origin, fork, backwards=backwards))


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("names", ORDERS)
def test_a_fork_of_a_fork_owns_only_its_own(
    folder: ClaudeFolder, copied: Fork, names: tuple[str, str, str], backwards: bool
) -> None:
    """Each of three generations counts what it added, compactions in the midst of it too."""
    origin, fork, last = map(folder.main, names)
    work(origin)
    copied(fork, origin.lines())
    work(fork)
    compact(fork)
    work(fork)
    copied(last, fork.lines())
    work(last)
    expected = {
        names[0]: {"calls": 2, "uses": 1, "results": 1},
        names[1]: {"calls": 4, "uses": 2, "results": 2, "compactions": 1},
        names[2]: {"calls": 2, "uses": 1, "results": 1},
    }
    assert expected == owners(either(folder, origin, fork, last, backwards=backwards))


@pytest.mark.long
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("names", ORDERS)
def test_a_compaction_at_the_very_seam(
    folder: ClaudeFolder, copied: Fork, names: tuple[str, str, str], backwards: bool
) -> None:
    """With no call behind it, a compaction still counts where it was made: before the fork, or in it."""
    origin, fork, last = map(folder.main, names)
    work(origin)
    compact(origin)
    copied(fork, origin.lines())
    compact(fork)
    work(fork)
    copied(last, fork.lines())
    work(last)
    found = owners(either(folder, origin, fork, last, backwards=backwards))
    assert [1, 1, 0] == [found[name].get("compactions", 0) for name in names]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("names", ORDERS)
def test_a_fork_that_begins_with_the_compaction(
    folder: ClaudeFolder, copied: Fork, names: tuple[str, str, str], backwards: bool
) -> None:
    """Nothing is copied but the boundary and what follows it, no answer among it: the origin still made it."""
    origin, fork, _ = map(folder.main, names)
    work(origin)
    before = len(origin.lines())
    compact(origin)
    copied(fork, origin.lines()[before:])
    work(fork)
    found = owners(either(folder, origin, fork, backwards=backwards))
    assert [1, 0] == [found[name].get("compactions", 0) for name in names[:2]]


@pytest.mark.parametrize("names", ORDERS)
def test_without_its_origin_a_fork_is_billed_once(
    folder: ClaudeFolder, copied: Fork, names: tuple[str, str, str]
) -> None:
    """Where the origin was never read, its calls count in one of the forks; when it comes, they are its own."""
    origin, fork, last = map(folder.main, names)
    work(origin)
    compact(origin)
    copied(fork, origin.lines())
    copied(last, fork.lines())
    work(last)
    alone = owners(read(folder, last))
    assert {names[2]: {"calls": 4, "uses": 2, "results": 2, "compactions": 1}} == alone
    both = owners(read(folder, fork))
    sums = {what: sum(one.get(what, 0) for one in both.values()) for what in alone[names[2]]}
    assert alone[names[2]] == sums
    expected = {
        names[0]: {"calls": 2, "uses": 1, "results": 1, "compactions": 1},
        names[2]: {"calls": 2, "uses": 1, "results": 1},
    }
    assert expected == owners(read(folder, origin))


@pytest.mark.parametrize("names", ORDERS)
def test_an_origin_that_is_gone_still_owns(folder: ClaudeFolder, copied: Fork, names: tuple[str, str, str]) -> None:
    """Its transcript was swept, its rows are there: nothing moves to the fork."""
    origin, fork, _ = map(folder.main, names)
    work(origin)
    copied(fork, origin.lines())
    work(fork)
    before = owners(read(folder, origin, fork))
    assert origin.path is not None
    origin.path.unlink()
    fork.prompt("later")
    assert before == owners(read(folder, fork))
    assert 2 == before[names[0]]["calls"]


def test_a_fork_that_goes_on_later(folder: ClaudeFolder, copied: Fork) -> None:
    """Resumed, it owns what it adds, and its answers that name itself as the one that asked are its own."""
    origin, fork = folder.main(SECOND), folder.main(FIRST)
    work(origin)
    copied(fork, origin.lines())
    read(folder, origin, fork)
    work(fork)
    fork.response("mine", context=9_000, requestSessionId=FIRST)
    found = owners(read(folder, fork))
    assert [2, 3] == [found[SECOND]["calls"], found[FIRST]["calls"]]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("names", ORDERS)
def test_without_request_ids_the_copy_says_who_asked(
    folder: ClaudeFolder, names: tuple[str, str, str], backwards: bool
) -> None:
    """Some services give no request id: a copied answer is known by its message id and the session that asked."""
    origin, fork, last = map(folder.main, names)
    origin.response("done", context=30_000, request=OMIT)
    by_flag(fork, origin.lines())
    fork.response("more", context=31_000, request=OMIT)
    by_flag(last, fork.lines())
    found = owners(either(folder, origin, fork, last, backwards=backwards))
    assert {names[0]: {"calls": 1}, names[1]: {"calls": 1}} == found


@pytest.mark.long
@pytest.mark.parametrize("names", ORDERS[:2])
def test_every_command_says_the_same(folder: ClaudeFolder, names: tuple[str, str, str]) -> None:
    """usage, list, readout and search agree on what is whose; the fork's own view has its copied history."""
    origin, fork, _ = map(folder.main, names)
    work(origin, "about the lighthouse")
    compact(origin)
    work(origin)
    by_flag(fork, origin.lines())
    work(fork)
    for one in (origin, fork):
        one.write()

    def said(*words: str) -> Any:
        return folder.crusts(*words, "--json").json()

    said("index")
    calls = {row["session"]: row["calls"] for row in said("usage", "--by", "session", "--since", "2020-01-01")["rows"]}
    assert {names[0]: 4, names[1]: 2} == calls
    listed = {row["session"]: row for row in said("list")["sessions"]}
    assert calls == {name: row["calls"] for name, row in listed.items()}
    assert {names[0]: 1, names[1]: 1} == {name: row["compactions"] for name, row in listed.items()}
    assert listed[names[0]]["messages"] < listed[names[1]]["messages"]
    tools = {row["tool"]: row["uses"] for row in said("usage", "--by", "tool", "--since", "2020-01-01")["rows"]}
    assert {"Read": 3} == tools
    assert 1 == said("readout", "--full", "--since", "2020-01-01")["compactions"]
    assert [names[0]] == [hit["session"] for hit in said("search", "lighthouse")["hits"]]
