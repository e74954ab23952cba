"""Gone is gone, and back is back: whatever ran in between, the next plain index knows what is on disk (D4)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.index.run import Options, Summary, index_files, index_roots
from crusts_index.store.open import open_store
from tests.builders import SESSION, ClaudeFolder, Transcript
from tests.picture import ask, assert_same, index, index_named, new_store, one, picture, scratch
from tests.profiles import examples

NAMES = tuple(f"5e551001-0000-4000-8000-00000000000{n}" for n in range(1, 5))
ODD_FOLDERS = ("-p", "subagents", "x.jsonl", "a.b.c", "line\nbreak", "agent-x", "naïve 🧪", "projects", ".hidden")


@pytest.fixture
def folder() -> Iterator[ClaudeFolder]:
    """A home with a config folder."""
    with scratch() as home:
        yield ClaudeFolder(home)


def lay(root: Path, place: str, session: str = SESSION) -> Path:
    """A short transcript of a session in a project folder of a root."""
    path = root / place / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    t = Transcript(session)
    t.prompt("hello")
    t.response("hi", context=1_000)
    path.write_bytes(t.data())
    return path


def is_there(path: str) -> bool:
    """Whether a transcript lies there: not behind a link, which is another place."""
    return os.path.isfile(path) and os.path.realpath(path) == path


def on_disk(db: Path) -> dict[str, bool]:
    """Of every transcript that the store holds for there, whether it is."""
    return {path: is_there(path) for (path,) in ask(db, "select path from transcripts")}


def held(db: Path) -> dict[str, bool]:
    """Of every transcript, whether the store holds it for there."""
    return {path: not gone for path, gone in ask(db, "select path, gone from transcripts")}


def run(db: Path, root: Path, **options: object) -> Summary:
    """One run over a projects folder."""
    with closing(open_store(db, write=True)) as store:
        return index_roots(store, str(db), [str(root)], Options(jobs=1, **options))  # type: ignore[arg-type]


Between = Callable[[ClaudeFolder, Path, Path], object]
BETWEEN: dict[str, Between] = {
    "nothing": lambda folder, db, other: None,
    "a run that saw an empty root": lambda folder, db, other: index(db, folder.config),
    "a hook": lambda folder, db, other: index_named(db, lay(folder.projects, "-p", NAMES[3])),
    "a report's run": lambda folder, db, other: run(db, folder.projects, seconds=0.0, kind="report"),
    "a run that left all for later": lambda folder, db, other: run(db, folder.projects, most_bytes=0),
    "a run with another root": lambda folder, db, other: index(db, other),
}


@pytest.mark.parametrize("between", BETWEEN)
def test_what_vanished_is_gone_whatever_ran_in_between(folder: ClaudeFolder, tmp_path: Path, between: str) -> None:
    """All is swept, something else runs, something new comes: the plain index marks what was swept, and it returns."""
    lay(tmp_path / "projects", "-other", NAMES[2])
    db = new_store(folder.home)
    paths = [lay(folder.projects, "-p", NAMES[0]), lay(folder.projects, "-q", NAMES[1])]
    index(db, folder.config)
    before = picture(db)
    aside = folder.home / "aside"
    aside.mkdir()
    for path in paths:
        path.rename(aside / path.name)
    BETWEEN[between](folder, db, tmp_path)
    BETWEEN[between](folder, db, tmp_path)
    new = lay(folder.projects, "-r", NAMES[3])
    index(db, folder.config)
    assert on_disk(db) == held(db)
    assert not held(db)[str(paths[0])]
    for path in paths:
        (aside / path.name).rename(path)
    new.unlink()
    (folder.projects / "-p" / f"{NAMES[3]}.jsonl").unlink(missing_ok=True)
    BETWEEN[between](folder, db, tmp_path)
    index(db, folder.config)
    assert on_disk(db) == held(db)
    if between == "nothing":
        kept = {name: [row for row in rows if NAMES[3] not in str(row)] for name, rows in picture(db).items()}
        assert before["transcripts"] == kept["transcripts"]


def test_a_hook_reads_what_then_vanishes(folder: ClaudeFolder) -> None:
    """A transcript that only a hook's run saw is gone all the same, in a folder that looks as it did before."""
    db = new_store(folder.home)
    lay(folder.projects, "-p", NAMES[0])
    index(db, folder.config)
    second = lay(folder.projects, "-p", NAMES[1])
    index_named(db, second)
    second.unlink()
    index(db, folder.config)
    assert on_disk(db) == held(db)


