"""`crusts bench`: /compact measured live and in hindsight, with results that compare."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crusts_index.insight.losses.survivors import compare_results, file_references
from tests.builders import SESSION, ClaudeFolder, Transcript


def begin(folder: ClaudeFolder) -> Transcript:
    """A session of 100,000 tokens, on disk."""
    t = folder.main()
    t.prompt("build it")
    t.response("x " * 50, context=60_000)
    t.prompt("go on")
    t.response("y " * 50, context=100_000, output=100)
    t.write()
    return t


def compact(t: Transcript) -> None:
    """A compaction to 20,000 tokens whose summary names two files."""
    t.boundary("manual", 100_100, 4_000)
    t.summary("We changed src/app.py and docs/plan.md; Math.abs stays, version 2.1.0 too.")
    t.response("here again", context=20_000, output=50)


@pytest.mark.long
def test_a_live_compaction_is_measured(folder: ClaudeFolder, tmp_path: Path) -> None:
    """It waits, sees the boundary, exits 0 and writes the result; the windows are those of the calls."""
    t = begin(folder)
    result = tmp_path / "result.json"
    command = [sys.executable, "-m", "crusts_index", "bench", "compact", SESSION, "--output", str(result), "--json"]
    running = subprocess.Popen(command, env=folder.env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    for line in running.stderr:
        if "waiting" in line:
            break
    time.sleep(0.5)
    compact(t)
    t.write()
    out, err = running.communicate(timeout=60)
    assert 0 == running.returncode, err
    found = json.loads(out)
    assert "compacted" == found["status"]
    assert [100_100, 20_050] == [found[side]["tokensCurrentContext"] for side in ("before", "after")]
    assert -80_050 == found["delta"]["tokensCurrentContext"]
    counted = (found["after"]["messageCount"] - found["before"]["messageCount"], 1)
    assert counted == (found["delta"]["messageCount"], found["delta"]["compactionCount"])
    assert ["docs/plan.md", "src/app.py"] == found["summaryFileRefs"]
    assert found["summaryFileRefs"] == json.loads(result.read_text())["summaryFileRefs"]


@pytest.mark.long
def test_without_a_compaction_the_exit_code_is_2(folder: ClaudeFolder) -> None:
    """The time is up, and the result says so."""
    begin(folder)
    waited = folder.crusts("bench", "compact", SESSION, "--timeout", "1", "--json")
    assert 2 == waited.code
    assert "timeout" == json.loads(waited.out)["status"]


def test_a_session_without_a_transcript_is_an_error(folder: ClaudeFolder) -> None:
    """Nothing can be waited for: exit 1, one line."""
    begin(folder)
    folder.crusts("index")
    next(folder.home.rglob(f"{SESSION}.jsonl")).unlink()
    failed = folder.crusts("bench", "compact", SESSION)
    assert 1 == failed.code
    assert "no longer on disk" in failed.err


def test_past_compactions_make_the_same_results(folder: ClaudeFolder, tmp_path: Path) -> None:
    """`--all` measures what is in the store, one file each; reextract and compare read them."""
    t = begin(folder)
    compact(t)
    t.prompt("more")
    t.response("z " * 80, context=90_000, output=100)
    t.boundary("auto", 90_200, 3_000)
    t.summary("Only src/app.py matters now.")
    t.response("on", context=15_000, output=10)
    t.write()
    found = folder.crusts("bench", "compact", "--all", "--output", str(tmp_path / "results"), "--json").json()
    assert [100_100, 90_100] == [one["before"]["tokensCurrentContext"] for one in found["results"]]
    files = sorted((tmp_path / "results").iterdir())
    assert 2 == len(files)
    compared = folder.crusts("bench", "compare", *map(str, files), "--json").json()
    assert ["docs/plan.md"] == compared["onlyInA"]
    assert ["src/app.py"] == compared["inBoth"]
    document = json.loads(files[1].read_text())
    files[1].write_text(json.dumps(document | {"summaryFileRefs": ["old.py", "older.py"]}))
    again = folder.crusts("bench", "reextract", str(files[1]), "--json").json()
    assert (2, 1) == (again["priorRefCount"], again["newRefCount"])
    assert ["src/app.py"] == json.loads(files[1].read_text())["summaryFileRefs"]


@pytest.mark.parametrize("content", ["", "[]", "{}", "not json"])
def test_what_is_no_result_is_refused(folder: ClaudeFolder, tmp_path: Path, content: str) -> None:
    """One line, exit 1."""
    path = tmp_path / "x.json"
    path.write_text(content)
    for arguments in (["reextract", str(path)], ["compare", str(path), str(path)]):
        refused = folder.crusts("bench", *arguments)
        assert 1 == refused.code
        assert 1 == len(refused.err.strip().splitlines())


def test_file_references_are_files() -> None:
    """Paths and names with a known ending; no calls, versions, or words with a dot."""
    text = "see ./a/b-c.ts, C:\\x\\y.py and Cargo.lock; console.log, Math.abs, 1.2.3, e.g. this, v2.0.1, x.y"
    assert ["./a/b-c.ts", "C:\\x\\y.py", "Cargo.lock"] == file_references(text)


def test_results_that_freed_about_as_much_say_so() -> None:
    """Within a tenth is about as much."""
    a, b = ({"delta": {"tokensCurrentContext": -freed}, "summaryFileRefs": []} for freed in (100_000, 105_000))
    assert "both freed about as much: 100,000 and 105,000 tokens" in compare_results(a, b, ("A", "B"))["insights"]
