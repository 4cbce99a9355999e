"""Edits of Python files."""

from __future__ import annotations

from benchmarks.edits.case import Case
from benchmarks.edits.checkers import (
    before,
    contains,
    defines,
    keeps_code,
    keeps_lines,
    lacks,
    occurs,
    only,
    parameters,
    signature,
)

AUTH = "files/python/requests__auth.py"
PADDING = "files/python/rich__padding.py"
TREE = "files/python/rich__tree.py"

CASES = (
    Case(
        id="python-auth-constant",
        file=AUTH,
        kind="constant",
        instruction='Change CONTENT_TYPE_MULTI_PART to "multipart/mixed".',
        right=(('"multipart/form-data"', '"multipart/mixed"'),),
        where=("CONTENT_TYPE_MULTI_PART",),
        asked=(contains("CONTENT_TYPE_MULTI_PART", r"""=\s*["']multipart/mixed["']"""),),
        keeps=(only("CONTENT_TYPE_MULTI_PART", ("form-data", "mixed")),),
        spoilt=(
            (("x-www-form-urlencoded", "multipart/mixed"),),
            (
                (
                    'CONTENT_TYPE_MULTI_PART: Final = "multipart/form-data"',
                    'CONTENT_TYPE_MULTI_PART = "multipart/mixed"',
                ),
            ),
        ),
    ),
    Case(
        id="python-auth-guard-basic",
        file=AUTH,
        kind="guard",
        instruction="In _basic_auth_str, raise a ValueError if username is empty, before anything else.",
        right=(
            (
                '    """Returns a Basic Auth string."""\n',
                '    """Returns a Basic Auth string."""\n\n    if not username:\n        raise ValueError("username must not be empty")\n',
            ),
        ),
        where=("_basic_auth_str",),
        asked=(
            contains("_basic_auth_str", r"raise ValueError\b"),
            before("_basic_auth_str", r"raise ValueError\b", r"isinstance\(username"),
            contains(
                "_basic_auth_str",
                r"if\s*\(?\s*(not username\b|len\(username\) == 0|username (==|in) |username is None)",
            ),
        ),
        keeps=(keeps_lines("_basic_auth_str"),),
        spoilt=(
            (
                (
                    "    if not isinstance(username, basestring):",
                    "    if not isinstance(username, basestring) and username:",
                ),
            ),
            (
                (
                    '    """Returns a Basic Auth string."""\n',
                    '    """Returns a Basic Auth string."""\n\n    if not password:\n        raise ValueError("password must not be empty")\n',
                ),
            ),
            (
                (
                    '    """Returns a Basic Auth string."""\n',
                    '    if not username:\n        raise ValueError("username must not be empty")\n',
                ),
            ),
        ),
    ),
    Case(
        id="python-auth-rename-local-prep",
        file=AUTH,
        kind="rename-local",
        instruction="Rename the local variable pat to digest_pattern in handle_401.",
        right=(
            ("            pat = re.compile(", "            digest_pattern = re.compile("),
            ("parse_dict_header(pat.sub(", "parse_dict_header(digest_pattern.sub("),
        ),
        where=("HTTPDigestAuth.handle_401",),
        asked=(
            occurs("HTTPDigestAuth.handle_401", r"\bdigest_pattern\b", 2),
            lacks("HTTPDigestAuth.handle_401", r"\bpat\b"),
        ),
        keeps=(
            only("HTTPDigestAuth.handle_401", (r"\bpat\b", "digest_pattern")),
            keeps_lines("HTTPDigestAuth.handle_401", r"\bpat\b"),
        ),
        spoilt=(
            (("            pat = re.compile(", "            digest_pattern = re.compile("),),
            (
                ("            pat = re.compile(", "            digest_pattern = re.compile("),
                ("parse_dict_header(pat.sub(", "parse_dict_header(digest_pattern.sub("),
                ("# Consume content and release", "# Consume the content and release"),
            ),
        ),
    ),
    Case(
        id="python-auth-rename-local-authstr",
        file=AUTH,
        kind="rename-local",
        instruction="rename authstr to header_value",
        right=(
            ('    authstr = "Basic "', '    header_value = "Basic "'),
            ("    return authstr", "    return header_value"),
        ),
        where=("_basic_auth_str",),
        asked=(lacks(None, r"\bauthstr\b"), occurs("_basic_auth_str", r"\bheader_value\b", 2)),
        keeps=(
            only("_basic_auth_str", (r"\bauthstr\b", "header_value")),
            keeps_lines("_basic_auth_str", "authstr"),
        ),
        spoilt=(
            (("    return authstr", "    return header_value"),),
            (
                ('    authstr = "Basic "', '    header_value = "Basic "'),
                ("    return authstr", "    return header_value"),
                ("    # -- End Removal --\n", ""),
            ),
        ),
    ),
    Case(
        id="python-auth-add-method-repr",
        file=AUTH,
        kind="add-method",
        instruction="Add a __repr__ method to HTTPBasicAuth that shows the username but not the password.",
        right=(
            (
                '        r.headers["Authorization"] = _basic_auth_str(self.username, self.password)\n        return r\n',
                '        r.headers["Authorization"] = _basic_auth_str(self.username, self.password)\n        return r\n\n'
                '    def __repr__(self) -> str:\n        return f"{type(self).__name__}(username={self.username!r})"\n',
            ),
        ),
        where=("new:HTTPBasicAuth",),
        asked=(
            defines("HTTPBasicAuth.__repr__"),
            contains("HTTPBasicAuth.__repr__", r"self\.username"),
            contains("HTTPBasicAuth.__repr__", r"\breturn\b"),
            lacks("HTTPBasicAuth.__repr__", r"self\.password"),
        ),
        spoilt=(
            (
                (
                    '        r.headers["Authorization"] = _basic_auth_str(self.username, self.password)\n        return r\n',
                    '        r.headers["Authorization"] = _basic_auth_str(self.username, self.password)\n        return r\n\n'
                    '    def __repr__(self) -> str:\n        return f"HTTPBasicAuth({self.username!r}, {self.password!r})"\n',
                ),
            ),
            (
                (
                    "    def __ne__(self, other: Any) -> bool:\n        return not self == other\n\n    def __call__(",
                    "    def __repr__(self) -> str:\n        return f'HTTPBasicAuth({self.username!r})'\n\n    def __call__(",
                ),
            ),
        ),
    ),
    Case(
        id="python-padding-message",
        file=PADDING,
        kind="message",
        instruction='Change the error message in Padding.unpack to "padding takes 1, 2 or 4 integers, got N", where N is the number of integers given.',
        right=(
            (
                'f"1, 2 or 4 integers required for padding; {len(pad)} given"',
                'f"padding takes 1, 2 or 4 integers, got {len(pad)}"',
            ),
        ),
        where=("Padding.unpack",),
        asked=(
            contains(
                "Padding.unpack",
                r"raise ValueError\(\s*f?[\"']padding takes 1, 2 or 4 integers, got (\{len\(pad\)\}|%d|\{\}|%s)",
            ),
            contains("Padding.unpack", r"len\(pad\)(?! ==)"),
        ),
        keeps=(keeps_lines("Padding.unpack", "raise ValueError"),),
        spoilt=(
            (
                (
                    'f"1, 2 or 4 integers required for padding; {len(pad)} given"',
                    '"padding takes 1, 2 or 4 integers, got N"',
                ),
            ),
            (
                (
                    'f"1, 2 or 4 integers required for padding; {len(pad)} given"',
                    'f"padding takes 1, 2 or 4 integers, got {len(pad)}"',
                ),
                (
                    "            _pad = pad[0]\n            return (_pad, _pad, _pad, _pad)",
                    "            return pad * 4",
                ),
            ),
        ),
    ),
    Case(
        id="python-padding-add-parameter",
        file=PADDING,
        kind="add-parameter",
        instruction='Give Padding.indent a keyword parameter style with the default "none" and pass it on to Padding.',
        right=(
            (
                '    def indent(cls, renderable: "RenderableType", level: int) -> "Padding":',
                '    def indent(\n        cls,\n        renderable: "RenderableType",\n        level: int,\n        *,\n        style: Union[str, Style] = "none",\n    ) -> "Padding":',
            ),
            (
                "pad=(0, 0, 0, level), expand=False)",
                "pad=(0, 0, 0, level), style=style, expand=False)",
            ),
        ),
        where=("Padding.indent",),
        asked=(
            parameters("Padding.indent", ["renderable", "level", "style"]),
            signature("Padding.indent", r"""style\b[^=,]*(\[[^\]]*\])?[^=,]*= ?["']none["']"""),
            contains("Padding.indent", r"return Padding\([^)]*\([^)]*\)[^)]*\bstyle=style\b"),
        ),
        keeps=(keeps_lines("Padding.indent", r"def indent|return Padding"),),
        spoilt=(
            (
                (
                    "pad=(0, 0, 0, level), expand=False)",
                    "pad=(0, 0, 0, level), style=style, expand=False)",
                ),
            ),
            (("level: int)", 'level: int, style: str = "none")'),),
            (
                ("level: int)", 'level: int, style: str = "none")'),
                (
                    "pad=(0, 0, 0, level), expand=False)",
                    "pad=(0, 0, 0, level), style=style, expand=False)",
                ),
                ("        Returns:\n            Padding: A Padding instance.\n", ""),
            ),
        ),
    ),
    Case(
        id="python-padding-doc-one",
        file=PADDING,
        kind="doc-one",
        instruction="Add a docstring to __rich_measure__ in padding.py that says it measures the content plus the left and right padding.",
        right=(
            (
                '    ) -> "Measurement":\n        max_width = options.max_width\n',
                '    ) -> "Measurement":\n        """Measure the content plus the left and right padding."""\n        max_width = options.max_width\n',
            ),
        ),
        where=("Padding.__rich_measure__",),
        asked=(
            contains(
                "Padding.__rich_measure__", r'"Measurement":\s+r?("""|\'\'\'|"|\')(.|\n)*[Pp]adding'
            ),
        ),
        keeps=(keeps_code("Padding.__rich_measure__"), keeps_lines("Padding.__rich_measure__")),
        spoilt=(
            (
                (
                    '    ) -> "Measurement":\n        max_width = options.max_width\n',
                    '    ) -> "Measurement":\n        # Measure the content plus the left and right padding.\n        max_width = options.max_width\n',
                ),
            ),
            (
                (
                    '    ) -> "Measurement":\n        max_width = options.max_width\n        extra_width = self.left + self.right\n',
                    '    ) -> "Measurement":\n        """Measure the content plus the left and right padding."""\n        max_width = options.max_width\n        extra_width = self.right + self.left\n',
                ),
            ),
        ),
    ),
    Case(
        id="python-tree-default",
        file=TREE,
        kind="default",
        instruction="Make hide_root default to True in Tree.__init__.",
        right=(("        hide_root: bool = False,", "        hide_root: bool = True,"),),
        where=("Tree.__init__", "doc:Tree"),
        asked=(signature("Tree.__init__", r"hide_root: bool ?= ?True"),),
        keeps=(
            only("Tree.__init__", ("hide_root: bool = False", "hide_root: bool = True")),
            keeps_lines("Tree.__init__", "hide_root: bool"),
        ),
        spoilt=(
            (
                ("        hide_root: bool = False,", "        hide_root: bool = True,"),
                ("        highlight: bool = False,", "        highlight: bool = True,"),
            ),
            (
                (
                    "hide_root (bool, optional): Hide the root node. Defaults to False.",
                    "hide_root (bool, optional): Hide the root node. Defaults to True.",
                ),
            ),
        ),
    ),
    Case(
        id="python-tree-extract-variable",
        file=TREE,
        kind="extract-variable",
        instruction="In Tree.__rich_measure__, store indent + max_measure in a local variable width and use it in the line that computes maximum.",
        right=(
            (
                "            maximum = max(max_measure + indent, maximum)",
                "            width = indent + max_measure\n            maximum = max(width, maximum)",
            ),
        ),
        where=("Tree.__rich_measure__",),
        asked=(
            contains(
                "Tree.__rich_measure__", r"width = (indent \+ max_measure|max_measure \+ indent)$"
            ),
            contains("Tree.__rich_measure__", r"maximum = max\((width, maximum|maximum, width)\)"),
        ),
        keeps=(keeps_lines("Tree.__rich_measure__", "maximum = max"),),
        spoilt=(
            (
                (
                    "            maximum = max(max_measure + indent, maximum)",
                    "            width = indent + max_measure\n            maximum = max(max_measure + indent, maximum)",
                ),
            ),
            (
                (
                    "            indent = level * 4\n",
                    "            indent = level * 4\n            width = indent + max_measure\n",
                ),
                ("max(max_measure + indent, maximum)", "width"),
            ),
        ),
    ),
)
