"""The law of the index (D4): however a folder came about, the store says what one clean run says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import OMIT, ClaudeFolder, Transcript, usage
from tests.picture import assert_same, assert_sound, index, index_named, new_store, picture, scratch, small_stretches
from tests.profiles import examples
from tests.strategies import Step, folders, histories, write_folder, write_step


def touch_all(config: Path, order: int) -> None:
    """Other modification times, so that files are read in another order."""
    files = sorted(config.rglob("*.jsonl"))
    for place, file in enumerate(files):
        time = 1_790_000_000 + (place * 7 + order) % max(1, len(files)) * 60
        os.utime(file, (time, time))


def assert_as_clean(db: Path, config: Path, order: int = 0, *, views: bool = False) -> None:
    """The store says what a new one says after one run over the folder as it is."""
    touch_all(config, order)
    clean = new_store(db.parent, "clean.db")
    index(clean, config)
    assert_same(picture(db, views=views), picture(clean, views=views))


@pytest.mark.long
@examples(200)
@given(histories(), st.lists(st.integers(0, 2), max_size=10), st.integers(0, 5))
def test_any_history_gives_what_one_clean_run_gives(history: list[Step], runs: list[int], order: int) -> None:
    """Files grow in any order, cut at any byte; after each step come no, one or two runs."""
    with scratch() as folder:
        config, db = folder / "claude", new_store(folder)
        for place, step in enumerate(history):
            write_step(config, step)
            for _ in range(runs[place] if place < len(runs) else 1):
                index(db, config)
        index(db, config)
        again = index(db, config)
        assert (0, 0) == (again.changed, again.bytes_read)
        assert_as_clean(db, config, order, views=True)


@pytest.mark.long
@examples(60)
@given(histories(), st.integers(1, 3_000))
def test_stretches_and_transactions_do_not_show(history: list[Step], size: int) -> None:
    """A transcript read in many small stretches gives the same as one read at once."""
    with scratch() as folder:
        config, db = folder / "claude", new_store(folder)
        for step in history:
            write_step(config, step)
        with small_stretches(size):
            index(db, config)
        assert_as_clean(db, config)


@pytest.mark.long
@examples(40)
@given(histories(damaged=False), st.integers(0, 5))
def test_files_read_by_name_give_the_same(history: list[Step], order: int) -> None:
    """Hooks name one transcript at a time: the sessions so read, then a whole run, give the same."""
    with scratch() as folder:
        config, db = folder / "claude", new_store(folder)
        for step in history:
            path = write_step(config, step)
            if path.suffix == ".jsonl":
                index_named(db, path)
        index(db, config)
        assert_as_clean(db, config, order)


@pytest.mark.long
@examples(15)
@given(histories())
def test_workers_do_not_show(history: list[Step]) -> None:
    """Two workers give what one gives, for new files and for appends."""
    with scratch() as folder:
        config, db = folder / "claude", new_store(folder)
        middle = len(history) // 2
        for part in (history[:middle], history[middle:]):
            for step in part:
                write_step(config, step)
            index(db, config, jobs=2)
        assert_as_clean(db, config)


@pytest.mark.long
@examples(40)
@given(folders(), st.integers(0, 10_000))
def test_two_places_hold_the_same(files: dict[str, bytes], seed: int) -> None:
    """The same folder elsewhere, its files written and read one after the other, gives the same."""
    with scratch() as folder:
        here, there, db = folder / "a", folder / "b", new_store(folder)
        write_folder(here, files)
        index(db, here)
        stepwise = new_store(folder, "stepwise.db")
        names = sorted(files)
        while names:
            name = names.pop(seed % len(names))
            write_folder(there, {name: files[name]})
            index(stepwise, there)
        assert_same(picture(db, here), picture(stepwise, there))


@pytest.mark.long
def test_a_line_cut_at_any_byte(tmp_path: Path) -> None:
    """Each byte of a line, also inside a character and before its line end, may be the last one of a run."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("one")
    t.response("two", context=1_000)
    before = len(t.data())
    t.meta("custom-title", customTitle="naïve 🧪 “café”")
    t.response("three", context=2_000)
    data = t.data()
    path = t.write()
    whole = new_store(tmp_path, "whole.db")
    index(whole, folder.config)
    wanted = picture(whole)
    line_end = data.index(b"\n", before) + 1
    odd = data.index("ï".encode())
    for cut in [*range(before, line_end, 9), *range(odd, line_end + 2), *range(line_end + 2, len(data) + 1, 37)]:
        db = new_store(tmp_path)
        path.write_bytes(data[:cut])
        index(db, folder.config)
        with path.open("ab") as file:
            file.write(data[cut:])
        index(db, folder.config)
        assert_same(picture(db), wanted)


def assert_same_in_pieces(folder: ClaudeFolder, t: Transcript) -> None:
    """A run after each line, and stretches of one line each, give what one run over the whole gives."""
    path = t.write()
    clean = new_store(folder.home, "clean.db")
    index(clean, folder.config)
    wanted = picture(clean)
    db = new_store(folder.home)
    with small_stretches(1):
        index(db, folder.config)
    assert_same(wanted, picture(db))
    db = new_store(folder.home)
    path.write_bytes(b"")
    for line in t.lines():
        with path.open("ab") as file:
            file.write(line)
        index(db, folder.config)
    assert_same(wanted, picture(db))


