"""Worked examples that stand before an edit: a part of a file, what is wanted, and the edited part.

A small model that sees what a good edit looks like more often changes something, and changes less
of what it was not asked for (docs/research/2026-11-edits-on-foreign-data.md). They are constant, so
that the store keeps what the model computes for them (`engines.exact.engine`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """`part` says which part of a file `before` is; "" for a whole file."""

    file: str
    part: str
    instruction: str
    before: str
    after: str


WORKED_EXAMPLES = (
    WorkedExample(
        "pages.py",
        "only `fetch`",
        "only 3 tries pls, and log each failure",
        '''\
def fetch(url, timeout=10):
    """Return the body of a page."""
    for attempt in range(5):
        try:
            return download(url, timeout)
        except OSError:
            time.sleep(attempt)  # be polite
    return None
''',
        '''\
def fetch(url, timeout=10):
    """Return the body of a page."""
    for attempt in range(3):
        try:
            return download(url, timeout)
        except OSError as error:
            logger.warning("cannot fetch %s: %s", url, error)
            time.sleep(attempt)  # be polite
    return None
''',
    ),
    WorkedExample(
        "settings.ts",
        "a part of it",
        "the error should name the key. treat null like undefined",
        """\
get(key: string): string {
  const value = this.values[key];
  if (value === undefined) {
    throw new Error("missing value");
  }
  return value.trim();
}
""",
        """\
get(key: string): string {
  const value = this.values[key];
  if (value === undefined || value === null) {
    throw new Error(`missing value: ${key}`);
  }
  return value.trim();
}
""",
    ),
    WorkedExample(
        "stack.go",
        "only `Push`",
        "add Clear(), it should empty the stack",
        """\
// Push adds an item at the top.
func (s *Stack) Push(item string) {
	s.items = append(s.items, item)
}
""",
        """\
// Push adds an item at the top.
func (s *Stack) Push(item string) {
	s.items = append(s.items, item)
}

// Clear empties the stack.
func (s *Stack) Clear() {
	s.items = nil
}
""",
    ),
)
