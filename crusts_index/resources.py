"""Where the shipped folders are: `queries` and `migrations`, in a wheel and in a checkout."""

import os

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def resource_path(name: str, *parts: str) -> str:
    """Path of the shipped folder `name`, or of a file in it; plain text, since pathlib is slow to import."""
    installed = os.path.join(_PACKAGE, name)
    folder = installed if os.path.isdir(installed) else os.path.join(os.path.dirname(_PACKAGE), name)
    return os.path.join(folder, *parts)
