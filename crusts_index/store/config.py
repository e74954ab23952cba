"""config.json in CRUSTS_HOME: read with care, written without losing anybody's keys."""

import errno
import os

from crusts_index.errors import CrustsError
from crusts_index.folders import make_private
from crusts_index.jsontext import TOO_DEEP, loads_shallow
from crusts_index.plain import note
from crusts_index.regular import open_regular, replace_private
from crusts_index.store.files import CONFIG

Config = dict[str, object]

KEEP_TEXT = "keepText"
_MOST_BYTES = 8 << 20
_YES = ("true", "yes", "on", "1")


class Unread(Config):
    """What stands for a config.json that cannot be read: no text is kept, but none is taken out either."""


def config_path(home: str) -> str:
    """Where the settings of `home` stand."""
    return os.path.join(home, CONFIG)


def read_config(home: str) -> Config:
    """What config.json says; nothing if it is absent. What cannot be used is told on stderr."""
    path = config_path(home)
    try:
        content = _read(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        _warn(path, error.strerror or str(error))
        return Unread({KEEP_TEXT: False})
    try:
        return _decode(content)
    except ValueError as error:
        _warn(path, str(error))
        return Unread({KEEP_TEXT: False})


def keeps_text(config: Config) -> bool:
    """Whether text may be kept (D16): unless the user said anything but yes to it, or what was said cannot be read."""
    return config.get(KEEP_TEXT, True) is True


def forbids_text(config: Config) -> bool:
    """Whether text that was kept is to go: the user said no; a file that cannot be read or a mistyped yes did not."""
    said = config.get(KEEP_TEXT, True)
    is_said = not isinstance(config, Unread) and str(said).strip().lower() not in _YES
    return is_said and not keeps_text(config)


def write_config(home: str, changes: Config) -> None:
    """Merge `changes` into config.json, key by key at every depth; None removes a key. Atomic, mode 0600.

    A file that was no JSON object is kept beside it as `config.json.corrupt`. Raises CrustsError if it
    cannot be written.
    """
    path = os.path.realpath(config_path(home))  # a linked file stays a link
    try:
        make_private(os.path.dirname(path))
        content = _read(path) if os.path.exists(path) else b""
        try:
            current = _decode(content) if content.strip() else {}
        except ValueError:
            replace_private(path + ".corrupt", content, lasting=True)
            current = {}
        import json

        text = json.dumps(_merge(current, changes), indent=2, ensure_ascii=False) + "\n"
        replace_private(path, text.encode("utf-8", "surrogatepass"), lasting=True)
    except OSError as error:
        raise CrustsError(f"cannot write {path}: {error.strerror or error}") from error


def _read(path: str) -> bytes:
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > _MOST_BYTES:
            raise OSError(errno.EFBIG, "larger than 8 MB", path)
        return file.read(_MOST_BYTES)


def _decode(content: bytes) -> Config:
    """The settings in a file's content. Raises ValueError, saying in a few words why it holds none."""
    try:
        config = loads_shallow(content.decode("utf-8").removeprefix("\ufeff"))
    except ValueError as error:
        raise ValueError(TOO_DEEP if str(error) == TOO_DEEP else "not a JSON object") from error
    if not isinstance(config, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - it is a value of a file
    return config


def _merge(current: Config, changes: Config) -> Config:
    merged = dict(current)
    for key, value in changes.items():
        old = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(old, dict):
            merged[key] = _merge(old, value)
        else:
            merged[key] = value
    return merged


def _warn(path: str, reason: str) -> None:
    note(f"{path}: {reason}; going on with the defaults, and keeping no text")
