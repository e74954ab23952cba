"""Starts crusts by its place alone, as `python -I -S …/crusts_index/entry.py statusline`.

Without what an installation brings in at each start a status line takes a fifth less, and it needs none of that. Small,
since a file that is run is compiled each time.
"""

if __name__ == "__main__":
    import os
    import sys

    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from crusts_index.__main__ import main

    sys.exit(main())
