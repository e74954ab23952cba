"""msgspec without what it imports and nobody here asks it for. Others take msgspec from here.

That saves two thirds of an interpreter start of each run that reads something new: typing_extensions, of which all that
it takes is in `typing`; its parts for other formats and for schemas; uuids and decimals, which no line of a transcript
holds; and of dates all that is not in their C module.
"""

import sys
from types import ModuleType

from crusts_index.errors import ignored

TYPE_CHECKING = False
if TYPE_CHECKING:
    import msgspec

_PARTS = ("inspect", "_json_schema", "msgpack", "toml", "yaml")


class _Nothing:
    """A type that no value is of."""

    unknown = None


class _Absent(ModuleType):
    """Stands for a module while msgspec is imported: it has every name, and nothing behind it."""

    def __getattr__(self, name: str) -> type[_Nothing]:
        return _Nothing


def _import_lean() -> None:
    absent = ("uuid", "decimal", *(f"msgspec.{part}" for part in _PARTS))
    others: dict[str, ModuleType | None] = {name: _Absent(name) for name in absent}
    others["typing_extensions"] = None  # so that an import of it fails
    with ignored(ImportError):  # another interpreter
        others["datetime"] = __import__("_datetime")
    stand_ins = {name: module for name, module in others.items() if name not in sys.modules}
    sys.modules.update(stand_ins)  # type: ignore[arg-type]
    try:
        import msgspec
    finally:
        for name in stand_ins:
            del sys.modules[name]
    for part in _PARTS:  # who asks for one of them by an import of its own is given it
        vars(msgspec).pop(part, None)


if "msgspec" not in sys.modules:
    _import_lean()
import msgspec  # noqa: E402

__all__ = ["msgspec"]
