"""The class of each query's rows."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from crusts_index import rows


def kinds() -> dict[str, type[Any]]:
    """The class by the query's name. Fails where two classes name one query."""
    found: dict[str, type[Any]] = {}
    for module in pkgutil.iter_modules(rows.__path__, f"{rows.__name__}."):
        for kind in vars(importlib.import_module(module.name)).values():
            if isinstance(kind, type) and issubclass(kind, tuple) and kind.__module__ == module.name:
                for name in rows.queries_of(kind):
                    assert found.setdefault(name, kind) is kind, name
    return found
