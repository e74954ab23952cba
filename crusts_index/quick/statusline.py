"""`crusts statusline`: the window in one short line for Claude Code, from the payload on stdin and the store, its
transcript read to its end first. Whatever happens there is a line, and exit code 0."""

import os
import sys

from crusts_index import plain
from crusts_index.errors import NotQuick
from crusts_index.folders import last_part
from crusts_index.plain import Safe, note
from crusts_index.quick import target
from crusts_index.quick.clock import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.claude.payloads import StatusPayload
    from crusts_index.quick.live import Live
    from crusts_index.store.settings import Settings

DEFAULT_FORMAT = "{glyph} {percent}%[ · {left}][ · {mark}][ · cache {cache}]"
FALLBACK = "○ crusts"
FIELDS = {
    "glyph": "a dot that fills with the window, coloured by its health",
    "percent": "the window in per cent of its limit",
    "tokens": "the window",
    "limit": "its limit",
    "free": "what is left up to the limit",
    "trigger": "where it will be compacted",
    "left": "API calls left until then, in words",
    "calls": "the same as a number",
    "growth": "tokens a call adds",
    "health": "healthy, warming, hot or critical",
    "mark": "a re-read or an oversized result that just cost much",
    "cache": "minutes until the prompt cache is cold; once cold, what the next call costs for sending the window again",
    "model": "the model",
    "cost": "what Claude Code says the session cost, USD",
    "session": "start of the session's id",
    "project": "name of the project's folder",
    "compactions": "compactions so far",
}
ACTIONS = ("install", "uninstall", "status")
WRAP_SECONDS = 1.0
_GLYPHS = {"healthy": "○", "warming": "◔", "hot": "◕", "critical": "●"}
_COLOURS = {"healthy": "32", "warming": "33", "hot": "31", "critical": "97;41"}
_PLAIN = str.maketrans(dict(zip("○◔◕●·↻▲…│", "o.*@-r!.|", strict=True)))


def run(argv: list[str]) -> int:
    """Print the line. `install` and the like, and what is no option here, belong to the full command line."""
    line = target.CommandLine(argv, valued=("--format", "--wrap"))
    if line.words and line.words[0] in ACTIONS:
        raise NotQuick
    target.begin(target.LOOK_SECONDS, FALLBACK + "\n")
    try:
        settings = line.settings()
        show(settings, target.read_stdin(), line.given.get("--format") or DEFAULT_FORMAT, line.given.get("--wrap"))
    except Exception:
        if target.is_silent():
            put(FALLBACK)
        raise
    return 0


def show(settings: "Settings", data: bytes, template: str, wrapped: str | None) -> None:
    """Print what the wrapped command prints for the same payload, if there is one, and our line behind it."""
    other = live = None
    if wrapped:
        from crusts_index.quick.wrapped import Wrapped

        other = Wrapped(wrapped, data)  # it runs while we look
    try:
        from crusts_index.claude.payloads import read_status

        payload = read_status(data)
        live = look(settings, data, payload, template)
        ours = line(settings, live, payload, template) if live is not None else Safe(FALLBACK)
    except Exception as error:  # a status line is there, or it is not: a fault of ours must not blank it
        note(f"{type(error).__name__}: {error}")
        ours = Safe(FALLBACK)
    theirs = other.output(WRAP_SECONDS) if other is not None else ""
    put(Safe(f"{theirs} │ {ours}") if theirs else ours)  # theirs is the user's own, colours and all
    if live is not None:
        try:
            live.remember()
        finally:
            live.close()


def look(settings: "Settings", data: bytes, payload: "StatusPayload | None", template: str) -> "Live | None":
    """The window that a payload is of, or without any that of the session last active here; None for odd data."""
    from crusts_index.quick.brief import Brief
    from crusts_index.quick.named import here, newest, of_payload
    from crusts_index.store.when import now_ms

    if payload is not None:
        named = of_payload(settings, payload)
        named.window_size, named.cwd = payload.window_size, payload.project_dir or payload.cwd
        named.context_tokens, named.output_tokens = payload.context_tokens, payload.output_tokens
    elif data:
        return None
    else:
        named = newest(settings, here())
    return Brief(settings, named, now_ms(), with_results="{mark}" in template)


def line(settings: "Settings", live: "Live", payload: "StatusPayload | None", template: str) -> Safe:
    """The line for a window; a short one that says so where nothing is known."""
    if not live.is_known:
        return Safe(FALLBACK + ": nothing yet" if payload else FALLBACK)
    return render(
        template, fields(live, payload, template), colours(settings, live.window.health or ""), width(payload)
    )


def left(calls: int | None) -> str:
    """How many calls are left, in words; nothing where that is not known."""
    if calls == 0:
        return "compacts next"
    return "" if calls is None else "1 call left" if calls == 1 else f"{calls:,} calls left"


