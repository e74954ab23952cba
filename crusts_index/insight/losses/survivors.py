"""What survived a compaction: the files that its summary names, and two such results side by side. Pure."""

from __future__ import annotations

import re
from typing import Any

_EXTENSIONS = frozenset(
    """ts tsx js jsx mjs cjs md mdx txt rst adoc json jsonl json5 yaml yml toml ini env properties xml csv tsv lock
    htm html css scss sass less vue svelte astro sh bash zsh fish ps1 bat cmd py rb go rs java kt kts swift m mm c cpp
    cc cxx h hpp hxx cs vb fs php scala clj lua r jl pl pm dockerfile tf tfvars hcl sql graphql gql proto svg png jpg
    jpeg gif webp ico pdf""".split()
)
_REFERENCE = re.compile(
    r"(?<![\w@])(?:[A-Za-z]:[\\/]|\.{1,2}[\\/]|[\\/])?(?:[\w-]+[\\/])*[\w.-]*[\w-]\.([A-Za-z][A-Za-z0-9]{0,7})(?!\w)",
    re.ASCII,
)
# A path is at most so long: within it the pattern above may try many beginnings.
_WORDS = re.compile(r"[\w@.\\/:-]++", re.ASCII)
_LONGEST = 1_000
_VERSION = re.compile(r"v?\d+(?:\.\d+)+", re.ASCII)
_SHORTEST = 3
SHOWN = 5
SIMILAR = 0.1

SNAPSHOT = (
    *("tokensTotal", "tokensCurrentContext", "usagePercentage", "messageCount", "wasteCount", "compactionCount"),
    "contextLimit",
)
"""Keys of a snapshot of a session before or after a compaction."""
DELTAS = ("tokensTotal", "tokensCurrentContext", "usagePercentage", "messageCount", "wasteCount", "compactionCount")


def file_references(text: str) -> list[str]:
    """The files that a text names, each once, sorted; calls such as `Math.abs` and version numbers are none."""
    found = set()
    words = (word[0] for word in _WORDS.finditer(text))
    for match in (match for word in words if len(word) <= _LONGEST for match in _REFERENCE.finditer(word)):
        name = match[0].rstrip(".")
        if match[1].lower() in _EXTENSIONS and len(name) >= _SHORTEST and not _VERSION.fullmatch(name):
            found.add(name)
    return sorted(found)


def delta_of(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """After minus before, for the numbers that a compaction changes."""
    return {key: _minus(after.get(key), before.get(key)) for key in DELTAS}


def compare_results(a: dict[str, Any], b: dict[str, Any], labels: tuple[str, str]) -> dict[str, Any]:
    """Two results of `bench compact`, side by side: snapshots, their differences (b − a), surviving files."""
    refs_a, refs_b = set(a.get("summaryFileRefs") or ()), set(b.get("summaryFileRefs") or ())
    only_a, only_b = sorted(refs_a - refs_b), sorted(refs_b - refs_a)
    return {
        "labels": {"a": labels[0], "b": labels[1]},
        "before": _sides(a.get("before"), b.get("before")),
        "after": _sides(a.get("after"), b.get("after")),
        "onlyInA": only_a,
        "onlyInB": only_b,
        "inBoth": sorted(refs_a & refs_b),
        "insights": [
            *_survival(len(refs_a), len(refs_b), labels),
            *_exclusive(only_b, labels[1]),
            *_exclusive(only_a, labels[0]),
            *_reclaimed(a, b, labels),
        ],
    }


def _sides(a: dict[str, Any] | None, b: dict[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = {"a": a, "b": b}
    if a and b:
        found["delta"] = {key: _minus(b.get(key), a.get(key)) for key in SNAPSHOT}
    return found


def _minus(one: Any, other: Any) -> Any:
    if not isinstance(one, int | float) or not isinstance(other, int | float):
        return None
    return round(one - other, 2)


def _survival(count_a: int, count_b: int, labels: tuple[str, str]) -> list[str]:
    if count_a == count_b:
        return [f"both summaries name {count_a} files"]
    more, few, name = (count_a, count_b, labels[0]) if count_a > count_b else (count_b, count_a, labels[1])
    return [f"{name}'s summary names more files: {more} against {few}"]


def _exclusive(names: list[str], label: str) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return [f"only in {label}: {', '.join(names[:SHOWN])}{more}"]


def _reclaimed(a: dict[str, Any], b: dict[str, Any], labels: tuple[str, str]) -> list[str]:
    freed = [-(one.get("delta") or {}).get("tokensCurrentContext", 0) for one in (a, b)]
    if min(freed) <= 0:
        return []
    more = max(freed) / min(freed) - 1
    if more <= SIMILAR:
        return [f"both freed about as much: {freed[0]:,} and {freed[1]:,} tokens"]
    name = labels[0] if freed[0] > freed[1] else labels[1]
    return [f"{name} freed {more:.0%} more: {max(freed):,} against {min(freed):,} tokens"]
