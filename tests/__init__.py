"""The tests, and what makes their transcripts."""
