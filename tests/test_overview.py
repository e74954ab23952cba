"""`crusts overview`: one page over real transcripts, or over a demo where there are none."""

import json
from pathlib import Path

from tests.builders import ClaudeFolder


def test_a_machine_without_transcripts_is_shown_a_demo(tmp_path: Path) -> None:
    """With nothing to read every section has something in it, and stderr says that it is made up."""
    folder = ClaudeFolder(tmp_path)
    shown = folder.crusts("overview")
    assert 0 == shown.code, shown.err
    assert "made-up demo" in shown.err
    for command in ("index", "list", "usage", "analyze", "readout"):
        assert f"$ crusts {command}" in shown.out
    assert "orchard-api" in shown.out


def test_real_transcripts_are_shown_as_they_are(tmp_path: Path) -> None:
    """Where there is a transcript no demo is written, and --json is one object."""
    folder = ClaudeFolder(tmp_path)
    made = folder.main("3e3ff9aa-4fe6-49c1-8f76-383e69bfb5e2", "-home-ada-site")
    made.prompt("hello")
    made.response({"type": "text", "text": "hi"}, context=1000, output=3)
    made.write()
    shown = folder.crusts("overview", "--json")
    assert 0 == shown.code, shown.err
    assert "demo" not in shown.err
    found = json.loads(shown.out)
    full = folder.crusts("readout", "--full").json()
    assert full.keys() | {"session", "actions"} == found.keys()
    assert (1, made.session, []) == (found["schema_version"], found["session"], found["actions"])
    assert 1 == folder.crusts("usage", "--json").json()["total"]["calls"]
