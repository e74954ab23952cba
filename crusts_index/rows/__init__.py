"""The rows of the queries, by name: a class a query, its fields the query's columns in their order.

Whoever is passed rows may import them: they know neither store nor SQL. What a column means is told in the head of
the query's file. On the quick paths, so they are made without `typing`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol, TypeVar

    Row = TypeVar("Row", bound=tuple[Any, ...])

    class Fetch(Protocol):
        """`fetch(SessionCall, transcript=1)`: the rows of the query that a class names first, or of another by name."""

        def __call__(self, kind: type[Row], name: str | None = None, /, **parameters: object) -> list[Row]: ...


_queries: "dict[type, tuple[str, ...]]" = {}


def of(*queries: str) -> "Callable[[type[Row]], type[Row]]":
    """Say which queries give a class's rows: its own one first, then those that give some of the same rows."""

    def note(kind: "type[Row]") -> "type[Row]":
        _queries[kind] = queries
        return kind

    return note


def queries_of(kind: type) -> tuple[str, ...]:
    """The names of the queries that give rows of a class."""
    return _queries[kind]
