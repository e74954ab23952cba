"""The standard library's SQLite without the dates that its package imports beside it, and that nobody here asks it for.

That saves a twentieth of a status line. The quick paths take sqlite3 from here; its classes are the same everywhere.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
else:
    try:
        import _sqlite3 as sqlite3
    except ImportError:  # another interpreter
        import sqlite3

__all__ = ["sqlite3"]
