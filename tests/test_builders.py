"""The makers of transcripts make what they say."""

import json
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.builders import OMIT, ClaudeFolder, Transcript, usage
from tests.strategies import Step, folders, histories, write_folder, write_step


def records(transcript: Transcript) -> list[dict]:
    """The lines, parsed."""
    return [json.loads(line) for line in transcript.lines()]


def test_a_response_is_one_line_a_block_with_shared_ids() -> None:
    """Lines of one response share request id, message id and usage, except for a placeholder's output."""
    t = Transcript()
    t.response("first", t.tool_use("Bash", {"command": "ls"}), usage=usage(5, 100, 900, 70), placeholder=1)
    first, last = records(t)
    assert first["requestId"] == last["requestId"]
    assert first["message"]["id"] == last["message"]["id"]
    assert [line["message"]["usage"]["output_tokens"] for line in (first, last)] == [1, 70]
    assert last["message"]["stop_reason"] == "tool_use"
    assert last["parentUuid"] == first["uuid"]


def test_ids_are_well_formed_and_repeat() -> None:
    """The same calls give the same bytes, and every uuid is one."""

    def make() -> Transcript:
        t = Transcript()
        t.prompt("hello")
        t.read("/a.py", "import os\n", request=OMIT)
        t.boundary("manual", 160_000, 9_000)
        t.summary()
        return t

    assert make().data() == make().data()
    ids = [record["uuid"] for record in records(make())]
    assert [str(uuid.UUID(text)) for text in ids] == ids
    assert len(set(ids)) == len(ids)


def test_a_rewind_and_a_sidechain_have_their_own_parents() -> None:
    """A prompt may go back to an earlier record; a sidechain has a root of its own."""
    t = Transcript()
    start = t.prompt("one")
    answer = t.response("done")
    t.sidechain().prompt("look around")
    t.prompt("two, instead", parentUuid=start)
    side, rewound = records(t)[2:]
    assert (side["isSidechain"], side["parentUuid"]) == (True, None)
    assert rewound["parentUuid"] == start != answer


def test_append_writes_only_what_is_new(tmp_path: Path) -> None:
    """`write` and then `append` leave the whole transcript, each line once."""
    t = ClaudeFolder(tmp_path).main(project="/home/ada/my_site")
    t.prompt("one")
    path = t.write()
    t.prompt("two")
    t.append()
    assert path.parent.name == "-home-ada-my-site"
    assert path.read_bytes() == t.data()


def test_half_an_emoji_is_written_as_its_escape() -> None:
    """A lone surrogate reaches the file as JSON.stringify writes it: valid UTF-8, invalid text."""
    t = Transcript()
    t.prompt("\ud83d cut")
    assert b"\\ud83d cut" in t.data()
    t.data().decode("utf-8")


@settings(max_examples=25, deadline=None)
@given(folders(odd=False, damaged=False))
def test_undamaged_folders_hold_whole_records(files: dict[str, bytes]) -> None:
    """Without damage every line of every drawn transcript is a JSON object with a type."""
    lines = [line for data in files.values() for line in data.splitlines()]
    assert all(isinstance(json.loads(line), dict) for line in lines)


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(histories())
def test_a_history_adds_up_to_a_folder(tmp_path_factory, history: list[Step]) -> None:
    """Written step by step or at once, the files are the same."""
    whole: dict[str, bytes] = {}
    for name, data in history:
        whole[name] = whole.get(name, b"") + data
    stepwise, at_once = tmp_path_factory.mktemp("steps"), tmp_path_factory.mktemp("whole")
    for step in history:
        write_step(stepwise, step)
    write_folder(at_once, whole)
    assert {p.relative_to(stepwise): p.read_bytes() for p in stepwise.rglob("*") if p.is_file()} == {
        p.relative_to(at_once): p.read_bytes() for p in at_once.rglob("*") if p.is_file()
    }
