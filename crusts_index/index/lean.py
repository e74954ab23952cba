"""Imports msgspec without typing_extensions, which it takes where it is installed: that is twice as dear as all of
msgspec, and gives it nothing that the typing of Python 3.11 lacks. To be imported before anything that imports it."""

import sys

if "msgspec" not in sys.modules and "typing_extensions" not in sys.modules:
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # an import of it fails at once
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]
