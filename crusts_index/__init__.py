"""Crusts: indexes Claude Code transcripts into SQLite and answers what fills the context window."""

__version__ = "0.1.0"
