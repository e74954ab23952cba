"""Our own small files in the home folder, by name: which there are, and which hold what was said. Spec: D16."""

CONFIG = "config.json"
READOUT = "context.json"
STATUS_LINE = "statusline.json"
AUTO_INJECT = "auto-inject.log"
HISTORY = "tui_history"

ALL = (CONFIG, f"{CONFIG}.corrupt", READOUT, STATUS_LINE, AUTO_INJECT, f"{AUTO_INJECT}.1", HISTORY)
SAYING = (READOUT, AUTO_INJECT, f"{AUTO_INJECT}.1", HISTORY)
"""Those that hold what was said or typed."""
DERIVED = (READOUT,)
"""Those that a report writes again whenever it runs."""
REPLACED = (CONFIG, READOUT, STATUS_LINE)
"""Those that are written beside their place first: a killed run may leave half of one there."""
