"""A check of `crusts doctor`: its name, how it went, and what to do; and how a row of them is run."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator

from crusts_index.errors import CrustsError
from crusts_index.tuples import NamedTuple

PASS, WARN, FAIL = "pass", "warn", "fail"
_WORST = (FAIL, WARN, PASS)


class Check(NamedTuple):
    """How one check went."""

    name: str
    status: str
    """pass, warn or fail."""
    detail: str


Verdict = tuple[str, str]
"""Status and detail, as a check's function gives them."""


def run_all(checks: Iterable[tuple[str, Callable[[], Verdict]]]) -> Iterator[Check]:
    """Run the checks one after the other. One that cannot be run has failed; the others go on."""
    for name, check in checks:
        try:
            status, detail = check()
        except (CrustsError, OSError, sqlite3.Error) as error:
            status, detail = FAIL, str(error)
        yield Check(name, status, detail)


def overall(checks: Iterable[Check]) -> str:
    """The worst of them."""
    statuses = {check.status for check in checks}
    return next((one for one in _WORST if one in statuses), PASS)
