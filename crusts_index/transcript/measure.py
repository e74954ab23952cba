"""Measures a text for its token estimate (D9): two integers, found at the speed of memory.

soft = characters that are no white space + 2 × (UTF-8 bytes − characters)
marks = runs of ASCII digits and punctuation + 2 × line ends
"""

from __future__ import annotations

from binascii import unhexlify

Measure = tuple[int, int]
"""`soft` and `marks`."""

_PIECE = 1 << 15
"""Bytes looked at in one step, an even number: what a step needs stays small however long the text is."""

_MARKS = frozenset(code for code in range(33, 127) if not chr(code).isalpha())
_WHITE = frozenset(code for code in range(128) if chr(code).isspace())
_ASCII = bytes(range(128))
# White space beyond ASCII, by the bytes that it begins with: those it ends with.
_RARE = {
    b"\xc2": b"\x85\xa0",
    b"\xe1\x9a": b"\x80",
    b"\xe2\x80": b"\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\xa8\xa9\xaf",
    b"\xe2\x81": b"\x9f",
    b"\xe3\x80": b"\x80",
}

# Every byte becomes a hexadecimal digit whose bits say what it is, and the text one long integer of four bits a byte:
# counting is then a few operations on integers, in half the time that it takes to split the text.
_MARK_BIT, _WHITE_BIT, _LINE_END_BITS = 1, 2, 4 + 8
_DIGITS = bytes(
    b"0123456789abcdef"[
        _MARK_BIT * (code in _MARKS) + _WHITE_BIT * (code in _WHITE) + _LINE_END_BITS * (code == ord("\n"))
    ]
    for code in range(256)
)
_EACH = int("1" * _PIECE, 16)
_MARK_OF_EACH, _WHITE_OF_EACH, _LINE_END_OF_EACH = _EACH * _MARK_BIT, _EACH * _WHITE_BIT, _EACH * _LINE_END_BITS


def measure(text: str) -> Measure:
    """The measure of a text as it stands. A lone surrogate counts as the U+FFFD that stands for it elsewhere."""
    if text.isascii():
        return _measure_ascii(text.encode())
    raw = text.encode("utf-8", "surrogatepass")
    soft, marks = _measure_ascii(raw)
    # Of what was measured every byte counted once.
    return soft - _count_rare(raw) + len(raw) - len(text), marks


def measure_json(raw: bytes) -> Measure:
    """The measure of JSON as it was logged, escapes and all."""
    return _measure_ascii(raw) if raw.isascii() else measure(raw.decode("utf-8", "replace"))


def _measure_ascii(raw: bytes) -> Measure:
    """Bytes that are no ASCII white space, and the marks."""
    if len(raw) > _PIECE:
        return _measure_pieces(raw)
    kinds = raw.translate(_DIGITS)
    number = int.from_bytes(unhexlify(kinds if len(kinds) % 2 == 0 else kinds + b"0"), "big")
    marks = number & _MARK_OF_EACH
    # Of each run the bit of its last byte, and the two bits of each line end.
    counted = marks ^ (marks & (marks << 4)) | (number & _LINE_END_OF_EACH)
    return len(raw) - (number & _WHITE_OF_EACH).bit_count(), counted.bit_count()


def _measure_pieces(raw: bytes) -> Measure:
    soft = marks = 0
    for start in range(0, len(raw), _PIECE):
        more, others = _measure_ascii(raw[start : start + _PIECE])
        # A run that goes over from the piece before was counted there.
        is_split = start > 0 and raw[start - 1] in _MARKS and raw[start] in _MARKS
        soft, marks = soft + more, marks + others - is_split
    return soft, marks


def _count_rare(raw: bytes) -> int:
    """White space beyond ASCII: looked for in what is left without ASCII, which mostly is little."""
    count = start = 0
    while start < len(raw):
        end = start + _PIECE
        while end < len(raw) and raw[end] & 0xC0 == 0x80:  # amid a character
            end -= 1
        rest = raw[start:end].translate(None, _ASCII)
        for lead, ends in _RARE.items():
            if lead in rest:
                count += sum(part[0] in ends for part in rest.split(lead)[1:])
        start = end
    return count
