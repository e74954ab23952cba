"""Sessions in several transcripts: what commands say of them never follows the order in which the files were read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import OMIT, START, ClaudeFolder, Transcript
from tests.families import fork_of
from tests.picture import ask, assert_same, index, index_named, new_store, picture, scratch

FIRST, LATER = "1e551001-0000-4000-8000-000000000001", "9e551001-0000-4000-8000-000000000009"


@pytest.fixture
def folder() -> Iterator[ClaudeFolder]:
    """A home with a config folder."""
    with scratch() as home:
        yield ClaudeFolder(home)


def read_in_both_orders(folder: ClaudeFolder, *paths: Path) -> tuple[Path, Path]:
    """Two stores of the transcripts: read one by one from the first, and from the last."""
    stores = []
    for name, order in (("a/index.db", paths), ("b/index.db", paths[::-1])):
        db = new_store(folder.home, name)
        for path in order:
            index_named(db, path)
        index(db, folder.config)
        stores.append(db)
    return stores[0], stores[1]


def parts(folder: ClaudeFolder) -> list[Path]:
    """Two parts of one session that begin at the same moment, each with a title, a model and a version of its own."""
    made = []
    for number, project in enumerate(("/p/a", "/p/b")):
        t = folder.main(project=project, cwd="/p", version=f"2.1.{number}", model=f"claude-{number}")
        t.ids.seed(project)
        t.prompt(f"prompt {number}")
        t.response("ok", context=20_000 + number)
        t.response(t.tool_use("Agent", {"subagent_type": f"kind {number}"}, "toolu_a"), context=30_000 + number)
        made.append(t.write())
    agent = folder.subagent(project="/p/a", agent="a1", meta={"toolUseId": "toolu_a"})
    agent.response("found", context=5_000)
    return [*made, agent.write()]


@pytest.mark.parametrize("kind", [None, "custom-title", "ai-title", "summary", "last-prompt", "agent-name"])
def test_parts_that_begin_together_have_one_order(folder: ClaudeFolder, kind: str | None) -> None:
    """Title, model, version, curve and the names of agents are the same, whichever part was read first."""
    paths = parts(folder)
    keys = {
        "custom-title": "customTitle",
        "ai-title": "aiTitle",
        "last-prompt": "lastPrompt",
        "agent-name": "agentName",
    }
    if kind is not None:
        for number, path in enumerate(paths[:2]):
            with path.open("ab") as file:
                file.write(b'{"type":"%s","%s":"title %d"}\n' % (kind.encode(), keys.get(kind, kind).encode(), number))
    one, other = read_in_both_orders(folder, *paths)
    assert_same(picture(one), picture(other))


def test_the_title_is_the_first_prompt_by_time(folder: ClaudeFolder) -> None:
    """Also where a part that began later was read first."""
    late, soon = folder.main(project="/p/a"), folder.main(project="/p/b")
    soon.ids.seed("another")
    soon.prompt("begin here")
    late.clock.now = START.replace(hour=20)
    late.prompt("and go on")
    for db in read_in_both_orders(folder, late.write(), soon.write()):
        assert [("begin here",)] == ask(db, "select title from sessions_overview")


def test_a_trend_shows_the_window_of_the_part_that_came_last(folder: ClaudeFolder) -> None:
    """Of a session in two parts the one that began later, whichever was read first."""
    late, soon = folder.main(project="/p/a"), folder.main(project="/p/b")
    soon.ids.seed("another")
    soon.prompt("begin")
    soon.response("ok", context=20_000)
    late.clock.now = START.replace(hour=20)
    late.prompt("go on")
    late.response("ok", context=90_000)
    stores = read_in_both_orders(folder, late.write(), soon.write())
    said = [folder.crusts("trend", "--json", "--no-index", "--db", str(db)).json() for db in stores]
    assert said[0] == said[1]
    assert 90_020 == said[0]["records"][0]["totalTokens"]


def test_runs_of_a_model_are_listed_in_the_order_of_the_parts(folder: ClaudeFolder) -> None:
    """A run that goes on in the next part comes behind the run before it."""
    soon, late = folder.main(project="/p/b"), folder.main(project="/p/a")
    late.ids.seed("another")
    soon.response("one", context=20_000, model="claude-a")
    soon.response("two", context=21_000, model="claude-b")
    late.clock.now = START.replace(hour=20)
    late.response("three", context=22_000, model="claude-b")
    for db in read_in_both_orders(folder, late.write(), soon.write()):
        said = folder.crusts("models", "--json", "--no-index", "--db", str(db)).json()
        assert ["claude-a", "claude-b"] == [run["model"] for run in said["segments"]]


@pytest.mark.parametrize("how", ["fork", "branch", "resumed", "snapshot"])
@pytest.mark.parametrize("name", [FIRST, LATER])
def test_a_copy_is_owned_by_its_origin_in_either_order(folder: ClaudeFolder, how: str, name: str) -> None:
    """Copies whose path sorts first or last, read first or last: all is counted once, at the origin."""
    origin = folder.main()
    talk(origin)
    copy = folder.main(origin.session if how == "snapshot" else name, project=f"/p/{name}")
    if how == "fork":
        copy.pieces += fork_of(origin.lines(), copy.session)
    else:
        copy.copy(origin.lines(), forked=how == "branch", rename=how != "resumed")
    copy.clock = origin.clock
    if how != "snapshot":
        copy.response("on", context=40_000)
    one, other = read_in_both_orders(folder, origin.write(), copy.write())
    assert_same(picture(one), picture(other))
    counted = "select count(*), count(distinct session_id) from calls where context_tokens < 40000"
    assert [(4, 1)] == ask(one, counted)
    if how not in ("resumed", "snapshot"):
        assert [(origin.session,)] == ask(one, "select distinct session_id from calls where context_tokens < 40000")
    assert [(1,)] == ask(one, "select count(*) from compactions_overview where is_owner = 1")
    assert [(2, 2)] == ask(one, "select sum(is_owner), sum(is_result_owner) from tool_results")


def talk(t: Transcript) -> None:
    """Four calls with a compaction between them, and two tool uses."""
    t.prompt("go")
    t.read("/a.py", "x = 1\n", context=20_000)
    t.response("one", context=21_000)
    t.boundary("manual", 21_000)
    t.summary()
    t.bash("pytest -q", "ok", context=9_000)
    t.response("two", context=10_000, parentUuid=t.parent)


def test_a_moved_project_folder_says_the_same_as_one_that_was_always_there(folder: ClaudeFolder) -> None:
    """Its sessions are shown from the new place; totals are those of one transcript, and back again."""
    t, other = folder.main(project="/p/old"), folder.main(LATER)
    talk(t)
    other.prompt("hello")
    db = new_store(folder.home)
    path = t.write()
    other.write()
    index(db, folder.config)
    wanted = ask(db, "select session_id, calls, messages, title, peak_ctx from sessions_overview order by 1")
    moved = path.parent.with_name("-p-new")
    path.parent.rename(moved)
    index(db, folder.config)
    assert wanted == ask(db, "select session_id, calls, messages, title, peak_ctx from sessions_overview order by 1")
    shutil.move(moved, path.parent)
    index(db, folder.config)
    assert wanted == ask(db, "select session_id, calls, messages, title, peak_ctx from sessions_overview order by 1")


def test_a_result_in_another_transcript_has_the_name_of_its_use(folder: ClaudeFolder) -> None:
    """The use stands in one transcript, its result in another: either order, the same."""
    one, other = folder.main(), folder.main(LATER)
    use = one.tool_use("WebFetch", {"url": "https://example.org"})
    one.response(use, context=20_000)
    other.response("hm", context=20_000, request=OMIT)
    other.tool_result(use["id"], "a page")
    first, second = read_in_both_orders(folder, one.write(), other.write())
    assert_same(picture(first), picture(second))
    for db in (first, second):
        said = folder.crusts("usage", "--by", "tool", "--json", "--no-index", "--db", str(db)).json()
        assert ["WebFetch"] == [row["tool"] for row in said["rows"]]
