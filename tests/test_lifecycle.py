"""Transcripts that vanish, return, move, shrink or change, and folders that cannot be read (D3, D4)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import OMIT, ClaudeFolder, Transcript, usage
from tests.picture import ask, assert_same, assert_sound, index, index_named, new_store, one, picture, read, scratch
from tests.profiles import examples
from tests.program import ROOT, folder_for_all
from tests.strategies import folders, write_folder

OTHER = "5e551001-0000-4000-8000-000000000002"
TOTALS = "select count(*), sum(input_tokens), sum(output_tokens), sum(retained) from api_calls"
OWNED = "select sum(owns), sum(owns_result) from tool_uses"
IN_VIEW = """
select count(*) from responses r join transcripts t on t.id = r.transcript_id
where r.id > 0 and t.in_view = 1 and t.superseded = 0
"""


@pytest.fixture
def folder() -> Iterator[ClaudeFolder]:
    """A home with a config folder."""
    with scratch() as home:
        yield ClaudeFolder(home)


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """A transcript with three calls, one of which uses a tool."""
    t = folder.main()
    talk(t)
    return t


def talk(t: Transcript) -> None:
    """A prompt and three calls of 10, 20 and 30 output tokens."""
    t.prompt("go")
    t.response("one", usage=usage(1, output=10))
    t.read("/a.py", "x = 1\n", usage=usage(2, output=20))
    t.response("three", usage=usage(3, output=30))


def path_of(t: Transcript) -> Path:
    """Where the transcript is written."""
    assert t.path is not None
    return t.path


def neighbour(folder: ClaudeFolder) -> Transcript:
    """Another session, so that its root is not empty when the first one goes."""
    other = folder.main(OTHER)
    other.prompt("hello")
    return other


def clean(folder: ClaudeFolder) -> dict[str, Any]:
    """What a new store says of the folder as it is."""
    db = new_store(folder.home, "clean.db")
    index(db, folder.config)
    return picture(db)


# ---------------------------------------------------------------- vanished, and back


def test_a_transcript_that_vanished_is_marked_and_kept(folder: ClaudeFolder, t: Transcript) -> None:
    """Gone is a flag: its rows, calls and texts stay, and it is gone once only."""
    db = read(folder, t, neighbour(folder))
    before = picture(db, past=False)
    path_of(t).unlink()
    assert [1, 0] == [index(db, folder.config).gone for _ in range(2)]
    assert [(0, 1), (1, 0)] == ask(db, "select gone, stem = ? from transcripts order by 1", OTHER)
    assert_same(before, picture(db, past=False))


@pytest.mark.parametrize("how", ["as it was", "touched", "another inode", "grown", "grown elsewhere"])
def test_a_transcript_that_returns_doubles_nothing(folder: ClaudeFolder, t: Transcript, how: str) -> None:
    """Back under its path, unchanged or longer: as if it had never been away."""
    db = read(folder, t, neighbour(folder))
    path, aside = path_of(t), folder.home / "aside.jsonl"
    path.rename(aside)
    index(db, folder.config)
    if how == "another inode":
        shutil.copy2(aside, path)
    else:
        aside.rename(path)
    if how == "touched":
        os.utime(path, (1_790_000_000, 1_790_000_000))
    if how.startswith("grown"):
        t.prompt("on")
        t.append()
    if how == "grown elsewhere":
        shutil.copy(path, aside)
        aside.replace(path)
    index(db, folder.config)
    assert_same(clean(folder), picture(db))


def test_a_root_that_is_missing_or_empty_loses_nothing(folder: ClaudeFolder, t: Transcript) -> None:
    """An unmounted disk is no deletion: nothing is marked gone."""
    db = read(folder, t)
    folder.projects.rename(folder.home / "aside")
    assert 0 == index(db, folder.config).gone
    folder.projects.mkdir()
    assert 0 == index(db, folder.config).gone
    (folder.projects / "-home-ada-site").mkdir()
    assert 0 == index(db, folder.config).gone
    assert 0 == one(db, "select gone from transcripts")


def test_another_root_says_nothing_of_this_one(folder: ClaudeFolder, t: Transcript, tmp_path: Path) -> None:
    """What lies under a root that was not walked stays as it is."""
    db = read(folder, t)
    elsewhere = ClaudeFolder(tmp_path / "elsewhere")
    neighbour(elsewhere).write()
    path_of(t).unlink()
    assert 0 == index(db, elsewhere.config).gone
    assert [(0,), (0,)] == ask(db, "select gone from transcripts")


def test_a_named_transcript_says_nothing_of_others(folder: ClaudeFolder, t: Transcript) -> None:
    """A hook's run looks at one session only: no other is marked gone."""
    other = neighbour(folder)
    db = read(folder, t, other)
    path_of(t).unlink()
    other.prompt("more")
    index_named(db, other.append())
    assert [(0,), (0,)] == ask(db, "select gone from transcripts")


