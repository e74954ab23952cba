"""Made-up transcripts by the gigabyte for the benchmarks, in the proportions of real ones.

Proportions, counted over 300 MB (seed 1), beside those of some 400 real transcripts (1.0.24 to 2.1.222):

    kind                    lines %  (real)   bytes %  (real)   mean bytes
    user                       20.7    21        55.6    56          7,166
    assistant                  34.8    34        20.9    20          1,601
    agent_progress              2.8     2.6      11.6    12         11,260
    hook_progress              20.7 }  32         4.3     5.6          551
    bash_progress               7.2 }             3.1     3          1,131
    attachment                  6.2     4         2.6     2          1,101
    file-history-snapshot       2.1     2         0.8                1,017
    system                      2.5     2.4       0.5                  512
    metadata                    1.6     1.5       0.1                  145
    queue-operation             0.8     1         0.05                 170
    copied from another         0.8               0.7                2,507
    torn                        0.01              0.00               1,652
    all                       100     100       100     100          2,671

Of all bytes, originalFile holds 18.8 % (16 to 22), tool results 11.9 % (14), prose 1.6 % (under 2). Versions
up to 2.1.80 log progress, those from 2.1.100 on attachments; two sessions in three are of the older kind.

Same arguments, same bytes. Beside `projects/` lies `manifest.json`: what a reader must find.
"""

import json
import os
import random
import sys
import time
from pathlib import Path

from tests.bench.pools import PARTS, Pools
from tests.bench.threads import Json, Thread, Truth, dumps

MEAN_SESSION = 600_000  # bytes of a main transcript, before its subagents
MEAN_SMALL = 45_000  # bytes of a file when many are asked for
LARGEST = 40_000_000
START_MS = 1_788_220_800_000  # 2026-09-01T00:00:00Z
OVERHEAD = 1.7  # how much a session outgrows its target: its last turn, its subagents
DAYS = 85
SPILLING = 0.25  # sessions with a folder of results beside them: with these, half as many folders as transcripts


class Maker:
    """Makes sessions and writes them below a folder."""

    def __init__(self, folder: Path, seed: int, *, subagents: bool = True) -> None:
        self.folder, self.chance, self.subagents = folder, random.Random(seed), subagents
        self.pools, self.truth = Pools(self.chance), Truth()
        self.cwds = [f"/home/ada/{self.chance.choice(PARTS)}-{self.chance.choice(PARTS)}{n}" for n in range(24)]
        self.weights = [1 / (n + 1) for n in range(24)]
        self.spills = random.Random(seed)
        self.seconds: tuple[int, str] = (0, "")
        self.previous: Thread | None = None

    def second(self, seconds: int) -> str:
        """`2026-09-01T10:00:00` of a Unix time; the last one is remembered."""
        if self.seconds[0] != seconds:
            self.seconds = (seconds, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)))
        return self.seconds[1]

    def session(self, size: int) -> None:
        """A session with its subagents; one in twenty-five begins with a copy of the one before."""
        chance = self.chance
        cwd = chance.choices(self.cwds, self.weights)[0]
        start = START_MS + chance.randrange(DAYS * 86_400_000)
        digits = f"{chance.getrandbits(128):032x}"
        name = f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
        thread = Thread(self, name, cwd, start, old=chance.random() < 0.68)
        if self.previous is not None and chance.random() < 0.04:
            self.copy(self.previous, thread)
        thread.run(size)
        self.write(thread)
        self.previous = thread

    def copy(self, source: Thread, thread: Thread) -> None:
        """The first turns of another session again: as a resume wrote them, or as a fork does."""
        end = next((turn for turn in reversed(source.turns) if turn <= 80), 0)
        forked = self.chance.random() < 0.5
        for line in source.lines[:end]:
            thread.put("copied", fork(line, source.session, thread.session) if forked else line)
        self.truth.copied += end
        thread.now = max(thread.now, source.now + 60_000)

    def write(self, thread: Thread, sidecar: Json | None = None) -> None:
        """A thread's file, as old as its last record, and a subagent's sidecar."""
        place = self.folder / "projects" / thread.cwd.replace("/", "-")
        path = place / f"{thread.session}.jsonl"
        if thread.agent:
            path = place / thread.session / "subagents" / f"agent-{thread.agent}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, thread)
        if not thread.agent and self.spills.random() < SPILLING:
            place = path.with_suffix("") / "tool-results"
            place.mkdir(parents=True, exist_ok=True)
            (place / "result.txt").write_text("a result that was too long for the transcript\n")
        if sidecar is not None:
            path.with_suffix(".meta.json").write_bytes(dumps(sidecar))
        self.truth.files += 1


