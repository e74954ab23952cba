"""Hashes. From the module that hashlib takes it from: hashlib itself loads OpenSSL, a tenth of a short run."""

from _blake2 import blake2b
from struct import Struct

_signed = Struct(">q").unpack


def hash64(part: bytes) -> int:
    """A 64-bit hash, signed, as SQLite keeps integers."""
    (number,) = _signed(blake2b(part, digest_size=8).digest())
    return int(number)


def hash128(part: bytes) -> bytes:
    """A 128-bit hash."""
    return blake2b(part, digest_size=16).digest()


def hash48(part: bytes) -> int:
    """A 48-bit hash: six bytes in a row of SQLite."""
    return int.from_bytes(blake2b(part, digest_size=6).digest(), "big")
