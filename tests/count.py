"""An independent count of API calls by model: plain json over a Claude folder, nothing shared with the program.

Follows the sentences of D1, D2 and D5 only. `python -m tests.count FOLDER` prints the sums.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FIELDS = ("calls", "input", "cache_write", "cache_read", "output")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_LATEST = "9999"


def count(folder: Path) -> dict[str, dict[str, int]]:
    """Sums by model of all transcripts under `folder/projects`."""
    seen = [one for path in sorted(transcripts(folder / "projects")) for one in occurrences(path)]
    sums: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(FIELDS, 0))
    for call in components(seen):
        owner = min(call, key=lambda one: one["rank"])
        same = [one for one in call if one["rank"][:2] == owner["rank"][:2] and one["file"] == owner["file"]]
        last = max(same, key=lambda one: one["place"])
        add(sums, last["model"], last["usage"])
        for each in last["usage"].get("iterations") or []:
            if isinstance(each, dict) and each.get("type") == "advisor_message":
                add(sums, each.get("model") or last["model"], each)
    return dict(sums)


def add(sums: dict[str, dict[str, int]], model: str, usage: dict[str, Any]) -> None:
    """One call's numbers."""
    parts = usage.get("cache_creation")
    parts = parts if isinstance(parts, dict) else {}
    split = number(parts.get("ephemeral_5m_input_tokens")) + number(parts.get("ephemeral_1h_input_tokens"))
    row = sums[model]
    row["calls"] += 1
    row["input"] += number(usage.get("input_tokens"))
    row["cache_write"] += max(number(usage.get("cache_creation_input_tokens")), split)
    row["cache_read"] += number(usage.get("cache_read_input_tokens"))
    row["output"] += number(usage.get("output_tokens"))


def number(value: Any) -> int:
    """A count as D1 reads it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2**53:
        return 0
    return int(value)


def transcripts(projects: Path) -> Iterator[Path]:
    """Main files and subagents' files (D3)."""
    for path in projects.rglob("*.jsonl"):
        inside = path.relative_to(projects).parts
        agent = path.name.startswith("agent-")
        if ".orphaned" in path.name or ".superseded" in path.name or "tool-results" in inside:
            continue
        if len(inside) == 2 or (agent and len(inside) > 3 and inside[2] == "subagents"):
            yield path


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Whole records in log order, salvaged from damaged lines too (D5)."""
    decoder = json.JSONDecoder(strict=False)
    data = path.read_bytes().decode("utf-8", "replace").replace("\0", "").removeprefix("\ufeff")
    for line in data.split("\n"):
        at = 0
        while 0 <= (at := line.find("{", at)):
            try:
                value, end = decoder.raw_decode(line, at)
            except ValueError:
                at += 1
                continue
            if at == 0 or "type" in value:
                yield value
            at = end


def occurrences(path: Path) -> Iterator[dict[str, Any]]:
    """Each line of a call: its ids, usage, place, and its rank among all (D2)."""
    rows = list(records(path))
    named = Counter(row["sessionId"] for row in rows if isinstance(row.get("sessionId"), str))
    frequent = min(named, key=lambda name: (-named[name], name), default=None)
    agent = path.name.startswith("agent-")
    if agent:
        parents = path.parts
        placed = parents[parents.index("subagents") - 1] if "subagents" in parents else None
    else:
        placed = path.stem if _UUID.fullmatch(path.stem) else None
    session = placed or frequent
    uuids: set[str] = set()
    for place, row in enumerate(rows):
        uuid = row.get("uuid")
        if isinstance(uuid, str) and _UUID.fullmatch(uuid):
            if uuid in uuids:
                continue
            uuids.add(uuid)
        nested = row.get("type") == "progress"
        said = row
        if nested:
            data = row.get("data")
            said = data.get("message") if isinstance(data, dict) else None
        if not isinstance(said, dict) or said.get("type") != "assistant":
            continue
        message = said.get("message")
        if not isinstance(message, dict) or not isinstance(message.get("usage"), dict):
            continue
        if "<synthetic>" in (message.get("model"), said.get("model")):
            continue
        aside = agent or nested or row.get("isSidechain") is True
        time = row.get("timestamp") if isinstance(row.get("timestamp"), str) else _LATEST
        record_session, asked = row.get("sessionId"), row.get("requestSessionId")
        copied = "forkedFrom" in row or (isinstance(asked, str) and asked not in ("", placed or record_session))
        yield {
            "request": said.get("requestId") or None,
            "message": message.get("id") or None,
            "session": asked if copied and isinstance(asked, str) and asked else record_session,
            "model": message.get("model") or "unknown",
            "usage": message["usage"],
            "file": str(path),
            "place": place,
            "rank": (copied, nested, aside, record_session != session, time, str(path), place),
        }


def components(seen: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Occurrences of one call each (D1)."""
    leader = list(range(len(seen)))

    def find(one: int) -> int:
        while leader[one] != one:
            leader[one] = leader[leader[one]]
            one = leader[one]
        return one

    by_request: dict[str, list[int]] = defaultdict(list)
    by_message: dict[tuple[Any, str], list[int]] = defaultdict(list)
    for place, one in enumerate(seen):
        if one["request"]:
            by_request[one["request"]].append(place)
        if one["message"]:
            by_message[one["session"], one["message"]].append(place)
    groups = list(by_request.values())
    for members in by_message.values():
        if any(seen[place]["request"] for place in members):
            groups.append(members)
            continue
        equal: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for place in members:
            usage = seen[place]["usage"]
            sides = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
            equal[tuple(number(usage.get(side)) for side in sides)].append(place)
        groups += equal.values()
    for members in groups:
        for place in members[1:]:
            leader[find(place)] = find(members[0])
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for place, one in enumerate(seen):
        found[find(place)].append(one)
    return list(found.values())


if __name__ == "__main__":
    print(json.dumps(count(Path(sys.argv[1])), indent=1, sort_keys=True))