# ---------------------------------------------------------------- moved


def test_a_moved_transcript_counts_once(folder: ClaudeFolder, t: Transcript) -> None:
    """The old place is gone and superseded; totals and the session's own view are those of one transcript."""
    db = read(folder, t, neighbour(folder))
    totals, owned, view = one(db, TOTALS), one(db, OWNED), one(db, IN_VIEW)
    there = folder.project_folder("/home/ada/moved") / path_of(t).name
    there.parent.mkdir()
    path_of(t).rename(there)
    index(db, folder.config)
    assert (totals, owned, view) == (one(db, TOTALS), one(db, OWNED), one(db, IN_VIEW))
    assert [("-home-ada-moved", 0, 0), ("-home-ada-site", 1, 1)] == ask(
        db, "select folder, gone, superseded from transcripts where stem <> ? order by folder", OTHER
    )


def test_a_moved_transcript_goes_on(folder: ClaudeFolder, t: Transcript) -> None:
    """Moved and grown in one go: the new place is the view, with all of it."""
    db = read(folder, t, neighbour(folder))
    there = folder.project_folder("/home/ada/moved") / path_of(t).name
    there.parent.mkdir()
    path_of(t).rename(there)
    t.response("four", usage=usage(4, output=40))
    t.append(there)
    index(db, folder.config)
    assert (4, 10, 100, 0) == one(db, TOTALS)
    assert 4 == one(db, IN_VIEW)


def test_a_copy_that_is_ahead_when_the_other_goes_is_not_superseded(folder: ClaudeFolder, t: Transcript) -> None:
    """Gone, but with a record that stands nowhere else: it is kept as more than a copy."""
    there = folder.project_folder("/home/ada/copy") / path_of(t).name
    there.parent.mkdir()
    t.write(there)
    t.response("only here", usage=usage(4, output=40))
    db = read(folder, t)
    path_of(t).unlink()
    index(db, folder.config)
    assert 0 == one(db, "select max(superseded) from transcripts")
    assert (4, 10, 100, 0) == one(db, TOTALS)


# ---------------------------------------------------------------- rewritten


def test_a_call_whose_bytes_are_gone_is_retained(folder: ClaudeFolder, t: Transcript) -> None:
    """Rewritten in place without a call: it was billed and stays in the totals, flagged, out of the view."""
    db = read(folder, t)
    pieces = list(t.pieces)
    t.pieces = [piece for piece in pieces if b'"one"' not in piece and b'"output_tokens":10' not in piece]
    t.write()
    index(db, folder.config)
    assert (3, 6, 60, 1) == one(db, TOTALS)
    assert 2 == one(db, IN_VIEW)
    assert 10 == one(db, "select output_tokens from api_calls where retained = 1")
    assert_sound(db)
    t.pieces = pieces
    t.write()
    index(db, folder.config)
    assert_same(clean(folder), picture(db))


@pytest.mark.parametrize("keep", [0, 1, 2, 3, 5])
def test_a_truncated_transcript_retains_its_calls(folder: ClaudeFolder, t: Transcript, keep: int) -> None:
    """Cut back to its first lines, also to nothing, and then whole again."""
    db = read(folder, t)
    data = t.data()
    with path_of(t).open("r+b") as file:
        file.truncate(len(b"".join(t.pieces[:keep])))
    index(db, folder.config)
    left = one(db, IN_VIEW)
    assert (3, 6, 60, 3 - left) == one(db, TOTALS)
    assert keep == one(db, "select count(*) from records")
    assert_sound(db)
    path_of(t).write_bytes(data)
    index(db, folder.config)
    assert_same(clean(folder), picture(db))


