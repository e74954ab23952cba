"""What an attachment puts into the context: its text (D7), what it names, and whether it is a prompt (D8)."""

from __future__ import annotations

from typing import Any

from crusts_index.transcript.lean import msgspec
from crusts_index.transcript.pictures import document_tokens, image_tokens
from crusts_index.transcript.shapes import Raw
from crusts_index.transcript.spelling import camel

_decode = msgspec.json.decode


class Attachment(msgspec.Struct, gc=False):
    """The facts of one attachment."""

    type: str
    name: str | None
    event: str | None
    added: list[str]
    removed: list[str]
    texts: list[str]
    media: int
    """Tokens of its images and documents, by size."""
    is_prompt: bool


def read_attachment(raw: Raw, rendered: Raw) -> Attachment | None:
    """The attachment, or None where it is no object with a type."""
    body = _object(raw)
    if body is None or not isinstance(body.get("type"), str):
        return None
    kind: str = body["type"]
    texts, media = _rendered_texts(rendered) or _texts(kind, body)
    return Attachment(
        kind,
        _name(body),
        body.get("hookEvent") if isinstance(body.get("hookEvent"), str) else None,
        _added(kind, body),
        _strings(body.get("removedNames")) or _strings(body.get("removedTypes")),
        texts,
        media,
        kind == "queued_command" and _is_prompt(body),
    )


def _object(raw: Raw) -> dict[str, Any] | None:
    if not raw:
        return None
    try:
        value = _decode(raw)
    except msgspec.MsgspecError:
        return None
    return camel(value) if isinstance(value, dict) else None


def _rendered_texts(raw: Raw) -> tuple[list[str], int] | None:
    """What it rendered to, be it nothing; None where that is not logged."""
    try:
        value = _decode(raw) if raw else None
    except msgspec.MsgspecError:
        return None
    if value is None:
        return None
    texts: list[str] = []
    media = 0
    for part in value if isinstance(value, list) else [value]:
        found, more = _content(part.get("content") if isinstance(part, dict) else part)
        texts += found
        media += more
    return texts, media


def _texts(kind: str, body: dict[str, Any]) -> tuple[list[str], int]:
    """The text that an attachment without `rendered` brings, by its type; none for what the model never sees."""
    if kind.startswith("hook_") or kind == "async_hook_response":
        blocking = body.get("blockingError")
        extra = blocking.get("blockingError") if isinstance(blocking, dict) else None
        return [*_flat(body.get("content")), *_flat(extra)], 0
    if kind == "queued_command":
        return _content(body.get("prompt"))
    if kind in ("file", "nested_memory"):
        return _flat(_file_content(body.get("content"))), 0
    if kind == "prompt_snapshot":
        return [], 0  # the fixed context itself: every call carries it anyway (D11)
    if kind == "invoked_skills":
        return [text for skill in _list(body.get("skills")) for text in _flat(_get(skill, "content"))], 0
    if kind in ("task_reminder", "todo_reminder"):
        return [_json(item) for item in _list(body.get("content"))], 0
    keys = ("addedLines", "addedBlocks", "snippet", "banner", "text", "content")
    return [text for key in keys if key in body for text in _flat(body[key])], 0


def _content(value: Any) -> tuple[list[str], int]:
    """Texts of a content value (a string, or a list of blocks), and the tokens of its images and documents by size."""
    if isinstance(value, str):
        return ([value] if value else []), 0
    texts: list[str] = []
    media = 0
    for part in _list(value):
        kind = _get(part, "type")
        if isinstance(part, str):
            texts.append(part)
        elif kind in ("image", "document"):
            data = _get(_get(part, "source"), "data")
            given = data.encode("utf-8", "replace") if isinstance(data, str) else b""
            media += image_tokens(given) if kind == "image" else document_tokens(given)
        else:
            texts += _flat(_get(part, "text"))
    return texts, media


def _file_content(content: Any) -> Any:
    """The text of a `file` or `nested_memory` attachment, one or two levels down."""
    inner = _get(content, "file")
    return _get(inner, "content") if isinstance(inner, dict) else _get(content, "content") or content


def _is_prompt(body: dict[str, Any]) -> bool:
    mode, origin = body.get("commandMode"), _get(body.get("origin"), "kind")
    return mode in (None, "prompt") and origin in (None, "human") and not body.get("isMeta")


def _name(body: dict[str, Any]) -> str | None:
    for key in ("hookName", "filename", "path", "planFilePath", "skillDir", "taskId"):
        if key in body and isinstance(body[key], str):
            return str(body[key])[:2048]
    model = _get(body.get("identity"), "modelId")
    return model[:2048] if isinstance(model, str) else None


def _added(kind: str, body: dict[str, Any]) -> list[str]:
    if kind == "invoked_skills":
        return [name for skill in _list(body.get("skills")) if isinstance(name := _get(skill, "name"), str)]
    for key in ("addedNames", "addedTypes", "names", "skillNames"):
        if key in body and (names := _strings(body[key])):
            return names
    return []


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _strings(value: Any) -> list[str]:
    return [part for part in _list(value) if isinstance(part, str)]


def _flat(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    return [part for part in _strings(value) if part]


def _json(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
