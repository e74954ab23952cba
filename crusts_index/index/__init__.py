"""Brings the store up to date with the transcripts: find, decide, read, write. The only writer of facts."""
