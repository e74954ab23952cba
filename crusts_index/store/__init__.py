"""The SQLite store: its schema, how it is opened, upgraded, queried and priced."""
