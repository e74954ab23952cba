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

# Both are stored as they are, yet the driver looks for a way to store them, value by value, and where it finds none it
# words an error that nobody sees: a third of what it takes to write rows. These give them back at next to no cost.
_NOTHING: dict[None, None] = {}
sqlite3.register_adapter(type(None), _NOTHING.get)
sqlite3.register_adapter(bytes, bytes)