def test_a_retained_call_keeps_its_rank(folder: ClaudeFolder, t: Transcript) -> None:
    """The original's bytes are gone, a fork's copy is there: still one call, owned by the original."""
    fork = folder.main(OTHER)
    fork.copy(t.lines(), forked=True)
    db = read(folder, t, fork)
    path_of(t).write_bytes(t.pieces[0])
    index(db, folder.config)
    assert (3, 6, 60) == one(db, TOTALS)[:3]
    assert [(t.session, 3)] == ask(
        db, "select t.stem, count(*) from api_calls c join transcripts t on t.id = c.transcript_id group by 1"
    )


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("touched", [None, 1_780_000_000, 1_990_000_000])
def test_a_shared_call_returns_too(folder: ClaudeFolder, t: Transcript, keep: int, touched: int | None) -> None:
    """A call that another session shows too: cut back and whole again, also while the other is read anew."""
    other = folder.main(OTHER)
    for transcript in (t, other):
        transcript.response("both", usage=usage(7), request="req_both", message="msg_both")
    db = read(folder, t, other)
    path_of(t).write_bytes(b"".join(t.pieces[:keep]))
    index(db, folder.config)
    t.write()
    if touched is not None:  # read before or behind the one that returns
        os.utime(path_of(other), (touched, touched))
    index(db, folder.config)
    assert 0 == one(db, "select count(*) from responses where id < 0")
    assert_same(clean(folder), picture(db))


def test_retained_calls_of_several_rewrites_add_up(folder: ClaudeFolder) -> None:
    """Each rewrite leaves other calls: all that was ever billed stays, each once."""
    t = folder.main()
    db = new_store(folder.home)
    for place in range(4):
        t.pieces = []
        t.response(f"call {place}", usage=usage(1, output=10 + place))
        t.response("always", usage=usage(1, output=5), request="req_always", message="msg_always")
        read(folder, t)
    assert (5, 5, 10 + 11 + 12 + 13 + 5, 3) == one(db, TOTALS)
    assert 2 == one(db, IN_VIEW)


@pytest.mark.parametrize("how", ["touched", "cut back and whole again"])
def test_calls_without_any_id_return_too(folder: ClaudeFolder, how: str) -> None:
    """Neither request id nor message id: what is read anew is the call that was there, not one more."""
    t = folder.main()
    for _ in range(2):
        t.response("old", usage=usage(5, output=10), request=OMIT, message=OMIT)
    db = read(folder, t)
    if how == "touched":
        os.utime(path_of(t), (1_790_000_000, 1_790_000_000))
    else:
        path_of(t).write_bytes(t.pieces[0])
        index(db, folder.config)
        assert (2, 10, 20, 1) == one(db, TOTALS)
        t.write()
    index(db, folder.config)
    assert (2, 10, 20, 0) == one(db, TOTALS)


@pytest.mark.parametrize("how", ["touched", "another inode", "same size", "touched and grown", "replaced and grown"])
def test_equal_bytes_are_the_same_transcript(folder: ClaudeFolder, t: Transcript, how: str) -> None:
    """A new time or inode over the same beginning changes nothing; other bytes of equal length are read anew."""
    db = read(folder, t)
    path = path_of(t)
    if "grown" in how:
        t.response("four", usage=usage(4, output=40))
    if how == "same size":
        path.write_bytes(t.data().replace(b'"text":"three"', b'"text":"3hree"'))
    elif how == "another inode" or "replaced" in how:
        aside = folder.home / "aside.jsonl"
        aside.write_bytes(t.data())
        aside.replace(path)
    elif "grown" in how:
        t.append()
    os.utime(path, (1_790_000_000, 1_790_000_000))
    index(db, folder.config)
    assert_same(clean(folder), picture(db))
    if how == "same size":
        assert [("3hree",)] == ask(db, "select text from texts where text like '_hree'")


