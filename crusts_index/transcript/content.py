"""Measures the content of messages: what token estimates of blocks (D9) and the size of results follow from."""

from __future__ import annotations

from crusts_index.transcript.lean import msgspec
from crusts_index.transcript.measure import Measure, measure
from crusts_index.transcript.pictures import document_tokens, image_tokens
from crusts_index.transcript.shapes import Block, Item, Raw, Source

LONGEST_PREVIEW = 80
"""Characters kept of a text that is no prompt, answer or summary (D16)."""

LONGEST_TEXT = 1 << 16
"""Bytes kept of a prompt, answer or summary (D16)."""

_decode_keys = msgspec.json.Decoder(dict[str, Raw]).decode


class Result(msgspec.Struct, gc=False):
    """A tool result, measured."""

    texts: list[str]
    chars: int
    soft: int
    marks: int
    """The measure of its texts."""
    media: int
    """Tokens of its images and documents, by size."""
    images: int
    loaded: list[str]
    """Tools whose schemas it loaded (`tool_reference`)."""


def measure_result(content: str | list[Item | str] | None) -> Result:
    """What a tool result's content weighs (D9); X-size follows from its characters and images."""
    if isinstance(content, str):
        soft, marks = measure(content)
        return Result([content] if content else [], len(content), soft, marks, 0, 0, [])
    texts: list[str] = []
    loaded: list[str] = []
    media = images = 0
    for item in content or ():
        text = item if isinstance(item, str) else item.text if item.type in ("text", None) else None
        if text is not None:
            texts.append(text)
        elif isinstance(item, str):
            continue
        elif item.type == "image":
            images += 1
            media += media_tokens(item)
        elif item.type == "document":
            media += media_tokens(item)
        elif item.type == "tool_reference" and item.tool_name:
            loaded.append(item.tool_name)
    soft, marks = measure_all(texts)
    return Result(texts, sum(map(len, texts)), soft, marks, media, images, loaded)


def measure_all(texts: list[str]) -> Measure:
    """The measure of several texts."""
    if len(texts) == 1:
        return measure(texts[0])
    measures = [measure(text) for text in texts]
    return sum(soft for soft, _ in measures), sum(marks for _, marks in measures)


def media_tokens(block: Block | Item) -> int:
    """Tokens of an image or document."""
    source = block.source
    data = b"" if not isinstance(source, Source) or not source.data else bytes(source.data)[1:-1]
    return image_tokens(data) if block.type == "image" else document_tokens(data)


def count_keys(raw: bytes) -> int:
    """Keys of a tool use's input; 0 where it is no object."""
    if raw[:1] != b"{":
        return 0
    try:
        return len(_decode_keys(raw))
    except msgspec.MsgspecError:  # an odd number somewhere
        return len(msgspec.json.decode(raw))


def use_chars(block: Block, raw: bytes) -> int:
    """Characters of a tool use: its raw JSON input, name and id."""
    chars = len(raw) if raw.isascii() else len(raw.decode("utf-8", "replace"))
    return chars + len(block.name or "") + len(block.id or "")


def clip(text: str) -> str:
    """The text, cut to 64 KiB of UTF-8 at a character's edge."""
    if len(text) * 4 <= LONGEST_TEXT:
        return text
    encoded = text[:LONGEST_TEXT].encode("utf-8", "replace")
    if len(encoded) <= LONGEST_TEXT and len(text) <= LONGEST_TEXT:
        return text
    return encoded[:LONGEST_TEXT].decode("utf-8", "ignore")


def preview(text: str) -> str:
    """The first 80 characters."""
    return text[:LONGEST_PREVIEW]
