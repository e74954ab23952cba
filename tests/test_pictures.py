"""What pictures and documents weigh, from the first bytes of their base64 (D9)."""

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.transcript.pictures import document_tokens, image_tokens, size_of
from tests.builders import picture
from tests.profiles import examples

# The beginnings of small files of 31 by 17 pixels, as encoders write them.
REAL = {
    "gif": "R0lGODdhHwARAIEAAAAAAAAAAAAAAAAAACwAAAAAHwARAEAIJwABCBxIsKDBgwgTKlzIsKHDhxAjSpxI",
    "webp": "UklGRjIAAABXRUJQVlA4ICYAAADQAgCdASofABEAP83i624/tzEqKAgD8DmJaQAAPaOgAP7p3QAAAA==",
    "webp lossless": "UklGRhoAAABXRUJQVlA4TA4AAAAvHgAEAAcQEf0PRET/Aw==",
}


def jpeg(width: int, height: int, before: int = 0, kind: int = 0xC0) -> bytes:
    """The bytes of a JPEG up to its size, with as many parts of 65,533 bytes before it."""
    part = b"\xff\xe2" + struct.pack(">H", 65_535) + b"x" * 65_533
    return b"\xff\xd8" + b"\xff" + part * before + bytes((0xFF, kind)) + struct.pack(">HBHH", 17, 8, height, width)


def webp(width: int, height: int) -> bytes:
    """The head of a WebP with a canvas."""
    canvas = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x08\0\0\0" + canvas


def bmp(width: int, height: int) -> bytes:
    """The head of a BMP whose rows go down."""
    return b"BM" + bytes(12) + struct.pack("<Iii", 40, width, -height) + bytes(8)


@pytest.mark.parametrize("kind", REAL)
def test_the_size_of_files_as_encoders_write_them(kind: str) -> None:
    """Each kind of picture that the API takes tells its size."""
    assert (31, 17) == size_of(REAL[kind].encode())


@examples(60)
@given(st.integers(1, 16_383), st.integers(1, 16_383), st.integers(0, 4), st.sampled_from((0xC0, 0xC1, 0xC2)))
def test_the_size_stands_in_the_header(width: int, height: int, before: int, kind: int) -> None:
    """PNG, JPEG however far behind other parts, WebP and BMP, with slashes escaped or lines broken too."""
    assert (width, height) == size_of(picture(width, height).encode())
    for data in (jpeg(width, height, before, kind), webp(width, height), bmp(width, height)):
        plain = base64.b64encode(data)
        assert (width, height) == size_of(plain)
        assert (width, height) == size_of(plain.replace(b"/", b"\\/"))
        assert (width, height) == size_of(base64.encodebytes(data))


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [
        (1, 1, 35),
        (200, 200, 53 + 35),
        (1000, 1000, 1333 + 35),
        (1568, 765, 1599 + 35),
        (1092, 1092, 1590 + 35),
        (1568, 1568, 1600 + 35),
        (3136, 1000, 1045 + 35),
        (1000, 3136, 1045 + 35),
        (8000, 8000, 1600 + 35),
    ],
)
def test_a_picture_by_its_pixels(width: int, height: int, tokens: int) -> None:
    """Scaled to a long edge of 1,568, then width × height / 750 + 35, at most 1,600 + 35."""
    assert tokens == image_tokens(picture(width, height).encode())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"iVBORw0KGgo=",
        b"not base64 at all",
        base64.b64encode(b"%PDF-1.7 and so on, long enough to hold a header"),
        base64.b64encode(b"\xff\xd8\xff\xda\x00\x08"),
        base64.b64encode(jpeg(0, 10)),
        base64.b64encode(b"\xff\xd8" + b"\xff\xd0" * 100_000),
        picture(0, 10).encode(),
    ],
)
def test_an_unreadable_header(data: bytes) -> None:
    """A picture whose header tells no size weighs 1,500."""
    assert size_of(data) is None
    assert 1500 == image_tokens(data)


@examples(200)
@given(st.binary(max_size=60), st.sampled_from((b"", b"\xff\xd8\xff", b"RIFF1234WEBPVP8 ", b"BM", b"GIF89a")))
def test_whatever_stands_there(behind: bytes, head: bytes) -> None:
    """Any bytes, as base64 or as they are, weigh 35 to 1,635 tokens."""
    for data in (base64.b64encode(head + behind), head + behind):
        assert 35 <= image_tokens(data) <= 1635


def test_a_document_by_its_length() -> None:
    """Base64 length / 4, rounded up."""
    assert [0, 1, 1, 2] == [document_tokens(b"A" * length) for length in (0, 1, 4, 5)]
