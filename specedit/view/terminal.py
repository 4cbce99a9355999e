"""Text that somebody else wrote, made harmless to look at."""

from __future__ import annotations

# What would move the cursor, ring, or turn the reading order around is shown, not obeyed.
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C, 0x2028, 0x2029)
_HARMLESS = {
    **{c: 0x2400 + c for c in range(0x20) if c not in (0x09, 0x0A)},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys(_BIDI, 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}


def harmless(text: str) -> str:
    """The same characters, those that a terminal would obey replaced one for one."""
    return text.translate(_HARMLESS)


def name(path: str) -> str:
    """A file's name on one line."""
    return harmless(path.replace("\n", "\u240a").replace("\t", "\u2409"))
