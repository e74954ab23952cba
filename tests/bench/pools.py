"""Text made once, of which the records of a corpus take slices."""

import base64
import random
from itertools import accumulate

PARTS = (
    "parse load store read index build fetch cache token usage model session line block file path offset "
    "request "
    "context scan walk merge commit schema report query table column value result state buffer thread "
    "prompt window"
).split()
PROSE = (
    "the a of to and in is that for it as with on this be are not by from at which have has can will if "
    "one all when "
    "there use file code test line change error value function result check should need look find fix add "
    "run make see"
).split()


class Pools:
    """Text made once, of which records take slices: code, the same code with line numbers, prose, base64."""

    def __init__(self, chance: random.Random) -> None:
        names = [f"{a}_{b}" for a in PARTS for b in PARTS[::2]]
        lines = [code_line(chance, names) for _ in range(60_000)]
        shown = [f"{1 + n % 1_800:6d}→{line}" for n, line in enumerate(lines)]
        self.code = "\n".join(lines)
        self.shown = "\n".join(shown)
        self.code_starts = [0, *accumulate(len(line) + 1 for line in lines)]
        self.shown_starts = [0, *accumulate(len(line) + 1 for line in shown)]
        words = [chance.choice(PROSE if chance.random() < 0.8 else PARTS) for _ in range(120_000)]
        ends = {0: ". ✅", 1: ".", 14: "."}
        self.prose = " ".join(word + ends.get(n % 27, "") for n, word in enumerate(words))
        self.base64 = base64.b64encode(chance.randbytes(1_500_000)).decode()
        kinds = ("py", "ts", "md")
        self.paths = [f"src/{chance.choice(PARTS)}/{chance.choice(names)}.{chance.choice(kinds)}" for _ in range(900)]
        self.listing = "\n".join(chance.choices(self.paths, k=4_000))


def code_line(chance: random.Random, names: list[str]) -> str:
    """One line that reads like source, with the quotes, tabs and backslashes that JSON has to escape."""
    indent = "    " * min(5, int(chance.expovariate(0.7)))
    a, b, c = chance.choices(names, k=3)
    match chance.randrange(10):
        case 0:
            return ""
        case 1:
            return f"{indent}def {a}({b}, {c}={chance.randint(0, 999)}):"
        case 2:
            return f'{indent}"""{" ".join(chance.choices(PROSE, k=9))}."""'
        case 3:
            return f"{indent}# {' '.join(chance.choices(PROSE, k=8))}"
        case 4:
            return f'\t\t{a}["{b}"] += {c}({chance.randint(2, 99)})'
        case 5:
            return f'{indent}return {{\'{a}\': {b}, "{c}": "\\\\n"}}'
        case 6:
            return f"{indent}if {a} is not None and len({b}) > {chance.randint(0, 99)}:"
        case _:
            return f'{indent}{a} = {b}.get("{chance.choice(PARTS)}", {c})'


def cut(text: str, chance: random.Random, size: int) -> str:
    """A slice of a pool."""
    start = int(chance.random() * (len(text) - size))
    return text[start : start + size]