def test_a_run_that_ended_early_leaves_no_trace(folder: ClaudeFolder) -> None:
    """A first run is cut short behind one transcript, which is deleted before the next one."""
    db = new_store(folder.home)
    lay(folder.projects, "-p", NAMES[0])
    index(db, folder.config)
    late = lay(folder.projects, "-p", NAMES[1])
    with closing(open_store(db, write=True)) as store, pytest.raises(KeyboardInterrupt):
        index_roots(store, str(db), [str(folder.projects)], Options(jobs=1, progress=_stop))
    run(db, folder.projects, seconds=0.0)
    late.unlink()
    index(db, folder.config)
    assert on_disk(db) == held(db)


def _stop(*_: int) -> None:
    raise KeyboardInterrupt


def test_a_mark_that_is_wrong_is_set_right(folder: ClaudeFolder) -> None:
    """Two runs that cross may leave a transcript marked that is there: the next one finds it."""
    db = new_store(folder.home)
    lay(folder.projects, "-p")
    index(db, folder.config)
    with closing(open_store(db, write=True)) as store:
        store.execute("update transcripts set gone = 1")
    index(db, folder.config)
    assert on_disk(db) == held(db)


@pytest.mark.parametrize("place", ["a transcript", "a project folder", "a session's subagents"])
def test_a_link_to_nothing_is_gone(folder: ClaudeFolder, place: str) -> None:
    """What a link led to outside the root is deleted: marked gone, without a warning; it returns, and is back."""
    db, elsewhere = new_store(folder.home), folder.home / "elsewhere"
    lay(folder.projects, "-p", NAMES[1])
    target = lay(elsewhere, "in")
    if place == "a transcript":
        (folder.projects / "-p" / target.name).symlink_to(target)
    elif place == "a project folder":
        (folder.projects / "-linked").symlink_to(target.parent)
    else:
        target = target.rename(target.with_name("agent-a1.jsonl"))
        (folder.projects / "-p" / NAMES[1]).mkdir()
        (folder.projects / "-p" / NAMES[1] / "subagents").symlink_to(target.parent)
    index(db, folder.config)
    assert [True, True] == list(held(db).values())
    before = picture(db)
    elsewhere.rename(folder.home / "aside")
    summary = index(db, folder.config)
    assert (1, []) == (summary.gone, summary.unreadable)
    assert on_disk(db) == held(db)
    (folder.home / "aside").rename(elsewhere)
    index(db, folder.config)
    assert_same(before, picture(db))


def test_a_transcript_that_became_something_else_is_gone(folder: ClaudeFolder) -> None:
    """A folder in its place, or a link through a file that was a folder."""
    db = new_store(folder.home)
    lay(folder.projects, "-p", NAMES[0])
    path, target = lay(folder.projects, "-p", NAMES[1]), lay(folder.home / "elsewhere", "in", NAMES[2])
    (folder.projects / "-p" / target.name).symlink_to(target)
    index(db, folder.config)
    path.unlink()
    path.mkdir()
    shutil.rmtree(target.parent)
    target.parent.write_text("a file now")
    summary = index(db, folder.config)
    assert (2, []) == (summary.gone, summary.unreadable)


