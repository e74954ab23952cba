"""What pictures and documents weigh (D9): a picture by its size, which its header tells; a document by its length.

Both stand in transcripts as base64, of which only the few bytes are decoded that tell the size.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Callable

LONGEST_EDGE = 1568
"""Pixels; a larger picture is scaled down to it before the model sees it."""
PIXELS_A_TOKEN = 750
MOST_TOKENS = 1600
AROUND = 35
"""Tokens that a picture takes beside its pixels."""
UNREADABLE_TOKENS = 1500
"""What a picture is taken for whose header tells no size."""

_MOST_SEGMENTS = 1000
"""Parts of a JPEG before the one that tells its size: of cameras' files a few dozen."""
_NO_SIZE = frozenset((0xC4, 0xC8, 0xCC))
_LONE_MARKERS = frozenset((0x01, *range(0xD0, 0xD9)))

Size = tuple[int, int]
"""Width and height in pixels."""
_Bytes = Callable[[int, int], bytes]
"""A picture's bytes from a place on, so many; fewer where it ends."""


def image_tokens(data: bytes) -> int:
    """Tokens of a picture in base64: its pixels / 750 + 35 once it is scaled, at most 1,635; 1,500 if unreadable."""
    size = size_of(data)
    if size is None:
        return UNREADABLE_TOKENS
    width, height = size
    scale = min(1.0, LONGEST_EDGE / max(size))
    return int(min(MOST_TOKENS, width * height * scale * scale / PIXELS_A_TOKEN) + AROUND + 0.5)


def document_tokens(data: bytes) -> int:
    """Tokens of a document in base64: its length / 4, rounded up."""
    return -(-len(_as_base64(data)) // 4)


def size_of(data: bytes) -> Size | None:
    """Width and height of a picture in base64; None where its header does not tell."""
    data = _as_base64(data)

    def part(start: int, length: int) -> bytes:
        # Four characters are three bytes.
        chars = data[start // 3 * 4 : -(-(start + length) // 3) * 4]
        decoded = a2b_base64(chars + b"=" * (-len(chars) % 4))
        return decoded[start % 3 : start % 3 + length]

    try:
        size = _size(part)
    except (ValueError, IndexError):
        return None
    return size if size is not None and min(size) > 0 else None


def _as_base64(data: bytes) -> bytes:
    """The data without what JSON and line breaks add to it: a character's place then tells its byte's."""
    if b"\\" in data:
        data = data.replace(b"\\/", b"/").replace(b"\\n", b"").replace(b"\\r", b"")
    return data if b"\n" not in data else b"".join(data.split())


def _size(part: _Bytes) -> Size | None:
    head = part(0, 30)
    if head.startswith(b"\x89PNG\r\n\x1a\n") and head[12:16] == b"IHDR":
        return _number(head[16:20]), _number(head[20:24])
    if head.startswith((b"GIF87a", b"GIF89a")):
        return _little(head[6:8]), _little(head[8:10])
    if head.startswith(b"\xff\xd8\xff"):
        return _size_of_jpeg(part)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return _size_of_webp(head)
    if head.startswith(b"BM") and len(head) > 26:
        if _little(head[14:18]) == 12:  # the first form of the header
            return _little(head[18:20]), _little(head[20:22])
        return _little(head[18:22]), abs(int.from_bytes(head[22:26], "little", signed=True))
    return None


def _size_of_jpeg(part: _Bytes) -> Size | None:
    place = 2
    for _ in range(_MOST_SEGMENTS):
        mark, kind, *rest = part(place, 9)
        if mark != 0xFF:
            return None
        if kind == 0xFF:
            place += 1
        elif kind in _LONE_MARKERS:
            place += 2
        elif 0xC0 <= kind <= 0xCF and kind not in _NO_SIZE:
            return _number(bytes(rest[5:7])), _number(bytes(rest[3:5]))
        else:
            place += 2 + max(2, rest[0] << 8 | rest[1])
    return None


def _size_of_webp(head: bytes) -> Size | None:
    kind = head[12:16]
    if kind == b"VP8X":
        return 1 + _little(head[24:27]), 1 + _little(head[27:30])
    if kind == b"VP8L" and head[20] == 0x2F:
        bits = _little(head[21:25])
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        return _little(head[26:28]) & 0x3FFF, _little(head[28:30]) & 0x3FFF
    return None


def _number(part: bytes) -> int:
    return int.from_bytes(part, "big")


def _little(part: bytes) -> int:
    return int.from_bytes(part, "little")