def test_a_longer_file_with_another_beginning_is_another(folder: ClaudeFolder, t: Transcript) -> None:
    """Same inode and larger, but its first bytes differ: its records are replaced, its calls retained."""
    db = read(folder, t)
    t.pieces = []
    t.ids.seed(99)
    for _ in range(9):
        t.response("new", usage=usage(1, output=1))
    with path_of(t).open("r+b") as file:
        file.write(t.data())
    index(db, folder.config)
    assert (12, 15, 69, 3) == one(db, TOTALS)
    assert 9 == one(db, "select count(*) from records")


Change = tuple[int, str, int]
changes = st.tuples(
    st.integers(0, 5), st.sampled_from(("cut", "delete", "touch", "replace", "scramble")), st.integers(0, 4_000)
)


@pytest.mark.long
@examples(50)
@given(folders(), st.lists(changes, min_size=1, max_size=6))
def test_what_came_back_is_as_it_was(files: dict[str, bytes], todo: list[Change]) -> None:
    """Whatever happened to the files in between, once their bytes are all back the store says what a new one says."""
    with scratch() as home:
        config, db = home / "claude", new_store(home)
        write_folder(config, files)
        index(db, config)
        names = sorted(name for name in files if name.endswith(".jsonl"))
        for place, how, size in todo:
            change(config / names[place % len(names)], how, size)
            index(db, config)
            assert_sound(db)
        write_folder(config, files)
        index(db, config)
        fresh = new_store(home, "clean.db")
        index(fresh, config)
        assert_same(picture(fresh), picture(db))


def change(path: Path, how: str, size: int) -> None:
    """Do something to a transcript that is there."""
    if not path.exists():
        return
    if how == "cut":
        os.truncate(path, min(size, path.stat().st_size))
    elif how == "delete":
        path.unlink()
    elif how == "touch":
        os.utime(path, (1_780_000_000 + size, 1_780_000_000))
    elif how == "replace":
        aside = path.with_suffix(".new")
        aside.write_bytes(path.read_bytes())
        aside.replace(path)
    else:
        path.write_bytes(path.read_bytes()[::-1])


# ---------------------------------------------------------------- another parser


def test_another_parser_reads_live_files_anew(folder: ClaudeFolder, t: Transcript) -> None:
    """What an older parser saw and this one does not see is dropped, not retained; nothing doubles."""
    db = read(folder, t)
    fresh = picture(db)
    with closing(sqlite3.connect(db)) as store, store:
        store.execute("update transcripts set parser = 0")
        for statement in ("update stored_blocks set category = 9, share = 7", "update stored_records set message = 99"):
            store.execute(statement)
        columns = [row[1] for row in store.execute("pragma table_info(stored_responses)")]
        odd = {"id": "id + 1", "request_id": "'ghost'", "message_id": "'ghost'", "shared_call_id": "null"}
        picked = ", ".join(odd.get(column, column) for column in columns)
        store.execute(f"insert into stored_responses select {picked} from stored_responses order by id limit 1")
    assert 1 == index(db, folder.config).changed
    assert_same(fresh, picture(db))
    assert 0 == index(db, folder.config).changed


def test_another_parser_leaves_gone_files_as_they_are(folder: ClaudeFolder, t: Transcript) -> None:
    """There are no bytes to read anew: rows, calls and parser number stay."""
    db = read(folder, t, neighbour(folder))
    path_of(t).unlink()
    index(db, folder.config)
    with closing(sqlite3.connect(db)) as store, store:
        store.execute("update transcripts set parser = 0")
    before = ask(db, "select * from records order by id"), one(db, TOTALS)
    index(db, folder.config)
    assert before == (ask(db, "select * from records order by id"), one(db, TOTALS))
    assert [(0, 1), (1, 0)] == ask(db, "select gone, parser > 0 from transcripts order by gone")


def test_another_parser_and_an_append_in_one_run(folder: ClaudeFolder, t: Transcript) -> None:
    """Both at once: read from the beginning, to the end."""
    db = read(folder, t)
    with closing(sqlite3.connect(db)) as store, store:
        store.execute("update transcripts set parser = 0")
    t.response("four", usage=usage(4, output=40))
    t.append()
    index(db, folder.config)
    assert_same(clean(folder), picture(db))


