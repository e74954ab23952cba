"""What a compaction took, and what came back."""
