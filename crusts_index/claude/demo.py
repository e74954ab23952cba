"""A small made-up Claude folder to try the program on: a recording (`demo.zip`), laid out as if it had just happened.

The recording is the folder itself, as it was at RECORDED_AT in RECORDED_IN; what made it is `tests/demo_recorder`.
"""

import importlib.resources
import io
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crusts_index.claude.roots import slugged
from crusts_index.errors import CrustsError

MARKER = ".crusts-demo"
RECORDED_AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
RECORDED_IN = "/demo"
SET_UP = timedelta(days=60)  # how long before now the configuration was last touched

_TIME = re.compile(rb"(?<!\d)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d\d\d)?Z")


@dataclass(frozen=True)
class DemoSummary:
    """What `write_demo` wrote. `records` counts transcript lines, `bytes_written` transcripts only."""

    folder: Path
    projects: int
    sessions: int
    transcripts: int
    records: int
    bytes_written: int


def write_demo(folder: Path, now: datetime) -> DemoSummary:
    """Lay out the demo's config folder as of `now`: same folder and `now`, same bytes and times of files.

    Raises CrustsError if `folder` holds anything that is not an earlier demo.
    """
    claim(folder)
    folder = folder.resolve()
    files = dict(_moved(str(folder), now))
    transcripts = {name: data for name, data in files.items() if name.endswith(".jsonl")}
    for name, data in files.items():
        _write(folder / name, data, _last_changed(name, files) or now - SET_UP)
    mains = [name for name in transcripts if "/subagents/" not in name]
    return DemoSummary(
        folder=folder,
        projects=len({name.split("/")[1] for name in mains}),
        sessions=len(mains),
        transcripts=len(transcripts),
        records=sum(data.count(b"\n") for data in transcripts.values()),
        bytes_written=sum(map(len, transcripts.values())),
    )


def claim(folder: Path) -> None:
    """Make the folder a demo's, unless it is somebody's already."""
    if folder.exists() and not folder.is_dir():
        raise CrustsError(f"{folder} is not a folder; name one that is empty or does not exist")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        raise CrustsError(f"{folder} is not empty and not a demo; name a folder that is empty or does not exist")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARKER).write_text("Made up by `crusts demo`; safe to delete as a whole.\n")
    except OSError as error:
        raise CrustsError(f"cannot write to {folder}: {error.strerror}") from error


def recording() -> Iterator[tuple[str, bytes]]:
    """The recorded files: paths in the demo's folder, and what is in them."""
    return unpacked(importlib.resources.files("crusts_index.claude").joinpath("demo.zip").read_bytes())


def unpacked(packed: bytes) -> Iterator[tuple[str, bytes]]:
    """The files of a recording. Raises CrustsError where it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            for name in archive.namelist():
                yield name, archive.read(name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise CrustsError(f"the demo's recording is damaged ({error}): install crusts again") from error


def _moved(folder: str, now: datetime) -> Iterator[tuple[str, bytes]]:
    """The recorded files, in `folder`, with every time as long before `now` as it was before the recording."""
    later = now - RECORDED_AT
    path = json.dumps(folder, ensure_ascii=False)[1:-1].encode("utf-8", "replace")
    old, new = slugged(RECORDED_IN), slugged(folder)
    moved: dict[bytes, bytes] = {}  # times repeat

    def move(found: re.Match[bytes]) -> bytes:
        text = found[0]
        if text not in moved:
            moved[text] = _stamp(_time(text) + later, whole=found[2] is None)
        return moved[text]

    for name, data in recording():
        yield name.replace(old, new, 1), _TIME.sub(move, data.replace(RECORDED_IN.encode(), path))


def _time(text: bytes) -> datetime:
    return datetime.fromisoformat(text.decode())


def _stamp(time: datetime, *, whole: bool) -> bytes:
    time = time.astimezone(UTC)
    return time.isoformat(timespec="seconds" if whole else "milliseconds").replace("+00:00", "Z").encode()


def _last_changed(name: str, files: dict[str, bytes]) -> datetime | None:
    """A transcript is as old as its last record, a sidecar as its transcript's first; the rest was there before."""
    if name.endswith(".jsonl"):
        return max(_time(found[0]) for found in _TIME.finditer(files[name]))
    if name.endswith(".meta.json"):
        return min(_time(found[0]) for found in _TIME.finditer(files[name.replace(".meta.json", ".jsonl")]))
    return None


def _write(path: Path, data: bytes, time: datetime) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time.timestamp(), time.timestamp()))
