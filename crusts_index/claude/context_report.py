"""The output of Claude Code's `/context` command, in each of the forms it has had."""

import re

from crusts_index import plain
from crusts_index.tuples import NamedTuple

MAX_CHARS = 262_144
MAX_ROWS = 200
_LARGEST_EXACT = 2**53

USED_BUCKETS = (
    "system_prompt",
    "system_tools",
    "mcp_tools",
    "custom_agents",
    "memory_files",
    "skills",
    "messages",
    "other",
)
BUCKETS = (*USED_BUCKETS, "free_space")
AUTOCOMPACT_BUFFER = "autocompact_buffer"

# The first key that a label contains decides, so the narrower ones stand first.
_LABELS = (
    ("compact buffer", AUTOCOMPACT_BUFFER),
    ("free", "free_space"),
    ("remaining", "free_space"),
    ("available", "free_space"),
    ("mcp", "mcp_tools"),
    ("system prompt", "system_prompt"),
    ("system instructions", "system_prompt"),
    ("system tool", "system_tools"),
    ("built-in tool", "system_tools"),
    ("agent", "custom_agents"),
    ("memory", "memory_files"),
    ("memdir", "memory_files"),
    ("skill", "skills"),
    ("message", "messages"),
    ("conversation", "messages"),
    ("tools", "system_tools"),
)
_CAPACITY = ("capacity", "context window", "total")

# All that repeats is possessive, and a number is looked for only where one begins: each character is read a few times.
_GLYPHS = " \t\u00a0⛀⛁⛂⛃⛶⛝"
_NUMBER = r"(?<![0-9,.])([0-9][0-9,]*+(?:\.[0-9]++)?+)\s*+([kKmM]?+)\s*+"
_SIGN = r"[~<]?+\s*+"
_RATIO = re.compile(rf"{_NUMBER}/\s*+{_SIGN}{_NUMBER}(?:tokens)?+\s*+(?:\(|$)")
_AMOUNT = re.compile(rf"^{_SIGN}{_NUMBER}(?:tokens?+)?+\s*+(?:\(\s*+<?+[0-9.,]++\s*+%\s*+\))?+$")
_HEADING = re.compile(r"^#{0,3}+[ \t]*+Context Usage[ \t]*+$", re.MULTILINE)
_TOKENS_LINE = re.compile(r"^\*\*Tokens:\*\*(.*+)$", re.MULTILINE)
_MODEL_LINE = re.compile(r"^\*\*Model:\*\*(.*+)$", re.MULTILINE)
_STDOUT = "<local-command-stdout>"


class ContextRow(NamedTuple):
    """One row: its label, its tokens, and whether it is of tools that are announced but not loaded."""

    label: str
    tokens: int
    deferred: bool
    bucket: str


class ContextReport(NamedTuple):
    """What `/context` said. Its numbers are rounded to three digits or so, as printed.

    `used_tokens` is the heading's figure, else the sum of the rows in use; `window_tokens` the heading's,
    else used and free. Deferred rows, free space and the autocompact buffer are rows, but not in use.
    """

    model: str | None
    used_tokens: int
    window_tokens: int
    rows: list[ContextRow]

    @property
    def buckets(self) -> dict[str, int]:
        """Tokens by bucket (BUCKETS), deferred rows and the autocompact buffer left out."""
        sums = dict.fromkeys(BUCKETS, 0)
        for row in self.rows:
            if not row.deferred and row.bucket in sums:
                sums[row.bucket] += row.tokens
        return sums

    @property
    def total_used(self) -> int:
        """The sum of the rows in use."""
        return sum(tokens for bucket, tokens in self.buckets.items() if bucket != "free_space")

    @property
    def autocompact_buffer(self) -> int:
        """What Claude Code keeps free for a compaction; 0 if not said."""
        return sum(row.tokens for row in self.rows if row.bucket == AUTOCOMPACT_BUFFER)

    @property
    def core_schema_tokens(self) -> int | None:
        """The cost of the schemas of the built-in tools that are loaded; None if not said."""
        return self.buckets["system_tools"] or None


def parse_context(text: str) -> ContextReport | None:
    """Read a `/context` output: Markdown table, the terminal's glyph rows, or plain `label: number` lines.

    Of several outputs the last is read. None if there is none in the text.
    """
    text = _clean(text)
    headings = list(_HEADING.finditer(text))
    if headings:
        text = text[headings[-1].start() :]
    for read in (_read_table, _read_glyphs, _read_lines):
        report = read(text)
        if report is not None:
            return report
    return None


def looks_like_context(text: str) -> bool:
    """Whether a record's text is itself a `/context` output, and does not merely quote one (D10)."""
    text = _clean(text[:MAX_CHARS])
    body = text.lstrip()
    from_command = body.startswith(_STDOUT)
    body = body.removeprefix(_STDOUT).lstrip()
    first, _, rest = body.partition("\n")
    if first.rstrip() == "## Context Usage":
        tokens = _TOKENS_LINE.search(rest[:1000])
        return tokens is not None and _ratio(tokens[1]) is not None
    if from_command and first.strip() == "Context Usage":
        report = _read_glyphs(body)
        return report is not None and _glyph_header(body.split("\n")) is not None
    return False


