"""Record the demo again: after a change of what is told, to be committed with it."""

from tests.demo_recorder import RECORDING, packed, record_demo

RECORDING.write_bytes(packed(record_demo()))
print(f"{RECORDING.stat().st_size:,} bytes in {RECORDING}")
