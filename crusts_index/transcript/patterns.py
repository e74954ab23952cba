"""Expressions that few lines need, compiled when the first one does: a short run reads none of them."""

import re

NULS = re.compile(rb"(?<!\\)((?:\\\\)*+)\\u0000")
r"""Escaped NULs. Behind an odd number of backslashes: `\\u0000` is a backslash and five characters."""
SURROGATES = re.compile("[\ud800-\udfff]")
EXCESS_DIGITS = re.compile(r"(\.\d{6})\d+")
"""Of the part of a second, what is finer than a millionth."""
OWN_COMMAND = re.compile(r"(?:^|[\s;&|/(])(?:claude-)?crusts(?:\s|$)")
STUB = re.compile(r"\s*+(?:<system-reminder>)?+\s*+File (?:has )?+(?:not changed|unchanged)")
"""What stands for a file that was read before and is as it was."""
