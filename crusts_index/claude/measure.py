"""Small text files measured without ever failing or waiting: their sizes, a content hash, their text."""

import json
import os
from _blake2 import blake2b  # not from hashlib, which loads OpenSSL

from crusts_index.regular import open_regular

MAX_BYTES = 8 * 1024 * 1024
MEMORY_INDEX_LINES = 200
MEMORY_INDEX_BYTES = 25_000


class MeasuredFile:
    """A file's text and sizes; `unread` says why there is no text."""

    __slots__ = ("chars", "content_hash", "mtime_ns", "size", "text", "unread")

    def __init__(self, data: bytes | None, about: os.stat_result, unread: str | None) -> None:
        self.text = ""
        self.unread = unread
        self.size = about.st_size
        self.mtime_ns = about.st_mtime_ns
        self.content_hash = ""
        if data is not None:
            self.content_hash = _hash(data)
            if b"\0" in data:
                self.unread = "binary"
            else:
                self.text = data.decode("utf-8", "replace").removeprefix("\ufeff")
        self.chars = len(self.text)


def tokens_of(chars: int) -> int:
    """The estimate of behaviour 4 for configuration text: ceil(chars / 4)."""
    return -(-chars // 4)


def read_measured(path: str) -> MeasuredFile | None:
    """The regular file at `path`; None if there is none."""
    try:
        opened = open_regular(path)
    except PermissionError:
        return _unreadable(path)
    except OSError:
        return None
    with opened:
        about = os.fstat(opened.fileno())
        if about.st_size > MAX_BYTES:
            return MeasuredFile(None, about, "too large")
        try:
            data = opened.read(MAX_BYTES)
        except OSError:
            data = None
    return MeasuredFile(data, about, "not readable" if data is None else None)


def _unreadable(path: str) -> MeasuredFile | None:
    try:
        return MeasuredFile(None, os.stat(path), "not readable")
    except OSError:
        return None


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def measure_part(file: MeasuredFile, value: object) -> MeasuredFile:
    """The part of a JSON file that counts, as if it were a file of its own."""
    part = object.__new__(MeasuredFile)
    part.text = ""
    part.unread = file.unread
    part.size = file.size
    part.mtime_ns = file.mtime_ns
    try:
        part.content_hash = _hash(json.dumps(value, sort_keys=True).encode("ascii"))
    except RecursionError:  # nested just deeply enough to be read, but not to be written
        part.content_hash = file.content_hash
    part.chars = 0  # what configures tools is not itself in the context
    return part


def loaded_memory_chars(text: str) -> int:
    """How much of a memory index Claude Code loads at the start of a session: its first lines."""
    head = "".join(text.splitlines(keepends=True)[:MEMORY_INDEX_LINES])
    return len(head.encode("utf-8", "replace")[:MEMORY_INDEX_BYTES].decode("utf-8", "ignore"))


def frontmatter(text: str) -> dict[str, str]:
    """The fields between the `---` lines that a Markdown file begins with; as much YAML as we need."""
    lines = text[:65_536].splitlines()
    if not lines or lines[0].rstrip() != "---":
        return {}
    fields: dict[str, list[str]] = {}
    key = ""
    for line in lines[1:]:
        if line.rstrip() == "---":
            return {key: " ".join(filter(None, parts)) for key, parts in fields.items()}
        if line[:1] not in (" ", "\t", "-", "#", "") and ":" in line:
            key, _, value = line.partition(":")
            value = value.strip()
            fields[key] = ["" if value in (">", "|", ">-", "|-", ">+", "|+") else value]
        elif key:
            fields[key].append(line.strip())
    return {}  # never closed: ordinary text that begins with a rule
