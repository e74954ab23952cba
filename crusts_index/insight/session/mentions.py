"""Names of files as people say them: the last part of a path, with its folder where that is needed."""

from __future__ import annotations

from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def base_name(path: str) -> str:
    """The last part of a path of any system."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def short_names(paths: Iterable[str]) -> dict[str, str]:
    """The last part of each path, with the folder before it where another path ends in the same."""
    named = {path: base_name(path) for path in paths}
    counts = Counter(named.values())
    return {
        path: name if counts[name] == 1 else "/".join(path.replace("\\", "/").split("/")[-2:])
        for path, name in named.items()
    }