# ---------------------------------------------------------------- what is a transcript, and what cannot be read


def test_what_is_no_transcript_is_left_alone(folder: ClaudeFolder, t: Transcript) -> None:
    """Tool results, journals and files set aside are not read, wherever they lie."""
    t.write()
    project = path_of(t).parent
    session = project / t.session
    for place in (
        *(project / "journal.jsonl", project / f"{t.session}.jsonl.orphaned-1", project / "x.superseded.jsonl"),
        *(project / "x.jsonl.bak", session / "tool-results" / "big.jsonl", project / "memory" / "MEMORY.jsonl"),
        *(session / "subagents" / "workflows" / "w" / "journal.jsonl", session / "subagents" / "notes.jsonl"),
        *(folder.projects / "stray.jsonl", session / "other" / "agent-x.jsonl"),
    ):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(t.data())
    db = new_store(folder.home)
    assert 1 == index(db, folder.config).files
    assert [(str(path_of(t).resolve()),)] == ask(db, "select path from transcripts")


def test_a_folder_that_is_a_link_is_followed_once(folder: ClaudeFolder, t: Transcript) -> None:
    """A project reached under two names, and a session's subagents behind a link: each real file once."""
    elsewhere = folder.home / "elsewhere"
    agent = folder.subagent()
    agent.prompt("look")
    t.write()
    agent.write()
    project = path_of(t).parent
    project.rename(elsewhere)
    project.symlink_to(elsewhere)
    (folder.projects / "again").symlink_to(elsewhere)
    subagents = elsewhere / t.session / "subagents"
    subagents.rename(folder.home / "agents")
    subagents.symlink_to(folder.home / "agents")
    db = new_store(folder.home)
    assert 2 == index(db, folder.config).files
    assert 2 == one(db, "select count(*) from transcripts where path not like '%/projects/%'")
    assert [(t.session,)] == ask(db, "select session_id from sessions")


def test_a_linked_file_is_read_once(folder: ClaudeFolder, t: Transcript) -> None:
    """A link to a transcript beside it is the same file."""
    t.write()
    path_of(t).with_name(f"{OTHER}.jsonl").symlink_to(path_of(t))
    assert 1 == index(new_store(folder.home), folder.config).files


def test_loops_end(folder: ClaudeFolder, t: Transcript) -> None:
    """Links to a folder above, and links that lead to themselves, are no end and no failure."""
    agent = folder.subagent(under="deep")
    agent.prompt("look")
    agent.write()
    t.write()
    place = path_of(agent).parent
    (place / "up").symlink_to(place.parent)
    (place / "root").symlink_to(folder.projects)
    (folder.projects / "up").symlink_to(folder.projects)
    (folder.projects / "self").symlink_to(folder.projects / "self")
    (path_of(t).parent / "self.jsonl").symlink_to(path_of(t).parent / "self.jsonl")
    db = new_store(folder.home)
    summary = index(db, folder.config)
    assert (2, 2) == (summary.files, one(db, "select count(*) from transcripts"))


def test_a_transcript_that_cannot_be_opened_is_named_and_kept(folder: ClaudeFolder, t: Transcript) -> None:
    """A link to itself in its place: a warning that names it, its rows kept, not marked gone."""
    db = read(folder, t, neighbour(folder))
    before = picture(db)
    path_of(t).unlink()
    path_of(t).symlink_to(path_of(t))
    summary = index(db, folder.config)
    assert [str(path_of(t))] == [path for path, _ in summary.unreadable]
    assert 0 == summary.gone
    assert_same(before, picture(db))


def test_a_folder_that_cannot_be_walked_is_named_and_kept(folder: ClaudeFolder, t: Transcript) -> None:
    """A project that is a link to itself: a warning that names it, nothing in it marked gone."""
    other = folder.main(OTHER, project="/home/ada/other")
    other.prompt("hello")
    db = read(folder, t, other)
    project = path_of(t).parent
    project.rename(folder.home / "aside")
    project.symlink_to(project)
    summary = index(db, folder.config)
    assert [str(project)] == [path for path, _ in summary.unreadable]
    assert (0, [(0,), (0,)]) == (summary.gone, ask(db, "select gone from transcripts"))


