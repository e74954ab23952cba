"""Measures the content of messages: characters and estimated tokens of blocks (D9), and the size of results."""

from __future__ import annotations

from typing import NamedTuple

from crusts_index.transcript.shapes import Block, Item, Source
from crusts_index.transcript.tokens import IMAGE_TOKENS, code_tokens, prose_tokens, text_tokens

LONGEST_PREVIEW = 80
"""Characters kept of a text that is no prompt, answer or summary (D16)."""

LONGEST_TEXT = 1 << 16
"""Bytes kept of a prompt, answer or summary (D16)."""


class Result(NamedTuple):
    """A tool result, measured."""

    texts: list[str]
    chars: int
    estimate: int
    images: int
    loaded: list[str]
    """Tools whose schemas it loaded (`tool_reference`)."""


def measure_result(content: str | list[Item | str] | None) -> Result:
    """Characters, the estimate of D9, and the images of a tool result's content: X-size follows from the two."""
    if content is None:
        return Result([], 0, 0, 0, [])
    if isinstance(content, str):
        chars = len(content)
        return Result([content] if content else [], chars, text_tokens(content), 0, [])
    texts: list[str] = []
    loaded: list[str] = []
    chars = estimate = images = 0
    for item in content:
        text = item if isinstance(item, str) else item.text if item.type in ("text", None) else None
        if text is not None:
            texts.append(text)
            chars += len(text)
            estimate += text_tokens(text)
        elif isinstance(item, str):
            continue
        elif item.type == "image":
            images += 1
        elif item.type == "document":
            estimate += document_tokens(item.source)
        elif item.type == "tool_reference" and item.tool_name:
            loaded.append(item.tool_name)
    return Result(texts, chars, estimate + images * IMAGE_TOKENS, images, loaded)


def document_tokens(source: Source | str | None) -> int:
    """Base64 length / 4 of a document, rounded up (D9)."""
    if not isinstance(source, Source) or not source.data:
        return 0
    return prose_tokens(max(0, len(memoryview(source.data)) - 2))


def measure_use(block: Block, raw: bytes) -> tuple[int, int]:
    """Characters and estimated tokens of a tool_use: its raw JSON input, name and id (D9)."""
    chars = len(raw) if raw.isascii() else len(raw.decode("utf-8", "replace"))
    chars += len(block.name or "") + len(block.id or "")
    return chars, code_tokens(chars) if b"{" in raw else prose_tokens(chars)


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
