"""From the bytes of a transcript to facts: lines, records, blocks, tokens. Pure: no files opened, no database, no clock."""
