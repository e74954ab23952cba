"""Safe reading, backing up and replacing of small text files that belong to the user."""

import os
import stat
import time
from _blake2 import blake2b  # not from hashlib, which loads OpenSSL
from contextlib import suppress

from crusts_index.errors import CrustsError
from crusts_index.folders import make_private
from crusts_index.regular import open_regular

MAX_BYTES = 8 * 1024 * 1024
BACKUPS_PER_FILE = 10
BOM = "\ufeff"
NOTES = ".unfinished"
"""Ends the name of the folder beside that of the copies, where notes name files that are to take another's place."""


class FileChanged(Exception):  # noqa: N818 - a signal to read again, not an error
    """The file is no longer what was read; nothing was written."""


class Contents:
    """What a file held when it was read: its bytes and what tells whether it is still the same file."""

    __slots__ = ("data", "inode", "mtime_ns")

    def __init__(self, data: bytes, mtime_ns: int, inode: int) -> None:
        self.data = data
        self.mtime_ns = mtime_ns
        self.inode = inode

    def same_as(self, other: "Contents | None") -> bool:
        """Whether `other` is this very state of the file."""
        return (
            other is not None
            and self.mtime_ns == other.mtime_ns
            and self.inode == other.inode
            and self.data == other.data
        )


def read_contents(path: str) -> Contents | None:
    """The file at `path`, links followed; None if there is none.

    Raises CrustsError for what is no regular file, cannot be read, or is larger than 8 MB.
    """
    try:
        with open_regular(path) as file:
            about = os.fstat(file.fileno())
            if about.st_size > MAX_BYTES:
                raise CrustsError(f"{path}: larger than 8 MB, so it is left alone")
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CrustsError(f"{path}: cannot be read ({error.strerror})") from error
    return Contents(data, about.st_mtime_ns, about.st_ino)


def check_writable(path: str) -> None:
    """Raise CrustsError if the file at `path` (or the folder it would be made in) is not to be written to."""
    real = os.path.realpath(path)
    try:
        mode = os.stat(real).st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise CrustsError(f"{path}: cannot be read ({error.strerror})") from error
    # The bits are asked too, as root may write to anything; a file without them was meant to stay.
    if not mode & 0o222 or not os.access(real, os.W_OK):
        raise CrustsError(f"{path}: is read-only; make it writable (chmod u+w) and run this again")
    if not os.access(os.path.dirname(real), os.W_OK):
        raise CrustsError(f"{path}: its folder {os.path.dirname(real)} is read-only")


def write_atomically(
    path: str, text: str | bytes, expected: Contents | None = None, backups: str | None = None
) -> None:
    """Put `text` in the place of the file at `path`: whole or not at all, links and file mode kept.

    Folders are made as needed. With `expected`, raises FileChanged if the file has changed since. With `backups`, the
    folder of the copies, what a killed run leaves half-written is found there (`unfinished_files`).
    Raises CrustsError if it cannot be written.
    """
    check_writable(path)
    real = os.path.realpath(path)
    temporary = f"{real}.{os.getpid()}.{time.time_ns()}.tmp"
    try:
        os.makedirs(os.path.dirname(real), exist_ok=True)
        mode, owner = _mode_and_owner(real)
        note = _note(backups, temporary)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(text.encode("utf-8") if isinstance(text, str) else text)
                file.flush()
                if owner is not None:
                    with suppress(OSError):  # only root can give a file to someone else
                        os.chown(temporary, *owner)
                os.chmod(temporary, mode)
                os.fsync(file.fileno())
            _check_unchanged(real, expected)
            os.replace(temporary, real)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        finally:
            if note is not None:
                with suppress(OSError):
                    os.unlink(note)
                    os.rmdir(os.path.dirname(note))
        _sync_folder(os.path.dirname(real))
    except OSError as error:
        raise CrustsError(f"{path}: cannot be written ({error.strerror})") from error