def fork(line: bytes, source: str, session: str) -> bytes:
    """The line as a fork of the session copies it: under the new session, with a note of where it is from."""
    renamed = line.replace(source.encode(), session.encode(), 1)
    if not line.startswith(b'{"parentUuid"') or not line.endswith(b"}\n"):
        return renamed
    at = renamed.rindex(b'"uuid":"') + 8
    origin = {"sessionId": source, "messageUuid": renamed[at : at + 36].decode()}
    return renamed[:-2] + b',"forkedFrom":' + dumps(origin) + b"}\n"


def put(path: Path, thread: Thread) -> None:
    """The lines to a file of the age of the last one."""
    with path.open("wb") as file:
        file.writelines(thread.lines)
    os.utime(path, (thread.now / 1_000, thread.now / 1_000))


def make_corpus(folder: Path, megabytes: float | None = None, seed: int = 1, files: int | None = None) -> Json:
    """Write `projects/` and `manifest.json` below a folder and return the manifest.

    By size: about `megabytes` (millions of bytes), in sessions of 0.6 MB on average. By number: that many
    `files` or a few more, of 45 KB on average unless `megabytes` says how much all of them hold.
    """
    folder = Path(folder)
    maker = Maker(folder, seed)
    truth, chance = maker.truth, maker.chance
    if megabytes is None and files is None:
        raise ValueError("say how many megabytes or how many files")
    wanted = int((megabytes or 0) * 1_000_000)
    mean: float = MEAN_SESSION
    if files is not None:
        mean = (wanted / files if wanted else MEAN_SMALL) / OVERHEAD
    while truth.files < files if files is not None else truth.bytes < wanted:
        size = int(mean * chance.lognormvariate(-0.6, 1.1))
        if files is None:
            size = min(size, LARGEST, wanted - truth.bytes)
        maker.session(max(2_000, size))
    manifest = truth.manifest()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))
    return manifest


def make_transcript(path: Path, megabytes: float, seed: int = 1) -> Json:
    """Write one main transcript of about that size, with subagents in its progress only; its manifest."""
    path = Path(path)
    maker = Maker(path.parent, seed, subagents=False)
    thread = Thread(maker, path.stem, maker.cwds[0], START_MS, old=True)
    thread.run(int(megabytes * 1_000_000))
    path.parent.mkdir(parents=True, exist_ok=True)
    put(path, thread)
    maker.truth.files = 1
    return maker.truth.manifest()


def shares(manifest: Json) -> str:
    """The proportions of a corpus as a table."""
    rows = [f"{'kind':24}{'lines %':>9}{'bytes %':>9}{'mean bytes':>12}"]
    for kind, counted in sorted(manifest["kinds"].items(), key=lambda item: -item[1]["bytes"]):
        lines, size = 100 * counted["lines"] / manifest["lines"], 100 * counted["bytes"] / manifest["bytes"]
        rows.append(f"{kind:24}{lines:9.2f}{size:9.2f}{counted['bytes'] // counted['lines']:12,}")
    rows.append(f"{'all':24}{100:9.2f}{100:9.2f}{manifest['bytes'] // manifest['lines']:12,}")
    parts = ", ".join(f"{name} {100 * size / manifest['bytes']:.1f} %" for name, size in manifest["parts"].items())
    return "\n".join([*rows, f"of all bytes: {parts}"])


def main() -> None:
    """`python -m tests.bench.corpus FOLDER MEGABYTES [FILES]`: make a corpus and print its proportions."""
    started = time.perf_counter()
    many = int(sys.argv[3]) if len(sys.argv) > 3 else None
    manifest = make_corpus(Path(sys.argv[1]), float(sys.argv[2]) or None, files=many)
    took = time.perf_counter() - started
    print(shares(manifest))
    megabytes = manifest["bytes"] / 1e6
    print(f"{manifest['files']} files, {megabytes:.0f} MB, {megabytes / took:.0f} MB/s")


if __name__ == "__main__":
    main()
