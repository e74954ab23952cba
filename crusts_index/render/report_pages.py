"""Fills the templates: HTML that is safe whatever is in it, and Markdown that shows what is in it as it is."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from crusts_index import plain
from crusts_index.render import text
from crusts_index.render.contents import category_name
from crusts_index.render.jsonout import encode_plain
from crusts_index.render.report_parts import Table

_TEMPLATES = Path(__file__).parent / "templates"
_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
# An underscore within a word and a dollar before a digit are just that.
_MARKDOWN = re.compile(r"([\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])|\$(?!\d))")
_GAPS = re.compile(r"\n{3,}")
_TICKS = re.compile("`+")
_AT_START = re.compile(r"^(?:(#|[-+](?=\s|$)|=+$|-{2,}$)|(\d+)(?=[.)](?:\s|$)))")
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))


def html(kind: str, context: Mapping[str, Any]) -> str:
    """A page that stands by itself: `kind` session, compare or project. All text in it is escaped.

    Its Content-Security-Policy lets nothing load and nothing run but the style and the script that are in it.
    """
    environment, markup = _environment(plain.line)
    environment.filters["lines"] = plain.lines
    environment.filters["category"] = category_name
    environment.filters["script_json"] = lambda value: markup(encode_plain(value).translate(_IN_SCRIPT))
    style, script = _read("report.css"), _read("report.js")
    page: str = environment.get_template(f"{kind}.html.j2").render(
        context,
        style=markup(style),
        script=markup(script),
        policy=(
            f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        ),
    )
    return page


def markdown(kind: str, context: Mapping[str, Any]) -> str:
    """The same as Markdown (GitHub's). Text in it can be neither markup nor HTML."""
    environment, markup = _environment(lambda said: markup(escape_markdown(said)))
    environment.filters["fenced"] = lambda value: markup(fenced(value))
    environment.filters["table"] = lambda given: markup(_table(given))
    page = environment.get_template(f"{kind}.md.j2").render(context)
    return _GAPS.sub("\n\n", page).strip() + "\n"


def escape_markdown(value: str) -> str:
    """Text on one line that Markdown shows as it is, within a table too."""
    line = text.clean(value)
    for char, entity in _ENTITIES:
        line = line.replace(char, entity)
    return _AT_START.sub(_escape_start, _MARKDOWN.sub(r"\\\1", line))


def _table(given: Table) -> str:
    """The rows of a table, its columns as wide in the text as what is in them."""
    from tabulate import tabulate

    names = [f"{column.name} ({column.basis})" if column.basis else column.name for column in given.columns]
    rows = [
        [
            escape_markdown(category_name(said) if column.kind == "category" else str(said))
            for column, said in zip(given.columns, row, strict=True)
        ]
        for row in given.rows
    ]
    if given.has_total:
        rows[-1] = [said and f"**{said}**" for said in rows[-1]]
    sides = ["right" if column.kind == "number" else "left" for column in given.columns]
    # All is text: '1e5' is no number.
    return tabulate(
        rows, [escape_markdown(name) for name in names], tablefmt="pipe", disable_numparse=True, colalign=sides
    )


def fenced(value: str) -> str:
    """Text in a code block that nothing in it can end."""
    lines = plain.lines(value)
    longest = max((len(run) for run in _TICKS.findall(lines)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{lines}\n{fence}"


def _escape_start(found: re.Match[str]) -> str:
    """What would begin a list, a rule or a heading's underline."""
    sign, number = found.groups()
    return f"\\{sign}" if sign else f"{number}\\"


def _environment(make_safe: Callable[[str], str]) -> tuple[Any, Any]:
    """The environment of both forms, and the type of what is safe as it stands. All that is put out is made safe first,
    then escaped for HTML unless it says that it is safe.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def finalize(value: object) -> object:
        return value if isinstance(value, Markup) else make_safe(value if isinstance(value, str) else str(value))

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment, Markup


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8").strip() + "\n"


def _hash(block: str) -> str:
    return f"'sha256-{b64encode(sha256(block.encode()).digest()).decode()}'"