def test_folders_without_permission(t: Transcript) -> None:
    """The real command over a project and a transcript it may not read: named on stderr, exit 0, nothing lost."""
    with folder_for_all() as home:
        folder = ClaudeFolder(home)
        mains = [folder.main(f"5e551001-0000-4000-8000-00000000000{n}", f"/p/{n}") for n in range(1, 4)]
        for main in mains:
            talk(main)
            main.write()
        folder_path, file_path = path_of(mains[0]).parent, path_of(mains[1])
        between = f"os.chmod({str(folder_path)!r}, 0); os.utime({str(file_path)!r}); os.chmod({str(file_path)!r}, 0)"
        done = run_twice(folder, between)
        folder_path.chmod(0o777)
        assert 0 == done.returncode, done.stderr
        for path in (folder_path, file_path):
            assert any(str(path) in line and "permission denied" in line for line in done.stderr.splitlines())
        db = home / ".claude-crusts" / "index.db"
        assert [(0, 5)] * 3 == ask(db, "select gone, records from transcripts")


# Root may read everything, so the second run is nobody's; the first has imported all that it needs.
TWO_RUNS = """
import os, subprocess, sys
from crusts_index.__main__ import main
code = main(["index"])
if os.getuid() == 0:
    subprocess.run(["chown", "-R", "65534:65534", os.environ["HOME"]], check=True)
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
exec(sys.argv[1])
sys.exit(code or main(["index"]))
"""


def run_twice(folder: ClaudeFolder, between: str) -> subprocess.CompletedProcess[str]:
    """Index, do something to the files, and index again as a user who may not read everything."""
    return subprocess.run(
        [sys.executable, "-c", TWO_RUNS, between],
        env=folder.env(PYTHONPATH=str(ROOT)),
        cwd=folder.home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_hard_linked_transcript_counts_once(folder: ClaudeFolder, t: Transcript) -> None:
    """Two names for one file in two projects: its calls and tool uses are counted once."""
    t.write()
    there = folder.project_folder("/home/ada/copy") / path_of(t).name
    there.parent.mkdir()
    there.hardlink_to(path_of(t))
    db = read(folder)
    assert (3, 6, 60, 0) == one(db, TOTALS)
    assert (1, 1) == one(db, OWNED)
    assert 3 == one(db, IN_VIEW)


# ---------------------------------------------------------------- sidecars and forgotten sessions


def test_a_sidecar_is_read_when_it_changes_by_itself(folder: ClaudeFolder) -> None:
    """The transcript is as it was; what the `.meta.json` says is new. Later words stand, silence erases nothing."""
    agent = folder.subagent()
    agent.prompt("look")
    db = read(folder, agent)
    said = "select agent_type, agent_description, parent_tool_use_id from transcripts"
    assert (None, None, None) == one(db, said)
    meta = path_of(agent).with_suffix("").with_suffix(".meta.json")
    meta.write_text('{"agentType":"Explore","description":"looks","toolUseId":"toolu_a"}')
    assert 0 == index(db, folder.config).changed
    assert ("Explore", "looks", "toolu_a") == one(db, said)
    meta.write_text('{"agentType":"Plan"}')
    os.utime(meta, (1_790_000_000, 1_790_000_000))
    index(db, folder.config)
    assert "Plan" == one(db, said)[0]


def test_a_forgotten_session_is_not_read_in_again(folder: ClaudeFolder, t: Transcript) -> None:
    """Neither its transcript nor its subagents, in the new place or the old one, nor one named by hand."""
    agent, old, other = folder.subagent(), folder.subagent(agent="old", old_place=True), neighbour(folder)
    for transcript in (agent, old):
        transcript.response("secret", usage=usage(7))
    db = new_store(folder.home)
    with closing(sqlite3.connect(db)) as store, store:
        store.execute("insert into forgotten values (?, 0)", (t.session,))
    read(folder, t, agent, old, other)
    index_named(db, path_of(t), path_of(agent), path_of(old))
    assert [("hello",)] == ask(db, "select text from texts")
    assert 0 == one(db, "select count(*) from api_calls")
    assert [(OTHER,)] == ask(db, "select session_id from sessions")
