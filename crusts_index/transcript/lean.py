"""msgspec without what it imports and nobody here asks it for. Others take msgspec from here.

That saves half an interpreter start of each run that reads something new: typing_extensions, of which all that it takes
is in `typing`; its parts for other formats and for schemas; and what `uuid` asks for the system's name.
"""

import os
import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    import msgspec

_PARTS = ("inspect", "_json_schema", "msgpack", "toml", "yaml")


class _Absent(ModuleType):
    """Stands for a module while msgspec is imported: it has every name, and nothing behind it."""

    def __getattr__(self, name: str) -> None:
        return None


class _System(ModuleType):
    """Stands for `platform`, of which `uuid` asks one thing."""

    @staticmethod
    def system() -> str:
        return os.uname().sysname


def _import_lean() -> None:
    parts = {f"msgspec.{part}": _Absent(part) for part in _PARTS}
    others = {"typing_extensions": None, "platform": _System("platform")}  # an import of what is None fails
    stand_ins = {name: module for name, module in (parts | others).items() if name not in sys.modules}
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