def parse_tokens(text: str) -> int | None:
    """`21.1k`, `1m`, `~90`, `12,345 tokens (6%)` as a number of tokens; None for anything else."""
    match = _AMOUNT.match(text.strip())
    return _tokens(match[1], match[2]) if match else None


def _read_table(text: str) -> ContextReport | None:
    tokens = _TOKENS_LINE.search(text)
    header = _ratio(tokens[1]) if tokens else None
    rows = []
    for cells in _table_of_categories(text):
        amount = parse_tokens(cells[1]) if len(cells) > 1 else None
        if amount is not None:
            rows.append(_row(cells[0], amount))
    if header is None and not rows:
        return None
    model = _MODEL_LINE.search(text)
    return _report(model[1].strip() if model else None, header, rows)


def _table_of_categories(text: str) -> list[list[str]]:
    """The cells of the one table that adds up to the window; those of single tools and files follow it."""
    lines = [line.strip() for line in text.split("\n")]
    start = next((n for n, line in enumerate(lines) if "usage by category" in line.lower()), None)
    if start is None:
        start = next((n for n, line in enumerate(lines) if line.lower().startswith("| category")), len(lines))
    rows: list[list[str]] = []
    for line in lines[start + 1 :]:
        if line.startswith("#") or len(rows) >= MAX_ROWS:
            break
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def _read_glyphs(text: str) -> ContextReport | None:
    lines = text.split("\n")
    rows: list[ContextRow] = []
    for line in lines:
        label, separator, amount = line.strip(_GLYPHS + "\r⎿").partition(":")
        # A row has a glyph before it and a share behind it; the lists of single tools and files have not.
        if not separator or not any(glyph in line for glyph in "⛀⛁⛂⛃⛶⛝") or not label[:1].isalpha():
            continue
        tokens = parse_tokens(amount)
        if tokens is not None and "%" in amount and len(rows) < MAX_ROWS:
            rows.append(_row(label, tokens))
    header = _glyph_header(lines)
    if not rows or (header is None and len(rows) < 2):
        return None
    model, ratio = header or (None, None)
    return _report(model, ratio, rows)


def _glyph_header(lines: list[str]) -> tuple[str | None, tuple[int, int]] | None:
    """`model · 21k/200k tokens (11%)`; newer versions have name, id and numbers on lines of their own."""
    before: list[str] = []
    for line in lines:
        plain = line.strip(_GLYPHS + "\r⎿")
        ratio = _ratio(plain) if "tokens" in plain and "%" in plain else None
        if ratio is not None:
            match = _RATIO.search(plain)
            model = plain[: match.start()].strip(" ·•-~<\t") if match else ""
            return (model or _model_among(before[-3:])), ratio
        if plain:
            before.append(plain)
    return None


def _model_among(lines: list[str]) -> str | None:
    return next((line for line in reversed(lines) if "-" in line and " " not in line), None)


def _read_lines(text: str) -> ContextReport | None:
    rows: list[ContextRow] = []
    capacity: int | None = None
    for line in text.split("\n"):
        label, separator, amount = line.strip().lstrip("-*•").strip(_GLYPHS).partition(":")
        tokens = parse_tokens(amount) if separator else None
        if tokens is None or len(rows) >= MAX_ROWS:
            continue
        row = _row(label, tokens)
        if row.bucket != "other":
            rows.append(row)
        elif any(word in label.lower() for word in _CAPACITY):
            capacity = tokens
    report = _report(None, None, rows)
    if not report.used_tokens and not report.window_tokens:
        return None
    return report._replace(window_tokens=capacity) if capacity else report


def _report(model: str | None, header: tuple[int, int] | None, rows: list[ContextRow]) -> ContextReport:
    report = ContextReport(model[:200] if model else None, 0, 0, rows)
    used = header[0] if header else report.total_used
    window = header[1] if header else used + report.buckets["free_space"]
    return report._replace(used_tokens=used, window_tokens=window)


def bucket_of(label: str) -> str:
    """The bucket (BUCKETS, or the autocompact buffer's) that a row of `/context` belongs to, by its label."""
    lowered = label.lower()
    return next((bucket for key, bucket in _LABELS if key in lowered), "other")


def _row(label: str, tokens: int) -> ContextRow:
    label = " ".join(label.split())[:80]
    return ContextRow(label, tokens, "(deferred)" in label.lower(), bucket_of(label))


def _ratio(text: str) -> tuple[int, int] | None:
    match = _RATIO.search(text)
    if not match:
        return None
    used, window = _tokens(match[1], match[2]), _tokens(match[3], match[4])
    return (used, window) if used is not None and window else None


def _tokens(digits: str, unit: str) -> int | None:
    if len(digits) > 20:
        return None
    whole, _, part = digits.replace(",", "").partition(".")
    # In whole numbers, as 21.1 * 1000 is not 21,100.
    scale = {"": 0, "k": 3, "m": 6}[unit.lower()]
    value = int((whole + part.ljust(scale, "0")[:scale]) if scale else whole)
    return value if value <= _LARGEST_EXACT else None


def _clean(text: str) -> str:
    return plain.lines(text[:MAX_CHARS])
