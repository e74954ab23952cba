"""Finding transcripts: what is read, what is left alone, and what is noted (D3)."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from crusts_index.index.find import Walk
from tests.builders import SESSION, ClaudeFolder


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """A config folder with one session."""
    made = ClaudeFolder(tmp_path)
    t = made.main()
    t.prompt("hello")
    t.response("hi", context=1_000)
    t.write()
    return made


def test_a_name_that_is_no_text_is_noted_and_the_rest_is_read(folder: ClaudeFolder) -> None:
    """A folder and a file whose names are not UTF-8: a line each on stderr, exit 0, everything else is there."""
    (transcript,) = folder.home.rglob(f"{SESSION}.jsonl")
    projects = os.fsencode(transcript.parent.parent)
    os.mkdir(projects + b"/-w-\xff")
    shutil.copy(transcript, projects + b"/-w-\xff/" + os.fsencode(transcript.name))
    shutil.copy(transcript, os.fsencode(transcript.parent) + b"/x\xfe.jsonl")
    found = folder.crusts("index", "--json")
    assert 0 == found.code
    assert 1 == found.json()["files"]
    assert 2 == found.err.count("not UTF-8")


@pytest.mark.parametrize("what", ["file", "folder", "agents", "agent"])
def test_a_link_to_a_name_that_is_no_text_is_noted_and_the_rest_is_read(folder: ClaudeFolder, what: str) -> None:
    """The link's own name is text, what it leads to is not: no run ends, and a hook finds no more than a run."""
    (transcript,) = folder.home.rglob(f"{SESSION}.jsonl")
    elsewhere = Path(os.fsdecode(os.fsencode(folder.home) + b"/else-\xff"))
    session = transcript.parent / SESSION
    places = {"agents": "subagents/agent-a.jsonl", "agent": "agent-a.jsonl"}
    target = elsewhere / places.get(what, "5e551001-0000-4000-8000-000000000009.jsonl")
    target.parent.mkdir(parents=True)
    shutil.copy(transcript, target)
    link, to = {
        "file": (transcript.with_name(target.name), target),
        "folder": (transcript.parent.parent / "-linked", elsewhere),
        "agents": (session, elsewhere),
        "agent": (session / "subagents" / target.name, target),
    }[what]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(to)
    hook = json.dumps({"session_id": SESSION, "transcript_path": str(transcript), "hook_event_name": "Stop"})
    assert 0 == folder.crusts("index", "--hook", stdin=hook).code
    for args in (("index", "--json"), ("index", "--json"), ("index", "--rebuild", "--json")):
        found = folder.crusts(*args)
        assert (0, 1, 0) == (found.code, found.json()["files"], found.json()["gone"])
        assert "not UTF-8" in found.err


def test_what_is_no_transcript_is_left_alone(folder: ClaudeFolder) -> None:
    """Journals, spilled results, files set aside, folders and pipes named like transcripts."""
    (transcript,) = folder.home.rglob(f"{SESSION}.jsonl")
    project = transcript.parent
    for name in (f"{SESSION}.jsonl.orphaned-1", f"{SESSION}.superseded.jsonl", "journal.jsonl"):
        shutil.copy(transcript, project / name)
    (project / SESSION / "tool-results").mkdir(parents=True)
    shutil.copy(transcript, project / SESSION / "tool-results" / "x.jsonl")
    (project / "folder.jsonl").mkdir()
    os.mkfifo(project / "pipe.jsonl")
    walk = Walk(str(project.parent))
    assert [str(transcript)] == [one.path for one in walk.transcripts()]


def test_a_loop_of_links_ends_and_each_file_is_read_once(folder: ClaudeFolder) -> None:
    """A link to the projects folder inside it, and a second name for a transcript."""
    (transcript,) = folder.home.rglob(f"{SESSION}.jsonl")
    (transcript.parent.parent / "loop").symlink_to(transcript.parent.parent)
    (transcript.parent / "9e551001-0000-4000-8000-000000000009.jsonl").symlink_to(transcript)
    walk = Walk(str(transcript.parent.parent))
    assert [str(transcript)] == [one.path for one in walk.transcripts()]


def test_folders_deep_in_one_another(folder: ClaudeFolder) -> None:
    """Deeper than functions may call themselves: each agent below them is found."""
    (transcript,) = folder.home.rglob(f"{SESSION}.jsonl")
    top = place = transcript.with_suffix("") / "subagents"
    try:
        for _ in range(1_200):
            place /= "a"
            place.mkdir(parents=True, exist_ok=True)
        shutil.copy(transcript, place / "agent-a1.jsonl")
        walk = Walk(str(transcript.parent.parent))
        assert [str(transcript), str(place / "agent-a1.jsonl")] == sorted(one.path for one in walk.transcripts())
    finally:
        subprocess.run(["rm", "-rf", str(top)], check=True)  # pytest, which clears old folders, calls itself


def test_a_pipe_in_the_place_of_a_sidecar(folder: ClaudeFolder) -> None:
    """It says nothing, and holds nobody up."""
    agent = folder.subagent(agent="a1")
    agent.prompt("look")
    os.mkfifo(agent.write().with_suffix(".meta.json"))
    found = folder.crusts("index", "--json")
    assert (0, 2) == (found.code, found.json()["files"])
