"""Which session the user means: by the start of its id, the Nth newest, or the one last active."""

from __future__ import annotations

from crusts_index.errors import CrustsError
from crusts_index.folders import project_path
from crusts_index.rows.session import SessionNamed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.rows import Fetch

_MOST_CANDIDATES = 10


def choose_session(
    fetch: Fetch,
    prefix: str | None = None,
    *,
    last: int | None = None,
    project: str | None = None,
    folder: str | None = None,
) -> str:
    """The id of the session meant. `folder` is where the user stands: without an id its sessions come first.

    Raises CrustsError where no session fits, or several fit the prefix.
    """

    def named(limit: int, start: str | None = None, cwd: str | None = None) -> list[str]:
        rows = fetch(SessionNamed, prefix=start, project=project, cwd=cwd, limit=limit)
        return [row.session_id for row in rows]

    if prefix:
        found = named(_MOST_CANDIDATES + 1, start=prefix)
        exact = prefix in found
        if len(found) > 1 and not exact:
            some = ", ".join(found[:_MOST_CANDIDATES])
            more = " and more" if len(found) > _MOST_CANDIDATES else ""
            raise CrustsError(f"several sessions begin with {prefix!r}: {some}{more}")
        if not found:
            raise CrustsError(f"no session begins with {prefix!r}: `crusts list` shows them")
        return prefix if exact else found[0]
    if last is not None:
        found = named(last)
        if len(found) < last:
            raise CrustsError(f"there are only {len(found):,} sessions" if found else _none(project))
        return found[-1]
    found = (named(1, cwd=project_path(folder)) if folder else []) or named(1)
    if not found:
        raise CrustsError(_none(project))
    return found[0]


def _none(project: str | None) -> str:
    if project:
        return f"no session of a project with {project!r} in its path: `crusts list` shows them"
    return "the store has no sessions yet: run `crusts index`"
