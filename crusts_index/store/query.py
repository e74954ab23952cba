"""The one reader of `queries/`: each file is a statement with named parameters, null meaning no filter.

On the quick path, so neither pathlib, re nor typing is imported.
"""

import os
from functools import cache, partial

from crusts_index.errors import CrustsError
from crusts_index.resources import resource_path
from crusts_index.rows import queries_of
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import explained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from crusts_index.rows import Row

# What opens a part that a parameter cannot stand in, and what closes it.
_OPAQUE = {"--": "\n", "/*": "*/", "'": "'", '"': '"', "`": "`", "[": "]"}


def sql(name: str) -> str:
    """The text of `queries/<name>.sql`. Raises CrustsError if there is no such file."""
    return _read(name)[0]


def find_parameters(text: str) -> frozenset[str]:
    """The names of the `:parameters` of a statement; a colon in a comment, literal or quoted name is none."""
    # By hand, since `re` costs half an interpreter start to import and this is on the quick path.
    found: set[str] = set()
    at, length = 0, len(text)
    nearest = dict.fromkeys((":", *_OPAQUE), -1)
    while True:
        for mark, place in nearest.items():
            if place < at:
                place = text.find(mark, at)
                nearest[mark] = place if place >= 0 else length
        mark, at = min(nearest.items(), key=_place)
        if at == length:
            break
        start = at = at + len(mark)
        if mark == ":":
            while at < length and (text[at].isalnum() or text[at] == "_"):
                at += 1
            found.add(text[start:at])
        else:
            # A doubled quote closes and opens again at once, which comes to the same.
            end = text.find(_OPAQUE[mark], at)
            at = end + len(_OPAQUE[mark]) if end >= 0 else length
    found.discard("")
    return frozenset(found)


def parameters(name: str) -> frozenset[str]:
    """The names of the `:parameters` of `queries/<name>.sql`."""
    return _read(name)[1]


def _place(mark: tuple[str, int]) -> int:
    return mark[1]


def names() -> list[str]:
    """The queries there are, in name order; views are not among them."""
    return _stems(resource_path("queries"))


def rows(connection: sqlite3.Connection, kind: "type[Row]", name: str | None = None, /, **given: object) -> "list[Row]":
    """The rows of a class's query, by name; `name` = of another query that gives some of the same rows.

    Every parameter in the file must be given; None means no filter.
    Raises TypeError for parameters the file lacks or that are not given: a mistake in the program.
    Raises CrustsError for what the user can mend: a busy, damaged or full store.
    """
    return list(each(connection, kind, name, **given))


def each(
    connection: sqlite3.Connection, kind: "type[Row]", name: str | None = None, /, **given: object
) -> "Iterator[Row]":
    """As `rows`, one after the other: for more of them than should be held at once."""
    text = _checked(name or queries_of(kind)[0], given)
    with explained(connection):
        yield from map(partial(tuple.__new__, kind), connection.execute(text, given))


def view_scripts() -> list[tuple[str, str]]:
    """(name, text) of `queries/views/*.sql` in name order; each is one `create view <name> as …`.

    Any order works: SQLite looks up the names in a view when the view is used.
    """
    folder = resource_path("queries", "views")
    return [(name, _text(os.path.join(folder, f"{name}.sql"))) for name in _stems(folder)]


def _checked(name: str, given: "dict[str, object]") -> str:
    """The text of a query, with all its parameters given, and nothing in them that SQLite cannot take."""
    text, wanted = _read(name)
    if given.keys() != wanted:
        missing, unknown = sorted(wanted - given.keys()), sorted(given.keys() - wanted)
        raise TypeError(f"queries/{name}.sql: not given: {missing}, not in the file: {unknown}")
    for key, value in given.items():
        if isinstance(value, str) and not value.isascii():  # bytes of a path that are no text match nothing
            given[key] = value.encode("utf-8", "replace").decode()
    return text


@cache
def _read(name: str) -> tuple[str, frozenset[str]]:
    try:
        text = _text(resource_path("queries", f"{name}.sql"))
    except FileNotFoundError:
        raise CrustsError(f"there is no query named {name}") from None
    return text, find_parameters(text)


def _stems(folder: str) -> list[str]:
    return sorted(entry[:-4] for entry in os.listdir(folder) if entry.endswith(".sql"))


def _text(path: str) -> str:
    with open(path, "rb", 0) as file:  # as bytes and without a buffer: a third of the time, and there are many
        return file.read().decode()
