"""Rows and insights as text, JSON, CSV, Markdown and HTML; nothing here asks the store."""
