"""The entry point: picks the quick path, or the full command line, and turns errors into exit codes."""

import io
import os
import sys

from crusts_index.errors import CrustsError, NotQuick
from crusts_index.plain import lines, note, tell

# Commands that answer before typer is imported: it costs more than all they do.
QUICK = {
    "status": "crusts_index.quick.status",
    "statusline": "crusts_index.quick.statusline",
    "auto-inject": "crusts_index.quick.auto_inject",
    "readout": "crusts_index.quick.readout",
    "index": "crusts_index.quick.index",
}
# Claude Code runs these; a failure of ours must never look like one of theirs.
HOOK_TARGETS = {"status", "statusline", "auto-inject", "index"}

# These look and are done: they leave nothing behind that would have to be taken down.
AT_A_GLANCE = {"status", "statusline", "auto-inject", "readout"}


def main(argv: list[str] | None = None) -> int:
    """Run one command line; returns the exit code: 0 done, 1 could not, 2 wrong usage, 130 interrupted."""
    if argv is None:
        _speak_utf8()
    args = [_readable(word) for word in sys.argv[1:]] if argv is None else argv
    _open_closed_streams()
    if argv is None:
        _print_anything()
    try:
        code = _run(args)
        _flush()
        if argv is None and args and args[0] in AT_A_GLANCE:
            _leave(code)
    except BrokenPipeError:
        return _drop_output()
    except KeyboardInterrupt:
        return 130
    except CrustsError as error:
        return _complain(str(error), error.exit_code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _complain(f"{where}{error.strerror or error}", 1)
    except Exception as error:
        if type(error).__module__ == "sqlite3":  # asked so, since many a quick command imports no sqlite3
            return _complain(f"the store cannot answer ({error}): `crusts doctor` looks it over", 1)
        return _own_up(error, is_verbose="-v" in args or "--verbose" in args)
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


def _run(args: list[str]) -> int:
    name = _quick_name(args)
    if name:
        try:
            return _run_quick(name, args[1:])
        except NotQuick:
            pass
    from crusts_index.cli import app

    return app.run(args)


def _quick_name(args: list[str]) -> str | None:
    """The quick command that these arguments name, if any; options before the name are not quick."""
    if not args or args[0] not in QUICK or "--help" in args or "-h" in args:
        return None
    return args[0]


def _run_quick(name: str, args: list[str]) -> int:
    """Run a quick module; NotQuick if it is absent or declines. A hook target's failure is told, exit 0."""
    module = QUICK[name]
    if name in AT_A_GLANCE:
        import gc

        gc.disable()  # over before there is anything to collect
    try:
        # Not importlib.import_module: importlib itself costs a tenth of the start.
        run = __import__(module, fromlist=["run"]).run
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(error.name + ".")):
            raise NotQuick from None
        raise
    try:
        code: int = run(args)
        _flush()
    except (NotQuick, BrokenPipeError):
        raise
    except Exception as error:
        if name not in HOOK_TARGETS or (name == "index" and "--hook" not in args):
            raise
        return _complain(str(error) or type(error).__name__, 0)
    return code


def _flush() -> None:
    # Here rather than at exit, where a closed pipe would print a traceback.
    if sys.stdout is not None:
        sys.stdout.flush()


def _leave(code: int) -> None:
    """End at once: all is written and closed, and taking the interpreter down costs a fifth of a bare start."""
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(code)


def _drop_output() -> int:
    """The reader of our output is gone: nothing more to say, and nothing at exit either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


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