@pytest.mark.long
@pytest.mark.parametrize("how", ["by a run", "by a hook", "by a hook without roots"])
@pytest.mark.parametrize("name", ODD_FOLDERS)
def test_a_project_folder_may_have_any_name(folder: ClaudeFolder, name: str, how: str) -> None:
    """Read by a run or by name, its transcripts and their subagents say the same, and vanish."""
    db = new_store(folder.home)
    main = lay(folder.projects, name)
    old = lay(folder.projects, name).with_name("agent-old.jsonl")
    agent = folder.projects / name / SESSION / "subagents" / "deep" / "agent-new.jsonl"
    agent.parent.mkdir(parents=True)
    for path in (old, agent):
        path.write_bytes(main.read_bytes())
    agent.with_name("agent-new.meta.json").write_text('{"agentType":"Explore"}')
    clean = new_store(folder.home, "clean.db")
    index(clean, folder.config)
    assert 3 == one(clean, "select count(*) from transcripts where folder = ?", name)
    if how != "by a run":
        roots = [str(folder.projects)] if how == "by a hook" else []
        with closing(open_store(db, write=True)) as store:
            for path in (main, agent) if name == "subagents" and not roots else (agent, old, main):
                index_files(store, str(db), [str(path)], Options(jobs=1), roots)
    index(db, folder.config)
    assert_same(picture(clean), picture(db))
    lay(folder.projects, "-other", NAMES[1])
    shutil.rmtree(folder.projects / name)
    index(db, folder.config)
    assert on_disk(db) == held(db)


def test_a_transcript_that_was_taken_for_another_is_read_again(folder: ClaudeFolder) -> None:
    """Named without its root, its place was misread; the run that sees it is killed, the next one sets it right."""
    db, clean = new_store(folder.home), new_store(folder.home, "clean.db")
    path = lay(folder.projects, "subagents").rename(folder.projects / "subagents" / "agent-a1.jsonl")
    with closing(open_store(db, write=True)) as store:
        index_files(store, str(db), [str(path)], Options(jobs=1))
        with pytest.raises(KeyboardInterrupt):
            index_roots(store, str(db), [str(folder.projects)], Options(jobs=1, progress=_stop))
    index(db, folder.config)
    index(clean, folder.config)
    assert_same(picture(clean), picture(db))


def test_a_hook_names_a_transcript_by_a_link(folder: ClaudeFolder) -> None:
    """The payload says the path as Claude Code knows it, through linked folders; a run finds the same transcript."""
    db, elsewhere = new_store(folder.home), folder.home / "elsewhere"
    target = lay(elsewhere, "in")
    lay(folder.projects, "-p", NAMES[1])
    (folder.projects / "-linked").symlink_to(target.parent)
    with closing(open_store(db, write=True)) as store:
        named = str(folder.projects / "-linked" / target.name)
        index_files(store, str(db), [named], Options(jobs=1), [str(folder.projects)])
    index(db, folder.config)
    clean = new_store(folder.home, "clean.db")
    index(clean, folder.config)
    assert_same(picture(clean), picture(db))


@pytest.mark.parametrize("is_agents_own", [False, True])
@pytest.mark.parametrize("linked", ["", "subagents", "subagents/flow"])
def test_a_hook_comes_to_agents_by_linked_folders(folder: ClaudeFolder, linked: str, is_agents_own: bool) -> None:
    """The folder of a session, or one below it, is a link: hook and run call its transcripts the same."""
    main = lay(folder.projects, "-p")
    below = main.with_suffix("") / linked
    inside = Path("subagents/flow/agent-a.jsonl").relative_to(linked)
    target = folder.home / "elsewhere" / inside
    target.parent.mkdir(parents=True)
    agent = Transcript(SESSION, path=target, agent="a")
    agent.response("done", context=100)
    agent.write()
    below.parent.mkdir(parents=True, exist_ok=True)
    below.symlink_to(folder.home / "elsewhere")
    db, clean = new_store(folder.home), new_store(folder.home, "clean.db")
    named = str(below / inside) if is_agents_own else str(main)
    with closing(open_store(db, write=True)) as store:
        for _ in range(2):
            index_files(store, str(db), [named], Options(jobs=1), [str(folder.projects)])
    assert 0 == index(db, folder.config).gone
    index(clean, folder.config)
    assert_same(picture(clean), picture(db))


