"""The errors a user can cause, each printed as one line on stderr, and the one signal of the quick path."""


class CrustsError(Exception):
    """Could not do it: the message says what happened and what to do. Exit code 1."""

    exit_code = 1


class WrongUsage(CrustsError):  # noqa: N818 - what it is, in the words of the exit code's description
    """A flag, argument or setting on the command line makes no sense. Exit code 2."""

    exit_code = 2


class NotQuick(Exception):  # noqa: N818 - a signal, not an error: the full command line takes over
    """A quick module, having done nothing yet, leaves these arguments to the full command line."""


class ignored:  # noqa: N801 - used as a word: `with ignored(OSError):`
    """Goes on behind the block where one of these errors is raised in it: `contextlib.suppress`, whose import takes a
    quick path a millisecond.
    """

    def __init__(self, *kinds: type[BaseException]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        """Nothing is to be done before."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        """Whether the error is one to go on behind."""
        return kind is not None and issubclass(kind, self._kinds)
