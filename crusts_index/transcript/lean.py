"""msgspec without typing_extensions, which it asks for and can do without: what it takes from there is in `typing`.

That saves half an interpreter start of each run that reads something new. Others take msgspec from here.
"""

import sys

if "msgspec" not in sys.modules and "typing_extensions" not in sys.modules:
    sys.modules["typing_extensions"] = None  # type: ignore[assignment] # an import of it fails
    try:
        import msgspec
    finally:
        del sys.modules["typing_extensions"]
else:
    import msgspec

__all__ = ["msgspec"]