def test_a_transcript_that_lies_in_two_roots_is_of_the_one_it_lies_in(folder: ClaudeFolder, tmp_path: Path) -> None:
    """Linked from another root: whatever order the roots come in, and it stays when the link goes."""
    here, there = folder.projects, tmp_path / "there" / "projects"
    path = lay(here, "-p")
    there.mkdir(parents=True)
    (there / "-linked").symlink_to(path.parent)
    lay(there, "-q", NAMES[1])
    for roots in ((here, there), (there, here)):
        db = new_store(folder.home)
        index(db, *(root.parent for root in roots))
        assert str(here.resolve()) == one(db, "select root from transcripts where path = ?", str(path))
        again = index(db, *(root.parent for root in roots))
        assert (0, 0, 0) == (again.changed, again.gone, again.bytes_read)
    (there / "-linked").unlink()
    index(db, here.parent, there.parent)
    index(db, there.parent)
    assert on_disk(db) == held(db)


def hook(db: Path, path: Path, root: Path) -> None:
    """What a hook does that names a transcript."""
    with closing(open_store(db, write=True)) as store:
        index_files(store, str(db), [str(path)], Options(jobs=0), [str(root)])


Move = tuple[str, int]
MOVES = ("write", "delete", "hook", "other", "report", "aside", "back", "plain", "link", "sweep")


@pytest.mark.long
@examples(60)
@given(st.lists(st.tuples(st.sampled_from(MOVES), st.integers(0, 3)), min_size=3, max_size=14))
def test_a_plain_run_knows_what_is_there(moves: list[Move]) -> None:
    """Files come, vanish and return while runs of all kinds go on: at the end a plain run has every mark right."""
    with scratch() as home:
        folder, other, db = ClaudeFolder(home), home / "other", new_store(home)
        lay(other / "projects", "-other", NAMES[3])
        for move, number in [*moves, ("back", 0)]:
            _make(folder, other, db, move, number)
        lay(folder.projects, "-last")
        index(db, folder.config)
        told = held(db)
        told.pop(str(other / "projects" / "-other" / f"{NAMES[3]}.jsonl"), None)
        assert {path: is_there(path) for path in told} == told
        again = index(db, folder.config)
        assert (0, 0, 0) == (again.changed, again.gone, again.bytes_read)


def _make(folder: ClaudeFolder, other: Path, db: Path, move: str, number: int) -> None:
    path = folder.projects / f"-p{number % 2}" / f"{NAMES[number]}.jsonl"
    aside = folder.home / "aside"
    if move == "write" and not aside.exists() and not path.is_symlink():
        lay(folder.projects, f"-p{number % 2}", NAMES[number])
    elif move == "link" and not aside.exists() and not os.path.lexists(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(lay(folder.home / "elsewhere", "in", NAMES[number]))
    elif move == "delete":
        shutil.rmtree(folder.home / "elsewhere", ignore_errors=True)
        path.unlink(missing_ok=True)
    elif move == "sweep":
        shutil.rmtree(folder.home / "elsewhere", ignore_errors=True)
        for file in folder.projects.glob("*/*.jsonl"):
            file.unlink()
    elif move == "aside" and folder.projects.exists():
        folder.projects.rename(aside)
    elif move == "back" and aside.exists():
        aside.rename(folder.projects)
    elif move == "hook" and path.is_file():
        hook(db, path, folder.projects)
    elif move == "other":
        index(db, other)
    elif move == "report":
        run(db, folder.projects, seconds=0.0, kind="report")
    elif move == "plain":
        index(db, folder.config)
