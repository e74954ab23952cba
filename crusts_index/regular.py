"""Opens files in whose place others may have put something else: a pipe, a socket or a device is refused at once, not
waited for. Writes files of ours, whole or not at all."""

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: str, buffering: int = -1) -> "BinaryIO":
    """The regular file at `path`, links followed, open for reading bytes.

    Raises OSError, whose text says so where there is something else than a regular file.
    """
    try:
        _demand_regular(os.stat(path), path)  # before it is opened: opening alone moves some devices
        descriptor = os.open(path, os.O_RDONLY | _NO_WAIT)
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise OSError(errno.EINVAL, "not a file's name", path) from error
    try:
        _demand_regular(os.fstat(descriptor), path)
        return open(descriptor, "rb", buffering)
    except BaseException:
        os.close(descriptor)
        raise


def is_regular(path: str) -> bool | None:
    """Whether there is a regular file; None where there is nothing at all, or nothing that can be seen."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return None


def replace_private(path: str, data: bytes, *, lasting: bool = False) -> None:
    """Put `data` in the place of the file at `path`, whole or not at all, for its owner only; a link stays a link.

    A pipe or device in its place is written to: nothing may take the place of /dev/null. What is `lasting` is on the
    disk before it takes the file's place. Raises OSError.
    """
    real = os.path.realpath(path)
    if is_regular(real) is False and not os.path.isdir(real):
        with open(real, "wb") as stream:
            stream.write(data)
        return
    unfinished = f"{real}.{os.getpid()}.new"
    handle = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        os.replace(unfinished, real)
    except BaseException:
        os.remove(unfinished)
        raise


def _demand_regular(about: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)