def test_a_text_that_is_no_uuid_names_the_last_record_that_bears_it(folder: ClaudeFolder) -> None:
    """Records that share such a text take the branch and epoch of the nearest before them, in pieces too."""
    t = folder.main()
    odd = "[trimmed]"
    first = t.prompt("one", uuid=odd)
    t.boundary(uuid=odd)
    t.attachment("file", content="x", envelope={"uuid": odd, "parentUuid": first})
    root = t.prompt("two", parentUuid=None)
    t.prompt("three", parentUuid=root)
    t.prompt("four", parentUuid=root, uuid=odd)
    t.prompt("five", parentUuid=odd)
    assert_same_in_pieces(folder, t)


def test_a_uuid_that_stands_twice_names_the_first_record_that_bears_it(folder: ClaudeFolder) -> None:
    """The later one is kept and flagged; what names it as its parent follows the first, in pieces too."""
    t = folder.main()
    first = t.prompt("one")
    second = t.response("two", context=1_000)
    t.boundary()
    t.prompt("three", parentUuid=first)
    t.prompt("four", uuid=first, parentUuid=second)
    t.response("five", context=2_000, parentUuid=first)
    t.prompt("six", parentUuid=second)
    t.prompt("seven", uuid=second, parentUuid=None)
    t.prompt("eight", parentUuid=second)
    assert_same_in_pieces(folder, t)


def test_a_request_without_a_message_id_is_a_message_of_its_own(folder: ClaudeFolder) -> None:
    """Also behind one of the same request that has an id, and where an id is spelt like a request."""
    t = folder.main()
    t.response("one", context=1_000, request="req_a", message="msg_a")
    t.response("two", context=1_000, request="req_a", message=OMIT)
    t.response("three", context=2_000, request="req_b", message="req_a")
    t.response("four", context=2_000, request="req_a", message=OMIT)
    assert_same_in_pieces(folder, t)


def test_a_result_of_a_use_inside_a_progress_record_follows_what_stands_before_it(folder: ClaudeFolder) -> None:
    """A progress record says where an agent was, not on which branch the main thread's result belongs."""
    t = folder.main()
    root = t.prompt("one")
    said = Transcript(t.session, agent="a1", clock=t.clock)
    said.response(said.tool_use("Read", {"file_path": "/a.py"}, "toolu_a"), usage=usage(9))
    t.agent_progress("a1", said.lines())
    t.prompt("two", parentUuid=root)
    t.prompt("three", parentUuid=root)
    t.tool_result("toolu_a", "x", parentUuid="7e551001-0000-4000-8000-000000000007")
    assert_same_in_pieces(folder, t)


def test_reads_are_told_in_the_order_of_their_uses(folder: ClaudeFolder) -> None:
    """A result that stands before its use gives the row an earlier place, but is no earlier read."""
    t = folder.main()
    late, soon = (t.tool_use("Read", {"file_path": "/a.py"}) for _ in range(2))
    t.tool_result(late["id"], "x")
    t.response(soon, context=1_000)
    t.response(late, context=2_000)
    t.read("/a.py", context=3_000)
    t.edit("/a.py", context=4_000)
    t.read("/a.py", context=5_000)
    assert_same_in_pieces(folder, t)


def test_the_command_gives_what_one_clean_run_gives(tmp_path: Path) -> None:
    """The real command, run after each append, with one worker and with two, over copies and subagents."""
    folder = ClaudeFolder(tmp_path)
    first, agent = folder.main(), folder.subagent(meta={"agentType": "Explore", "toolUseId": "toolu_x"})
    fork = folder.main("5e551001-0000-4000-8000-000000000009")
    write_two_turns(first, "/home/ada/site/a.py")
    first.write()
    assert 0 == folder.crusts("index", "--jobs", "1").code
    write_two_turns(agent, "/home/ada/site/b.py")
    agent.write()
    assert 0 == folder.crusts("index", "--jobs", "2").code
    fork.copy(first.lines(), forked=True)
    write_two_turns(fork, "/home/ada/site/c.py")
    fork.write()
    write_two_turns(first, "/home/ada/site/a.py")
    first.append()
    assert 0 == folder.crusts("index", "--jobs", "2").code
    done = folder.crusts("index", "--json")
    assert 0 == done.json()["changed"]
    db = tmp_path / ".claude-crusts" / "index.db"
    assert_sound(db)
    assert_as_clean(db, folder.config, views=True)


def write_two_turns(t: Transcript, path: str) -> None:
    """A prompt, a read, an edit, the read again and an answer."""
    t.prompt("look at it")
    t.read(path, "x = 1\n" * 30, context=20_000)
    t.edit(path, context=21_000)
    t.read(path, "x = 2\n" * 30, context=22_000)
    t.response("done", context=23_000)