def fields(live: "Live", payload: "StatusPayload | None", template: str) -> dict[str, str]:
    """The fields of a template; what is not known is empty."""
    window, project = live.window, live.project
    health = window.health or ""
    cost = payload.cost_usd if payload else None
    return {
        "glyph": _GLYPHS.get(health, ""),
        "percent": f"{window.usage_percentage or 0:.0f}",
        "tokens": short(window.size or 0),
        "limit": short(window.limit) + (" assumed" if window.limit_kind == "assumed" else ""),
        "free": short(window.free or 0),
        "trigger": "" if window.trigger is None else short(window.trigger),
        "calls": "" if window.calls_left is None else f"{window.calls_left:,}",
        "left": left(window.calls_left),
        "growth": short(int(window.growth)),
        "health": health,
        "mark": mark(live) if "{mark}" in template else "",
        "cache": words(live) if "{cache}" in template else "",
        "model": (payload.model_name if payload else None) or window.model,
        "cost": "" if cost is None else f"${cost:.2f}",
        "session": live.session_id[:8],
        "project": last_part(project) if project else "",
        "compactions": str(live.compactions),
    }


def mark(live: "Live") -> str:
    """The dearest thing that just entered the window for nothing, or all at once."""
    worst = live.worst_result()
    if worst is None:
        return ""
    name: str = plain.line(os.path.basename(worst.path or "") or worst.name or "result")
    name = name if len(name) <= 24 else name[:23] + "…"
    size = short(worst.result_tokens)
    return f"↻ {name} {size} re-read" if worst.is_reread else f"▲ {name} {size}"


def short(tokens: int) -> str:
    """`950`, `42k`, `1.2M`."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 999_500:
        return f"{tokens / 1_000:.1f}k" if tokens < 9_950 else f"{tokens / 1_000:.0f}k"
    return f"{tokens / 1e6:.1f}M".replace(".0M", "M")


def colours(settings: "Settings", health: str) -> str:
    """The colour of a health, as ANSI has it; none where the user wants none."""
    return "" if settings.no_color else _COLOURS.get(health, "")


def width(payload: "StatusPayload | None") -> int | None:
    """Columns that there are, as far as told."""
    said = payload.columns if payload else None
    columns = os.environ.get("COLUMNS", "")
    return said or (int(columns) if columns.isascii() and columns.isdigit() and len(columns) < 10 else None) or None


def render(template: str, values: dict[str, str], colour: str = "", columns: int | None = None) -> Safe:
    """Fill a template: `{name}` is a field, `[…]` is left out where a field in it is empty.

    Where it is wider than `columns`, bracketed parts go from the end, then the rest is cut.
    """
    pieces = [
        (text, optional)
        for part, optional in _parts(template)
        if (text := _fill(part, values, optional=optional)) is not None
    ]
    optional_ones = [place for place, (_, optional) in enumerate(pieces) if optional]
    while columns and optional_ones and sum(len(text) for text, _ in pieces) > columns:
        del pieces[optional_ones.pop()]
    filled = plain.line("".join(text for text, _ in pieces))
    if columns and len(filled) > columns:
        filled = Safe(filled[: columns - 1] + "…")
    if not colour:
        return filled
    head = f"{values.get('glyph', '')} {values.get('percent', '')}%"
    wanted = head if head in filled else values.get("glyph") or "\0"
    return Safe(filled.replace(wanted, f"\x1b[{colour}m{wanted}\x1b[0m", 1))


def unknown_fields(template: str) -> list[str]:
    """Names in braces that are no field."""
    names = [part.partition("}")[0] for part in template.split("{")[1:] if "}" in part]
    return [name for name in names if name not in FIELDS]


def _parts(template: str) -> list[tuple[str, bool]]:
    """The template cut at its brackets, with whether a part stood in them."""
    parts: list[tuple[str, bool]] = []
    rest = template
    while rest:
        before, opened, after = rest.partition("[")
        inside, closed, after = after.partition("]") if opened else ("", "", "")
        if opened and not closed:
            return [*parts, (rest, False)]
        parts.append((before, False))
        if opened:
            parts.append((inside, True))
        rest = after
    return parts


def _fill(part: str, values: dict[str, str], *, optional: bool) -> str | None:
    for name, value in values.items():
        if "{" + name + "}" in part:
            if optional and not value:
                return None
            part = part.replace("{" + name + "}", value)
    return part


def put(text: str) -> None:
    """Print a line, in plain characters where the terminal's encoding has no others."""
    shown: str = plain.line(text)
    try:
        shown.encode(sys.stdout.encoding or "ascii")
    except UnicodeError:
        shown = shown.translate(_PLAIN).encode("ascii", "replace").decode()
    target.speak()
    sys.stdout.write(shown + "\n")
