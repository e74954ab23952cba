"""From the bytes of a transcript to facts: lines, records, blocks, tokens. Pure: no files, no database, no clock."""
