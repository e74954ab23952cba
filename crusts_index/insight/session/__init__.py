"""A session: its rows, its parts, its live path."""
