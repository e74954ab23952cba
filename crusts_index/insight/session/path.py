"""The live path through the branches: which records the conversation, as it stands, runs over (D10)."""

from __future__ import annotations

from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Fork(NamedTuple):
    """Where a branch leaves another: `parent`'s records up to `last_record_id` (None: all) come before it.

    Of the response that the last one is a line of, all lines do. `parent` None: the branch goes on from none.
    """

    parent: int | None
    last_record_id: int | None
    response_id: int | None = None


class Path:
    """The branches of a path, each with the last of its records that is on it (None: all are)."""

    __slots__ = ("_bounds", "_responses")

    def __init__(self) -> None:
        self._bounds: dict[int, int | None] = {}
        self._responses: set[int] = set()

    def holds(self, branch: int, record_id: int, response_id: int | None = None) -> bool:
        """Whether a record is on the path."""
        if branch not in self._bounds:
            return False
        bound = self._bounds[branch]
        return bound is None or record_id <= bound or response_id in self._responses

    def add(self, branch: int, last_record_id: int | None, response_id: int | None) -> None:
        """Take a branch in, up to a record."""
        self._bounds[branch] = last_record_id
        if response_id is not None:
            self._responses.add(response_id)


def walk(forks: Mapping[int, Fork], leaf_branch: int, leaf_record_id: int | None = None) -> Path:
    """The path that ends in a branch, at a record of it if one is given; one without a fork is a root."""
    path = Path()
    seen: set[int] = set()
    branch: int | None = leaf_branch
    bound, response = leaf_record_id, None
    while branch is not None and branch not in seen:
        seen.add(branch)
        path.add(branch, bound, response)
        fork = forks.get(branch)
        branch, bound, response = fork if fork else (None, None, None)
    return path
