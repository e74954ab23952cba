"""The entry point: picks the quick path, or the full command line, and turns errors into exit codes."""

import gc
import io
import os
import sys

from crusts_index.errors import CrustsError, NotQuick
from crusts_index.plain import lines, note, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

# Commands that answer before typer is imported: it costs more than all they do.
QUICK = {
    "status": "crusts_index.quick.status",
    "statusline": "crusts_index.quick.statusline",
    "auto-inject": "crusts_index.quick.auto_inject",
    "index": "crusts_index.quick.index",
}
# Claude Code runs these; a failure of ours must never look like one of theirs.
HOOK_TARGETS = {"status", "statusline", "auto-inject"}  # and `index --hook`

_FULL = "crusts_index.cli.commands"
"""The full command line; a quick command that did without left nothing to be taken down."""

# These look and are done: there is nothing to collect before they are over, and nothing left to take down.
AT_A_GLANCE = {
    *("status", "statusline", "auto-inject", "readout", "usage", "list", "models", "analyze", "waste", "fix"),
    *("timeline", "diff", "compare", "trend", "lost", "accuracy", "cache", "why"),
}


def main(argv: list[str] | None = None) -> int:
    """Run one command line; returns the exit code: 0 done, 1 could not, 2 wrong usage, 130 interrupted."""
    is_process = argv is None
    if is_process:
        _speak_utf8()
    args = [_readable(word) for word in sys.argv[1:]] if argv is None else argv
    _open_closed_streams()
    if is_process:
        _print_anything()
        _forgive_stderr()
    quick = _quick(args)
    is_glance = is_process and bool(args) and args[0] in AT_A_GLANCE
    if is_glance or (is_process and quick is not None):
        gc.disable()  # imports leave next to nothing to collect; looking for it takes them a twelfth more
    try:
        code = _run(args, quick, is_process=is_process)
    except BrokenPipeError:
        code = 0
    except KeyboardInterrupt:
        code = 130
    except CrustsError as error:
        code = _complain(str(error), error.exit_code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        code = _complain(f"{where}{error.strerror or error}", 1)
    except Exception as error:
        if type(error).__module__ == "sqlite3":  # asked so, since many a quick command imports no sqlite3
            code = _complain(f"the store cannot answer ({error}): `crusts doctor` looks it over", 1)
        else:
            code = _own_up(error, is_verbose="-v" in args or "--verbose" in args)
    code = _flush(code)
    is_small = quick is not None and (_FULL not in sys.modules or _is_target(*quick))
    if is_glance or (is_process and is_small):
        _leave(code)
    return code


def _speak_utf8() -> None:
    """Start over in UTF-8 mode where the locale has another encoding.

    What is typed, what files are called and what is printed is UTF-8 nearly everywhere, whatever the locale says;
    read as another encoding, words are not found and paths can be neither stored nor opened again.
    """
    mode = ["-X", "utf8"]
    if sys.getfilesystemencoding() != "utf-8" and sys.orig_argv[1:3] != mode and sys.executable:
        try:
            os.execv(sys.executable, [sys.executable, *mode, *sys.orig_argv[1:]])
        except OSError:
            return


def _readable(word: str) -> str:
    """An argument as text: what is no UTF-8 is in the locale's encoding, unless it names a file as it stands."""
    try:
        word.encode()
    except UnicodeEncodeError:
        if not os.path.lexists(word.partition("=")[2] or word):
            import locale

            return os.fsencode(word).decode(locale.getencoding(), "replace")
    return word


def _print_anything() -> None:
    """Have characters that a stream's encoding lacks become question marks: no text makes a command fail."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _open_closed_streams() -> None:
    """Give a stream that the caller closed nothing to read or write: else the next file opened would take its place."""
    for fd, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            while os.open(os.devnull, os.O_RDWR) < fd:
                pass
            setattr(sys, name, open(fd, mode))  # noqa: SIM115 - stays open as long as the process


class _Stderr(io.TextIOWrapper):
    """Standard error: where it cannot be written to, nobody reads it, and that is no reason to fail."""

    def __init__(self, plain: io.TextIOWrapper) -> None:
        super().__init__(plain.buffer, plain.encoding, plain.errors, line_buffering=True)
        self._plain = plain  # which would take the buffer along if it went

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            _drop(self)
            return len(text)


def _forgive_stderr() -> None:
    if type(sys.stderr) is io.TextIOWrapper:
        sys.stderr = _Stderr(sys.stderr)


def _run(args: list[str], quick: tuple[str, list[str]] | None, *, is_process: bool) -> int:
    if quick is not None:
        try:
            if _is_target(*quick):
                return _run_target(*quick, is_process=is_process)
            return _run_quick(*quick)
        except NotQuick:
            if args[0] not in AT_A_GLANCE:
                gc.enable()
    if sys.flags.no_site:  # started by `entry`, to do more than that is for
        import site

        site.main()
    from crusts_index.cli import commands

    return commands.run(args)


def _quick(args: list[str]) -> tuple[str, list[str]] | None:
    """The quick command that these arguments name, if any, and what else they say.

    Options before the name are quick only before a hook target's: they count as if they stood behind it.
    """
    if not args or "--help" in args or "-h" in args:
        return None
    at = 0
    if args[0].startswith("-"):
        from crusts_index.quick.target import place_of_name

        at = place_of_name(args)
    if at == len(args) or args[at] not in QUICK:
        return None
    name, others = args[at], args[:at] + args[at + 1 :]
    return (name, others) if at == 0 or _is_target(name, others) else None


def _is_target(name: str, args: list[str]) -> bool:
    """Whether Claude Code may be running this and waiting for it."""
    if name != "index":
        return name in HOOK_TARGETS
    from crusts_index.quick.target import is_hook

    return is_hook(args)


def _run_quick(name: str, args: list[str]) -> int:
    """Run a quick module; NotQuick if it is absent or declines."""
    module = QUICK[name]
    try:
        # Not importlib.import_module: importlib itself costs a tenth of the start.
        run = __import__(module, fromlist=["run"]).run
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(error.name + ".")):
            raise NotQuick from None
        raise
    code: int = run(args)
    return code


def _run_target(name: str, args: list[str], *, is_process: bool) -> int:
    """Run what Claude Code waits for: whatever fails is told in one line, and the exit code is 0."""
    from crusts_index.quick import target

    if is_process:
        target.own_process()
    try:
        code = _run_quick(name, args)
        sys.stdout.flush()
        return code
    except NotQuick:
        raise
    except BaseException as error:
        if not isinstance(error, BrokenPipeError):
            _complain(str(error) or type(error).__name__, 0)
        _flush(1)
        return 0
    finally:
        target.finish()


def _flush(code: int) -> int:
    """Write out what stdout holds; the exit code, 1 where it was 0 and that cannot be done, unless nobody reads it.

    Here rather than at exit, where Python would print a traceback, and end with a code of its own.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # the reader has seen enough, which is no failure
    except (OSError, ValueError) as error:
        code = code or _complain(f"cannot write the answer: {getattr(error, 'strerror', None) or error}", 1)
    else:
        return code
    _drop(sys.stdout)
    return code


def _drop(stream: "TextIO") -> None:
    """What the stream holds, and all that is still written to it, goes nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        stream.flush()
    except (OSError, ValueError):
        pass  # it is closed


def _leave(code: int) -> None:
    """End at once: all is written and closed, and taking the interpreter down costs a fifth of a bare start."""
    os._exit(code)


def _complain(message: str, code: int) -> int:
    note(message)
    return code


def _own_up(error: Exception, *, is_verbose: bool) -> int:
    """A fault of ours: one line, or the traceback for whoever asks for more. What is in it may come from anywhere."""
    import traceback

    if is_verbose:
        tell(lines("".join(traceback.format_exception(error)).rstrip()))
        return 1
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}:{last.lineno}"
    return _complain(f"{type(error).__name__}: {error} ({where}): a fault of crusts; --verbose shows more of it", 1)


if __name__ == "__main__":
    sys.exit(main())
