"""The made-up folder of `crusts demo`: well formed, the same every time, coherent, and nobody else's."""

import io
import json
import os
import re
import zipfile
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from crusts_index.claude.demo import MARKER, RECORDED_AT, RECORDED_IN, recording, unpacked, write_demo
from crusts_index.claude.roots import project_slug, slugged
from crusts_index.errors import CrustsError
from tests.builders import ClaudeFolder
from tests.demo_recorder import packed, record_demo

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
INPUTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")

Record = dict[str, Any]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One demo for the tests that only look."""
    folder = tmp_path_factory.mktemp("demo") / "claude"
    write_demo(folder, NOW)
    return folder


def transcripts(folder: Path) -> dict[str, list[Record]]:
    """Records of every transcript by file name; fails on a line that is not a JSON object."""
    found = {}
    for path in sorted(folder.glob("projects/**/*.jsonl")):
        data = path.read_bytes()
        assert data.endswith(b"\n")
        found[path.stem] = [json.loads(line) for line in data[:-1].split(b"\n")]
    return found


def calls(records: list[Record]) -> list[Record]:
    """The last line of each API call, in the order of their first lines."""
    last = {record["requestId"]: record for record in records if "requestId" in record}
    return list(last.values())


def context(record: Record) -> int:
    """Input-side tokens of a call."""
    return sum(record["message"]["usage"][name] for name in INPUTS)


def rewinds(records: list[Record]) -> int:
    """Prompts whose parent already has a prompt as its child."""
    parents = [record["parentUuid"] for record in records if "promptSource" in record]
    return len(parents) - len(set(parents))


def times(data: bytes) -> list[datetime]:
    """Every moment that a transcript names, in its order."""
    found = re.findall(rb"\d{4}-\d\d-\d\dT[\d:.]+Z", data)
    return [datetime.fromisoformat(text.decode()) for text in found]


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and mtime of every file below a folder, by relative path."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and path.name != MARKER
    }


def test_the_recorded_file_is_what_the_recorder_makes() -> None:
    """Every file; after a change of what is told, `python -m tests.demo_recorder` records again.

    How well a picture is compressed depends on the zlib that is installed.
    """
    pictures = re.compile(rb"iVBORw0KGgo[A-Za-z0-9+/=]+")
    made, recorded = (
        {name: pictures.sub(b"", data) for name, data in files} for files in (record_demo().items(), recording())
    )
    assert made == recorded


def test_recorded_twice_the_file_is_the_same() -> None:
    """No time of recording and no order of the moment is in it, and whoever unpacks it sees plain files."""
    files = record_demo()
    data = packed(files)
    assert data == packed(dict(reversed(files.items())))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert files == {entry.filename: archive.read(entry) for entry in archive.infolist()}
        assert {0o100644} == {entry.external_attr >> 16 for entry in archive.infolist()}


def test_it_is_laid_out_in_its_folder(tmp_path: Path) -> None:
    """A path says the new folder wherever the recording says the old one, also one that JSON must escape;
    projects have the names that Claude Code gives them there."""
    folder = tmp_path / 'a "café" 🍞'
    write_demo(folder, NOW)
    recorded = {name: data.decode() for name, data in recording()}
    for path in folder.rglob("*.jsonl"):
        name = str(path.relative_to(folder)).replace(slugged(str(folder)), slugged(RECORDED_IN))
        text = path.read_text(encoding="utf-8")
        assert f"{RECORDED_IN}/" not in text.replace(json.dumps(str(folder), ensure_ascii=False)[1:-1], "")
        folders = {record["cwd"] for record in map(json.loads, text.splitlines()) if "cwd" in record}
        assert {project_slug(cwd) for cwd in folders} == {path.relative_to(folder / "projects").parts[0]}
        assert recorded[name].count(RECORDED_IN) == text.count("café")
    (trusted,) = json.loads((folder / ".claude.json").read_text(encoding="utf-8"))["projects"]
    assert str(folder / "work" / "orchard-api") == trusted


@pytest.mark.parametrize("now", [NOW, NOW + timedelta(hours=13, seconds=5, microseconds=123_456)])
def test_times_keep_their_distance_from_now(tmp_path: Path, now: datetime) -> None:
    """Records, and the times in logged texts, lie as long before now as they lay before the recording."""
    write_demo(tmp_path / "claude", now)
    laid = [path.read_bytes() for path in sorted((tmp_path / "claude").glob("projects/*/*.jsonl"))]
    told = [data for name, data in sorted(recording()) if name.endswith(".jsonl") and "subagents" not in name]
    ages = [
        [moment - time for text in texts for time in times(text)]
        for texts, moment in ((laid, now), (told, RECORDED_AT))
    ]
    assert len(ages[0]) == len(ages[1]) > 1_000
    assert max(abs(a - b) for a, b in zip(*ages, strict=True)) < timedelta(seconds=1)  # texts have whole seconds


def test_every_line_is_a_record_with_a_type(demo: Path) -> None:
    """Each line is a JSON object, and each record of the conversation carries the envelope."""
    for records in transcripts(demo).values():
        assert all(isinstance(record["type"], str) for record in records)
        spoken = [record for record in records if "uuid" in record]
        assert all({"parentUuid", "sessionId", "timestamp", "cwd", "version"} <= set(record) for record in spoken)


def test_the_same_moment_gives_the_same_bytes(tmp_path: Path) -> None:
    """Written again over itself, a demo is unchanged, bytes and times."""
    write_demo(tmp_path / "claude", NOW)
    first = files(tmp_path / "claude")
    write_demo(tmp_path / "claude", NOW)
    assert files(tmp_path / "claude") == first


def test_all_of_it_lies_in_the_twenty_days_before_now(demo: Path) -> None:
    """No record is later than the given moment or older than twenty days; the last is of the last hours."""
    times = [
        datetime.fromisoformat(record["timestamp"])
        for records in transcripts(demo).values()
        for record in records
        if "timestamp" in record
    ]
    assert NOW - timedelta(days=20) < min(times)
    assert NOW - timedelta(hours=2) < max(times) <= NOW


def test_it_is_small(tmp_path: Path) -> None:
    """Eight sessions in three projects, under 1.5 MB of transcripts."""
    made = write_demo(tmp_path / "claude", NOW)
    assert (made.sessions, made.projects) == (8, 3)
    assert made.bytes_written < 1_500_000
    sizes = [path.stat().st_size for path in made.folder.glob("projects/**/*.jsonl")]
    assert (sum(sizes), len(sizes)) == (made.bytes_written, made.transcripts)


def test_usage_grows_with_what_was_said(demo: Path) -> None:
    """But for compactions and rewinds, a call sends at least what the call before it sent and got."""
    for records in transcripts(demo).values():
        thread = calls(records)
        breaks = sum(record.get("subtype") == "compact_boundary" for record in records) + rewinds(records)
        shrank = 0
        for before, after in pairwise(thread):
            output = before["message"]["usage"]["output_tokens"]
            shrank += context(after) < context(before) + output - 1
        assert shrank == breaks


def test_no_call_reads_more_from_the_cache_than_was_sent_before(demo: Path) -> None:
    """What a call reads from the cache is at most the input side of the call before it."""
    for records in transcripts(demo).values():
        thread = calls(records)
        for before, after in pairwise(thread):
            assert after["message"]["usage"]["cache_read_input_tokens"] <= context(before)


def test_one_session_passes_150k_and_one_250k(demo: Path) -> None:
    """Peaks of main threads: one fills a window of 200,000, another goes past 250,000 of a million."""
    peaks = [max(map(context, calls(records))) for records in transcripts(demo).values()]
    assert sum(peak > 150_000 for peak in peaks) == 2
    assert sum(peak > 250_000 for peak in peaks) == 1


def test_every_tool_use_has_its_result(demo: Path) -> None:
    """Each tool use of a transcript is answered once, later in the same transcript."""
    for records in transcripts(demo).values():
        asked, answered = [], []
        for record in records:
            content = (record.get("message") or {}).get("content")
            for block in content if isinstance(content, list) else []:
                if block["type"] == "tool_use":
                    asked.append(block["id"])
                elif block["type"] == "tool_result":
                    assert block["tool_use_id"] in asked
                    answered.append(block["tool_use_id"])
        assert sorted(asked) == sorted(answered)


def test_it_shows_every_kind_of_thing(demo: Path) -> None:
    """Compactions of both kinds, a fork, a /context, hooks, MCP, deferred tools, noise and more."""
    seen: defaultdict[str, int] = defaultdict(int)
    for records in transcripts(demo).values():
        for record in records:
            text = json.dumps(record)
            seen[record["type"]] += 1
            seen[record.get("subtype", "")] += 1
            seen[(record.get("attachment") or {}).get("type", "")] += 1
            seen[(record.get("compactMetadata") or {}).get("trigger", "")] += 1
            seen[(record.get("message") or {}).get("model", "")] += 1
            seen["fork"] += "forkedFrom" in record
            seen["summary"] += record.get("isCompactSummary", False)
            seen["sidechain"] += record.get("isSidechain", False)
            for sign in (
                "mcp__playwright__",
                "ToolSearch",
                "## Context Usage",
                "node_modules/",
                "image/png",
            ):
                seen[sign] += sign in text
    expected = [
        *("auto", "manual", "summary", "fork", "sidechain", "api_error", "pr-link"),
        *("hook_success", "hook_additional_context", "skill_listing", "deferred_tools_delta"),
        *("file", "queued_command", "task_reminder", "custom-title", "ai-title", "last-prompt"),
        *("claude-opus-4-8", "claude-sonnet-5", "claude-haiku-4-5-20251001", "<synthetic>"),
        *("mcp__playwright__", "ToolSearch", "## Context Usage", "node_modules/", "image/png"),
    ]
    assert [name for name in expected if not seen[name]] == []


def test_one_conversation_is_rewound_once(demo: Path) -> None:
    """One session holds one prompt that goes back to a record which another prompt had followed."""
    assert sorted(rewinds(records) for records in transcripts(demo).values())[-2:] == [0, 1]


def test_subagents_have_sidecars_that_name_their_tool_use(demo: Path) -> None:
    """Each agent's sidecar names a tool use that stands in its session's main transcript."""
    sidecars = list(demo.glob("projects/*/*/subagents/*.meta.json"))
    assert len(sidecars) == 3
    for path in sidecars:
        main = path.parent.parent.with_suffix(".jsonl").read_text()
        assert json.loads(path.read_text())["toolUseId"] in main


def test_surroundings_are_older_than_the_sessions(demo: Path) -> None:
    """Settings, instructions, memory and MCP files were last changed before the first session."""
    oldest = min(path.stat().st_mtime for path in demo.glob("projects/**/*.jsonl"))
    names = [
        "settings.json",
        ".claude.json",
        "CLAUDE.md",
        "work/orchard-api/CLAUDE.md",
        "work/lantern-web/.mcp.json",
    ]
    assert all((demo / name).stat().st_mtime < oldest for name in names)
    assert len(list(demo.glob("projects/*/memory/MEMORY.md"))) == 1


def test_a_foreign_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    """A folder with anything in it that is not a demo is an error, and nothing is written."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CrustsError, match="not empty"):
        write_demo(tmp_path, NOW)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(CrustsError, match="not a folder"):
        write_demo(tmp_path / "notes.txt", NOW)


def test_the_command_writes_a_demo_and_says_how_to_look_at_it(tmp_path: Path) -> None:
    """`crusts demo DIR` names the folder; a foreign folder gives one line on stderr and exit 1."""
    home = ClaudeFolder(tmp_path)
    done = home.crusts("demo", str(tmp_path / "try"), "--json")
    assert done.json()["sessions"] == 8
    assert os.listdir(tmp_path / "try" / "projects")
    plain = home.crusts("demo", str(tmp_path / "try"))
    assert f"CLAUDE_CONFIG_DIR={tmp_path / 'try'}" in plain.out
    refused = home.crusts("demo", str(home.config))
    assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)


def test_a_damaged_recording_is_told_in_one_line() -> None:
    """One that is empty, cut off, or has other bytes in its middle."""
    whole = packed(dict(recording()))
    middle = len(whole) // 3
    for damaged in (b"", whole[:5_000], whole[:middle] + b"\xff" * 200 + whole[middle + 200 :]):
        with pytest.raises(CrustsError, match="recording is damaged"):
            list(unpacked(damaged))