def unfinished_files(backups: str) -> list[str]:
    """What writers that are gone left half-written, and their notes of it."""
    try:
        notes = sorted(os.listdir(backups + NOTES))
    except OSError:
        return []
    found = []
    for name in notes:
        note, maker = os.path.join(backups + NOTES, name), name.partition(".")[0]
        if not maker.isdigit() or not is_abandoned(note, int(maker)):
            continue
        with suppress(OSError, UnicodeDecodeError), open(note, encoding="utf-8") as file:
            path = file.read(1 << 16)
            if path.endswith(f".{name}.tmp") and is_abandoned(path, int(maker)):
                found.append(path)
        found.append(note)
    return found


def is_abandoned(path: str, maker: int, kind: int = stat.S_IFREG) -> bool:
    """Whether there is a file of ours at `path`, or of another kind, and the process that made it is gone."""
    try:
        about = os.lstat(path)
        if stat.S_IFMT(about.st_mode) != kind or about.st_uid != os.geteuid():
            return False
        os.kill(maker, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _note(backups: str | None, temporary: str) -> str | None:
    """Write down what is about to be written."""
    if backups is None:
        return None
    note = os.path.join(backups + NOTES, ".".join(temporary.split(".")[-3:-1]))
    with suppress(OSError, UnicodeEncodeError):
        make_private(backups + NOTES)
        with open(os.open(note, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(temporary)
        return note
    return None


def decoded(path: str, data: bytes) -> str:
    """The text of a file at `path` that is to be changed, without a BOM. Raises CrustsError if it is no UTF-8."""
    try:
        return data.decode("utf-8").removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise CrustsError(f"{path}: not UTF-8 text, so it is left alone; save it as UTF-8") from error


def back_up(path: str, backups: str) -> str | None:
    """Copy the file at `path` into the folder `backups`; the copy's path, or None if there is no file.

    The newest ten copies of each file are kept, told apart by the file's full path.
    """
    contents = read_contents(path)
    if contents is None:
        return None
    prefix = _backup_prefix(path)
    try:
        make_private(backups)
        copy = _write_copy(backups, prefix, contents.data)
        _prune(backups, prefix)
    except OSError as error:
        raise CrustsError(f"{backups}: the backup of {path} cannot be written ({error.strerror})") from error
    return copy


def _check_unchanged(path: str, expected: Contents | None) -> None:
    if expected is not None and not expected.same_as(read_contents(path)):
        raise FileChanged(path)


def _mode_and_owner(path: str) -> tuple[int, tuple[int, int] | None]:
    try:
        about = os.stat(path)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask, None
    return stat.S_IMODE(about.st_mode), (about.st_uid, about.st_gid)


def _sync_folder(folder: str) -> None:
    """Make the rename last through a power cut, where folders can be synced at all."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def _backup_prefix(path: str) -> str:
    # Two projects' CLAUDE.md must not push out each other's copies, so the full path is part of the name.
    place = blake2b(os.fsencode(os.path.realpath(path)), digest_size=4).hexdigest()
    return f"{os.path.basename(path)}.{place}."


def _write_copy(backups: str, prefix: str, data: bytes) -> str:
    while True:
        nanoseconds = time.time_ns()
        moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime(nanoseconds // 10**9))
        copy = os.path.join(backups, f"{prefix}{moment}.{nanoseconds % 10**9:09d}Z.bak")
        try:
            descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue  # the clock moves on
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        return copy


def _copies(backups: str, prefix: str) -> list[str]:
    try:
        names = os.listdir(backups)
    except OSError:
        return []
    return sorted(name for name in names if name.startswith(prefix) and name.endswith(".bak"))


def _prune(backups: str, prefix: str) -> None:
    for name in _copies(backups, prefix)[:-BACKUPS_PER_FILE]:
        with suppress(FileNotFoundError):  # another run pruned it
            os.unlink(os.path.join(backups, name))
