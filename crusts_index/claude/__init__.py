"""Claude Code's own files other than transcripts: where they are, what they say, how to change them."""
