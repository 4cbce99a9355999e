"""Odd inputs for programs that read: how many, and damaged versions of sound ones.

A target runs for seconds in the default group, with the same inputs every time, and 100,000 of
them with `python -m pytest -m long`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

FEW, MANY = 300, 100_000
Target = Callable[[Any], None]


def target(inputs: st.SearchStrategy[Any]) -> Callable[[Target], Target]:
    """`test(few, given_input)`: the decorated body is asked about each input, twice over."""

    def decorate(body: Target) -> Target:
        @pytest.mark.parametrize("most", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
        def test(most: int, request: pytest.FixtureRequest) -> None:
            asked = 0

            @settings(
                max_examples=most,
                derandomize=True,
                database=None,
                deadline=None,
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
            )
            @given(inputs)
            def each(value: Any) -> None:
                nonlocal asked
                asked += 1
                body(value)

            each()
            assert asked >= most or asked > 1000, "the inputs ran out"

        test.__name__, test.__doc__ = body.__name__, body.__doc__
        test.__module__ = body.__module__
        return test

    return decorate


@st.composite
def damaged(draw: st.DrawFn, sound: st.SearchStrategy[bytes]) -> bytes:
    """Bytes that were sound: cut, doubled, overwritten, with other bytes between."""
    data = bytearray(draw(sound))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        to = draw(st.integers(at, min(len(data), at + 12)))
        data[at:to] = draw(st.binary(max_size=6) | st.sampled_from(BITS))
    return bytes(data)


BITS = [b"{", b"}", b"[" * 300, b'"', b"\\u0000", b"\\ud800", b"null", b"-1", b"1e999", b"\xff"]
BITS += [b"9" * 5000, b"0x" + b"f" * 5000, b"\n", b"\r\n", b"\x00", b"=", b"nan", b"inf", b"'''"]

# Any JSON value, some of them unusual.
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**30, -(10**30), 2**63, -1, 0])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["", "\0", "../x", "~/x", "/etc/passwd", "http://x", "true", "\x1b[2J"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
