"""The useful end of what a command said, tool by tool: real outputs, shortened."""

from __future__ import annotations

from pathlib import Path

import pytest

from specedit.edit.tries.command import MOST_CHARS, MOST_LINES, read

PYTEST = """\
F.                                                                       [100%]
=================================== FAILURES ===================================
___________________________________ test_mul ___________________________________

    def test_mul():
>       assert mul(2, 3) == 6
E       assert 5 == 6
E        +  where 5 = mul(2, 3)

test_calc.py:9: AssertionError
=========================== short test summary info ============================
FAILED test_calc.py::test_mul - assert 5 == 6
1 failed, 1 passed in 0.05s
"""
COLLECT = """\
==================================== ERRORS ====================================
________________________ ERROR collecting test_calc.py _________________________
ImportError while importing test module '/tmp/t/test_calc.py'.
Traceback:
test_calc.py:1: in <module>
    from calc import add, mul
E   ImportError: cannot import name 'mul' from 'calc' (/tmp/t/calc.py)
=========================== short test summary info ============================
ERROR test_calc.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
1 error in 0.08s
"""
UNITTEST = """\
F
======================================================================
FAIL: test_mul (test_calc.Calc.test_mul)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/tmp/t/test_calc.py", line 8, in test_mul
    self.assertEqual(mul(2, 3), 6)
AssertionError: 5 != 6

----------------------------------------------------------------------
Ran 2 tests in 0.000s

FAILED (failures=1)
"""
TSC = """\
src/app.ts(12,5): error TS2304: Cannot find name 'foo'.
src/app.ts(14,10): error TS2322: Type 'string' is not assignable to type 'number'.
"""
TSC_PRETTY = """\
src/app.ts:12:5 - error TS2304: Cannot find name 'foo'.

12     foo();
       ~~~

Found 1 error in src/app.ts:12
"""
GCC = """\
main.c: In function 'main':
main.c:3:12: error: 'x' undeclared (first use in this function)
    3 |     return x;
      |            ^
make: *** [Makefile:2: main] Error 1
"""
GO_BUILD = """\
# example.com/calc
./calc.go:4:9: undefined: mul
FAIL\texample.com/calc [build failed]
"""
GO_TEST = """\
--- FAIL: TestMul (0.00s)
    calc_test.go:9: mul(2, 3) = 5, want 6
FAIL
exit status 1
FAIL\texample.com/calc\t0.002s
"""
CARGO = """\
   Compiling calc v0.1.0 (/tmp/t)
error[E0425]: cannot find function `mul` in this scope
 --> src/lib.rs:9:16
  |
9 |     assert_eq!(mul(2, 3), 6);
  |                ^^^ not found in this scope

error: could not compile `calc` (lib test) due to 1 previous error
"""
CARGO_TEST = """\
running 1 test
test tests::mul ... FAILED

failures:

---- tests::mul stdout ----

thread 'tests::mul' panicked at src/lib.rs:9:9:
assertion `left == right` failed
  left: 5
 right: 6
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

failures:
    tests::mul

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
"""
DOTNET = """\
  Determining projects to restore...
/tmp/t/Calc.cs(3,16): error CS0103: The name 'x' does not exist [/tmp/t/a.csproj]

Build FAILED.
"""
DOTNET_TEST = """\
  Failed Calc.Tests.Mul [3 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 6
Actual:   5
  Stack Trace:
     at Calc.Tests.Mul() in /tmp/t/Tests.cs:line 9

Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3
"""
BARE = """\
Traceback (most recent call last):
  File "<frozen runpy>", line 88, in _run_code
  File "/tmp/t/main.py", line 15, in check
    assert f(1) == 2
           ^^^^^^^^^
AssertionError
"""
JEST = """\
FAIL ./calc.test.js
  ● calc › multiplies

    expect(received).toBe(expected) // Object.is equality

    Expected: 6
    Received: 5

Tests:       1 failed, 1 passed, 2 total
"""


@pytest.mark.parametrize(
    ("said", "line", "shown", "failed"),
    [
        (PYTEST, "assert 5 == 6", "> assert mul(2, 3) == 6", 1),
        (COLLECT, "ImportError: cannot import name 'mul'", "ERROR collecting", 1),
        (UNITTEST, "AssertionError: 5 != 6", "self.assertEqual(mul(2, 3), 6)", 1),
        (TSC, "src/app.ts(12,5): error TS2304", "TS2322", None),
        (TSC_PRETTY, "src/app.ts:12:5 - error TS2304", "foo();", 1),
        (GCC, "main.c:3:12: error: 'x' undeclared", "return x;", None),
        (GO_BUILD, "./calc.go:4:9: undefined: mul", "undefined: mul", None),
        (GO_TEST, "calc_test.go:9: mul(2, 3) = 5, want 6", "TestMul:", None),
        (CARGO, "error[E0425]: cannot find function `mul`", "--> src/lib.rs:9:16", None),
        (CARGO_TEST, "assertion `left == right` failed: src/lib.rs:9:9", "right: 6", 1),
        (DOTNET, "Calc.cs(3,16): error CS0103", "The name 'x'", None),
        (DOTNET_TEST, "Assert.Equal() Failure: Values differ", "Actual:   5", 1),
        (JEST, "expect(received).toBe(expected)", "Received: 5", 1),
        (BARE, "AssertionError: assert f(1) == 2", "assert f(1) == 2", None),
        ("one\nError: two\nthree\n", "Error: two", "three", None),
        ("one\ntwo\n", "two", "one", None),
        ("", "", "", None),
    ],
    ids=[
        *("pytest", "pytest collecting", "unittest", "tsc", "tsc pretty", "gcc", "go build"),
        *("go test", "cargo", "cargo test", "dotnet", "dotnet test", "jest", "bare assertion"),
        *("a word that says failure", "anything", "nothing"),
    ],
)
def test_what_a_tool_says(said: str, line: str, shown: str, failed: int | None) -> None:
    found = read(said, Path("/tmp/t"))
    assert line in found.line
    assert " ".join(shown.split()) in " ".join(found.text.split())
    assert found.failed == failed
    assert "/tmp/t/" not in found.text and "frozen" not in found.text


def test_what_is_shown_is_bounded() -> None:
    long = PYTEST.replace("E       assert 5 == 6\n", "E       " + "x" * 5000 + "\n" * 1) * 50
    found = read(long)
    assert len(found.text) <= MOST_CHARS and len(found.text.splitlines()) <= MOST_LINES
    assert len(found.line) <= 200


def test_passed_tests_are_not_shown() -> None:
    noise = "".join(f"test_{n}.py ...... [ {n}%]\n" for n in range(100))
    assert "test_50.py" not in read(noise + PYTEST).text
