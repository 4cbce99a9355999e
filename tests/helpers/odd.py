"""Odd inputs for whatever reads: made of a number, so that each can be had again by its own.

A target is asked about the first few inputs in the default group, and about 100,000 with
`python -m pytest -m long`. What it may do is take an input or raise one of our errors.
"""

import json
import random
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

FEW, MANY = 150, 100_000
WORDS = ["", "\0", "../x", "~/x", "/etc/passwd", "http://x", "true", "\x1b[2J", "é", "\U0001f600"]
WORDS += ["none", "auto", "a" * 300, "..", ".", " ", "0", "-1", "nan", "\u202e", "x=1", "[x]"]
NUMBERS = [0, 1, -1, 2, 7, 64, 4096, 10**30, -(10**30), 2**31, 2**63, 2**63 - 1, 1 << 5000]
REALS = [0.0, -0.0, 0.5, 1.0, 1.5, -3.25, 1e308, 1e-320]
BITS = [b"{", b"}", b"[" * 300, b"[" * 5000, b'"', b"\\u0000", b"\\ud800", b"null", b"-1", b"1e999"]
BITS += [b"\xff", b"9" * 5000, b"0x" + b"f" * 5000, b"\n", b"\r\n", b"\0", b"=", b"nan", b"inf"]
SIZES = (0, 1, 2, 3, 8, 9, 31, 255, 1 << 16, 1 << 31, (1 << 32) - 1, 1 << 60, (1 << 64) - 1)
BITS += [piece for n in SIZES for piece in (struct.pack("<Q", n), struct.pack("<I", n % (1 << 32)))]
BITS += [b"'''", b'"""', b"#", b",", b":", b".", b"\xef\xbb\xbf", b"1979-05-27T07:32:00Z", b" "]


MEMORY = 400 << 20  # more than this no run of inputs may add


class Odd(random.Random):
    """Where inputs come from."""

    def word(self) -> str:
        if self.random() < 0.5:
            return self.choice(WORDS)
        return "".join(chr(self.randrange(1, 0x250)) for _ in range(self.randrange(8)))

    def number(self) -> int:
        return self.choice(NUMBERS) if self.random() < 0.7 else self.randrange(-100, 5000)

    def size(self) -> int:
        """What a binary file may say of a size or a place."""
        return self.choice(SIZES) if self.random() < 0.7 else self.randrange(1 << 64)

    def list(self, value: Callable[[], Any], most: int = 6) -> list[Any]:
        return [value() for _ in range(self.randrange(most + 1))]

    def value(self, depth: int = 3) -> Any:
        """Any JSON value."""
        kind = self.randrange(8 if depth else 6)
        if kind < 2:
            return self.word()
        if kind < 6:
            made = (self.number, lambda: self.choice(REALS), lambda: self.random() < 0.5, _none)
            return made[kind - 2]()
        some = range(self.randrange(4))
        if kind == 6:
            return [self.value(depth - 1) for _ in some]
        return {self.word(): self.value(depth - 1) for _ in some}

    def some(self, keys: Sequence[str], value: Callable[[], Any], most: int = 4) -> dict[str, Any]:
        """Values for a few of these keys."""
        return {self.choice(keys): value() for _ in range(self.randrange(most + 1))}

    def changed(self, sound: Any) -> Any:
        """A sound value with another somewhere in it, or something missing, or too much."""
        if self.random() < 0.15:
            return self.value(2)
        if isinstance(sound, Mapping) and sound:
            found = dict(sound)
            key = self.choice(list(found))
            if (chance := self.random()) < 0.15:
                del found[key]
            elif chance < 0.25:
                found[self.word()] = self.value(2)
            else:
                found[key] = self.changed(found[key])
            return found
        if isinstance(sound, list) and sound:
            at = self.randrange(len(sound))
            return [*sound[:at], self.changed(sound[at]), *sound[at + 1 :]]
        return self.value(2)

    def damaged(self, sound: bytes) -> bytes:
        """Bytes that were sound: cut, doubled, overwritten, with other bytes between."""
        data = bytearray(sound)
        for _ in range(self.randrange(5)):
            at = self.randrange(len(data) + 1)
            piece = self.choice(BITS) if self.random() < 0.7 else self.randbytes(3)
            to = at + (self.randrange(12) if self.random() < 0.5 else len(piece))
            data[at : min(len(data), to)] = piece
        return bytes(data)


def _none() -> None:
    return None


def dumped(value: object) -> bytes:
    """JSON, also of numbers that Python does not write by itself."""
    try:
        return json.dumps(value).encode()
    except ValueError:
        return b'{"large": ' + b"9" * 5000 + b"}"


def target(
    make: Callable[[Odd], Any], few: int = FEW, many: int = MANY
) -> Callable[[Callable[[Any], None]], Callable[..., None]]:
    """A test that asks the decorated body about many inputs of this make."""

    def decorate(body: Callable[[Any], None]) -> Callable[..., None]:
        @pytest.mark.parametrize("most", [few, pytest.param(many, marks=pytest.mark.long)])
        def test(most: int) -> None:
            with flat_memory():
                for number in range(most):
                    value = make(Odd(number))
                    try:
                        body(value)
                    except BaseException as error:
                        error.add_note(f"input {number} of {body.__name__}: {value!r:.2000}")
                        raise

        test.__name__, test.__doc__, test.__module__ = body.__name__, body.__doc__, body.__module__
        return test

    return decorate


@contextmanager
def flat_memory() -> Iterator[None]:
    """Fails when the process grew: no input may make a heap of memory, freed again or not."""
    before = _peak()
    yield
    assert _peak() - before < MEMORY


def _peak() -> int:
    if sys.platform == "win32":  # no figure without a further package
        return 0
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
