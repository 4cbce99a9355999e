"""Edits of Python files."""

from __future__ import annotations

from benchmarks.edits.case import Case
from benchmarks.edits.checkers import (
    before,
    changed_lines_at_most,
    contains,
    defines,
    keeps_code,
    keeps_lines,
    lacks,
    omits,
    only,
    only_renames,
    parameters,
    passes,
    renames,
    signature,
)

AUTH = "files/python/requests__auth.py"
PADDING = "files/python/rich__padding.py"
TREE = "files/python/rich__tree.py"
PARSING = "files/python/black__parsing.py"
FORMATTING = "files/python/click__formatting.py"
LIVE = "files/python/rich__live.py"

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
        id="python-auth-rename-local-pat",
        file=AUTH,
        kind="rename-local",
        instruction="Rename the local variable pat to digest_pattern in handle_401.",
        right=(
            ("            pat = re.compile(", "            digest_pattern = re.compile("),
            ("parse_dict_header(pat.sub(", "parse_dict_header(digest_pattern.sub("),
        ),
        where=("HTTPDigestAuth.handle_401",),
        asked=(renames("handle_401", "pat", "digest_pattern"),),
        keeps=(only_renames("handle_401", "pat", "digest_pattern"),),
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
        asked=(renames("_basic_auth_str", "authstr", "header_value"),),
        keeps=(only_renames("_basic_auth_str", "authstr", "header_value"),),
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
        kind="extract",
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
    Case(
        id="python-auth-message",
        file=AUTH,
        kind="message",
        instruction='The error of AuthBase.__call__ should read "Auth classes must implement __call__."',
        right=(("Auth hooks must be callable.", "Auth classes must implement __call__."),),
        where=("AuthBase.__call__",),
        asked=(contains("AuthBase.__call__", r"raise NotImplementedError\(\s*[\"']Auth classes must implement __call__\.[\"']"),),
        keeps=(only("AuthBase.__call__", (r"Auth hooks must be callable", "Auth classes must implement __call__")),),
        spoilt=(
            (("Auth hooks must be callable.", "Auth classes must implement __call__"),),
            (('raise NotImplementedError("Auth hooks must be callable.")', 'raise TypeError("Auth classes must implement __call__.")'),),
        ),
    ),
    Case(
        id="python-auth-add-case",
        file=AUTH,
        kind="add-case",
        instruction="Support the algorithm SHA-384 in build_digest_header, like SHA-512.",
        right=(
            (
                "            hash_utf8 = sha256_utf8\n",
                "            hash_utf8 = sha256_utf8\n"
                '        elif _algorithm == "SHA-384":\n\n'
                "            def sha384_utf8(x: str | bytes) -> str:\n"
                "                if isinstance(x, str):\n"
                '                    x = x.encode("utf-8")\n'
                "                return hashlib.sha384(x, usedforsecurity=False).hexdigest()\n\n"
                "            hash_utf8 = sha384_utf8\n",
            ),
        ),
        where=("HTTPDigestAuth.build_digest_header",),
        asked=(
            contains("build_digest_header", r"_algorithm == [\"']SHA-384[\"']"),
            contains("build_digest_header", r"hashlib\.(sha384\(|new\(\s*[\"']sha384)"),
            contains("build_digest_header", r"hash_utf8 = ", 6),
        ),
        keeps=(keeps_lines("build_digest_header"),),
        spoilt=(
            (
                (
                    "            hash_utf8 = sha256_utf8\n",
                    "            hash_utf8 = sha256_utf8\n"
                    '        elif _algorithm == "SHA-384":\n\n'
                    "            def sha384_utf8(x: str | bytes) -> str:\n"
                    "                return hashlib.sha384(x, usedforsecurity=False).hexdigest()\n",
                ),
            ),
            (('elif _algorithm == "SHA-512"', 'elif _algorithm == "SHA-384"'), ("hashlib.sha512(x", "hashlib.sha384(x")),
        ),
    ),
    Case(
        id="python-auth-comments",
        file=AUTH,
        kind="comments",
        instruction="Remove the two XXX comments about partial digests and auth-int from build_digest_header.",
        right=(("            # XXX handle auth-int.\n", ""), ("        # XXX should the partial digests be encoded too?\n", "")),
        where=("HTTPDigestAuth.build_digest_header",),
        asked=(omits("build_digest_header", r"handle auth-int|partial digests"),),
        keeps=(keeps_code("build_digest_header"), keeps_lines("build_digest_header", r"# XXX (handle|should)")),
        spoilt=(
            (("            # XXX handle auth-int.\n", ""),),
            (
                ("            # XXX handle auth-int.\n", ""),
                ("        # XXX should the partial digests be encoded too?\n", ""),
                ("        # XXX not implemented yet\n        entdig = None\n", "        entdig = None\n"),
            ),
        ),
    ),
    Case(
        id="python-auth-invert-condition",
        file=AUTH,
        kind="invert-condition",
        instruction="Invert the condition at the end of HTTPDigestAuth.__call__ that looks for tell: test for None first and set pos to None there, with tell() in the else branch.",
        right=(
            (
                'if (tell := getattr(r.body, "tell", None)) is not None:\n            self._thread_local.pos = tell()\n        else:\n',
                'if (tell := getattr(r.body, "tell", None)) is None:\n',
            ),
            (
                "            # None.\n            self._thread_local.pos = None\n",
                "            # None.\n            self._thread_local.pos = None\n        else:\n            self._thread_local.pos = tell()\n",
            ),
        ),
        where=("HTTPDigestAuth.__call__",),
        asked=(
            lacks("HTTPDigestAuth.__call__", r"is not None"),
            contains("HTTPDigestAuth.__call__", r"(is None|if not .*):\s+self\._thread_local\.pos = None\s+else:\s+self\._thread_local\.pos = tell\(\)"),
        ),
        keeps=(keeps_lines("HTTPDigestAuth.__call__", r"tell|else:|pos = None"),),
        spoilt=(
            (('if (tell := getattr(r.body, "tell", None)) is not None:', 'if (tell := getattr(r.body, "tell", None)) is None:'),),
            (('if (tell := getattr(r.body, "tell", None)) is not None:\n            self._thread_local.pos = tell()\n        else:\n', 'if (tell := getattr(r.body, "tell", None)) is None:\n'),),
        ),
    ),
    Case(
        id="python-padding-guard",
        file=PADDING,
        kind="guard",
        instruction="Padding.indent should raise a ValueError when level is negative.",
        right=(
            (
                "        return Padding(renderable, pad=(0, 0, 0, level), expand=False)",
                '        if level < 0:\n            raise ValueError("level must not be negative")\n'
                "        return Padding(renderable, pad=(0, 0, 0, level), expand=False)",
            ),
        ),
        where=("Padding.indent",),
        asked=(
            before("Padding.indent", r"if\s*\(?\s*(level < 0|0 > level|level <= -1|not level >= 0)", r"raise ValueError\b"),
            before("Padding.indent", r"raise ValueError\b", r"return Padding\("),
        ),
        keeps=(keeps_lines("Padding.indent"),),
        spoilt=(
            (
                (
                    "        return Padding(renderable, pad=(0, 0, 0, level), expand=False)",
                    '        if level <= 0:\n            raise ValueError("level must not be negative")\n'
                    "        return Padding(renderable, pad=(0, 0, 0, level), expand=False)",
                ),
            ),
            (("pad=(0, 0, 0, level), expand=False)", "pad=(0, 0, 0, max(0, level)), expand=False)"),),
        ),
    ),
    Case(
        id="python-padding-type-hints",
        file=PADDING,
        kind="type-hints",
        instruction="Padding.__init__ has no return type. Add -> None.",
        right=(("        expand: bool = True,\n    ):\n", "        expand: bool = True,\n    ) -> None:\n"),),
        where=("Padding.__init__",),
        asked=(signature("Padding.__init__", r"\) ?-> ?None ?:"),),
        keeps=(only("Padding.__init__", (r"\):$", ") -> None:")), changed_lines_at_most("Padding.__init__", 1)),
        spoilt=(
            (("        expand: bool = True,\n    ):\n", '        expand: bool = True,\n    ) -> "Padding":\n'),),
            (
                ("        expand: bool = True,\n    ):\n", "        expand: bool = True,\n    ) -> None:\n"),
                ('pad: "PaddingDimensions" = (0, 0, 0, 0),', "pad: PaddingDimensions = (0, 0, 0, 0),"),
            ),
        ),
    ),
    Case(
        id="python-padding-add-property",
        file=PADDING,
        kind="add-method",
        instruction="Add a property horizontal to Padding that returns the sum of left and right.",
        right=(
            (
                "    def __repr__(self) -> str:\n",
                "    @property\n    def horizontal(self) -> int:\n        return self.left + self.right\n\n    def __repr__(self) -> str:\n",
            ),
        ),
        where=("new:Padding",),
        asked=(
            contains("Padding.horizontal", r"@property\s+def horizontal\(self\)"),
            contains("Padding.horizontal", r"return (self\.left \+ self\.right|self\.right \+ self\.left|sum\(\(self\.left, self\.right\)\))$"),
        ),
        spoilt=(
            (("    def __repr__(self) -> str:\n", "    def horizontal(self) -> int:\n        return self.left + self.right\n\n    def __repr__(self) -> str:\n"),),
            (("    def __repr__(self) -> str:\n", "    @property\n    def horizontal(self) -> int:\n        return self.left + self.right + self.top\n\n    def __repr__(self) -> str:\n"),),
        ),
    ),
    Case(
        id="python-tree-rename-local",
        file=TREE,
        kind="rename-local",
        instruction="In Tree.__rich_measure__ rename the local variable measure to get_measurement.",
        right=(
            ("        measure = Measurement.get\n", "        get_measurement = Measurement.get\n"),
            ("min_measure, max_measure = measure(console", "min_measure, max_measure = get_measurement(console"),
        ),
        where=("Tree.__rich_measure__",),
        asked=(renames("Tree.__rich_measure__", "measure", "get_measurement"),),
        keeps=(only_renames("Tree.__rich_measure__", "measure", "get_measurement"),),
        spoilt=(
            (("        measure = Measurement.get\n", "        get_measurement = Measurement.get\n"),),
            (
                ("        measure = Measurement.get\n", "        get_measurement = Measurement.get\n"),
                ("min_measure, max_measure = measure(console", "min_measure, max_measure = get_measurement(console"),
                ("            indent = level * 4\n", "            indent = 4 * level\n"),
            ),
        ),
    ),
    Case(
        id="python-tree-constant",
        file=TREE,
        kind="constant",
        instruction="Indent by 2 instead of 4 per level when measuring a tree.",
        right=(("            indent = level * 4\n", "            indent = level * 2\n"),),
        where=("Tree.__rich_measure__",),
        asked=(contains("Tree.__rich_measure__", r"indent = (level \* 2|2 \* level)$"),),
        keeps=(keeps_lines("Tree.__rich_measure__", "indent = "), changed_lines_at_most("Tree.__rich_measure__", 1)),
        spoilt=(
            (("            indent = level * 4\n", "            indent = level * 2\n"), ("        minimum = 0\n", "        minimum = 2\n")),
            (("SPACE, CONTINUE, FORK, END = range(4)", "SPACE, CONTINUE, FORK, END = range(2)"),),
        ),
    ),
    Case(
        id="python-tree-add-field",
        file=TREE,
        kind="add-field",
        instruction="Add an optional keyword parameter name (Optional[str], default None) to Tree.__init__, after hide_root, and store it on the instance.",
        right=(
            ("        hide_root: bool = False,\n    ) -> None:", "        hide_root: bool = False,\n        name: Optional[str] = None,\n    ) -> None:"),
            ("        self.hide_root = hide_root\n", "        self.hide_root = hide_root\n        self.name = name\n"),
        ),
        where=("Tree.__init__", "doc:Tree"),
        asked=(
            parameters("Tree.__init__", ["label", "style", "guide_style", "expanded", "highlight", "hide_root", "name"]),
            signature("Tree.__init__", r"name: (Optional\[str\]|str ?\| ?None|Union\[str, None\]) ?= ?None"),
            contains("Tree.__init__", r"self\.name(: [^=]+)? = name$"),
        ),
        keeps=(keeps_lines("Tree.__init__"),),
        spoilt=(
            (("        self.hide_root = hide_root\n", "        self.hide_root = hide_root\n        self.name = None\n"),),
            (
                ("        hide_root: bool = False,\n    ) -> None:", "        hide_root: bool = False,\n        name: Optional[str] = None,\n    ) -> None:"),
                ("        self.hide_root = hide_root\n", "        self.name = name\n"),
            ),
        ),
    ),
    Case(
        id="python-tree-doc-one",
        file=TREE,
        kind="doc-one",
        instruction="__rich_measure__ has no docstring. Write one that says that it finds the minimum and maximum width of the tree.",
        right=(
            (
                '    ) -> "Measurement":\n        stack: List[Iterator[Tree]] = [iter([self])]\n',
                '    ) -> "Measurement":\n        """Find the minimum and maximum width of the tree."""\n        stack: List[Iterator[Tree]] = [iter([self])]\n',
            ),
        ),
        where=("Tree.__rich_measure__",),
        asked=(contains("Tree.__rich_measure__", r"(?i)\"Measurement\":\s+r?[\"'](.|\n)*minimum(.|\n)*maximum(.|\n)*width(.|\n)*[\"']\s+stack"),),
        keeps=(keeps_code("Tree.__rich_measure__"), keeps_lines("Tree.__rich_measure__")),
        spoilt=(
            (
                (
                    '    ) -> "Measurement":\n        stack: List[Iterator[Tree]] = [iter([self])]\n',
                    '    ) -> "Measurement":\n        stack: List[Iterator[Tree]] = [iter([self])]\n        """Find the minimum and maximum width of the tree."""\n',
                ),
            ),
            (
                (
                    '    ) -> "Measurement":\n        stack: List[Iterator[Tree]] = [iter([self])]\n        pop = stack.pop\n',
                    '    ) -> "Measurement":\n        """Find the minimum and maximum width of the tree."""\n        stack: List[Iterator[Tree]] = [iter([self])]\n',
                ),
            ),
        ),
    ),
    Case(
        id="python-parsing-extract",
        file=PARSING,
        kind="extract",
        instruction="lib2to3_parse computes faulty_line twice. Extract this into a function _faulty_line(src_txt, lineno) and call it in both places.",
        right=(
            (
                "def lib2to3_parse(\n",
                'def _faulty_line(src_txt: str, lineno: int) -> str:\n    lines = src_txt.splitlines()\n    try:\n        return lines[lineno - 1]\n    except IndexError:\n        return "<line number missing in source>"\n\n\ndef lib2to3_parse(\n',
            ),
            (
                '            lineno, column = pe.context[1]\n            lines = src_txt.splitlines()\n            try:\n                faulty_line = lines[lineno - 1]\n            except IndexError:\n                faulty_line = "<line number missing in source>"\n',
                "            lineno, column = pe.context[1]\n            faulty_line = _faulty_line(src_txt, lineno)\n",
            ),
            (
                '            lineno, column = te.args[1]\n            lines = src_txt.splitlines()\n            try:\n                faulty_line = lines[lineno - 1]\n            except IndexError:\n                faulty_line = "<line number missing in source>"\n',
                "            lineno, column = te.args[1]\n            faulty_line = _faulty_line(src_txt, lineno)\n",
            ),
        ),
        where=("lib2to3_parse", "new:"),
        asked=(
            parameters("_faulty_line", ["src_txt", "lineno"]),
            contains("lib2to3_parse", r"_faulty_line\(src_txt, lineno\)", 2),
            lacks("lib2to3_parse", r"except IndexError"),
            passes("assert _faulty_line('a\\nb', 2) == 'b'\nassert _faulty_line('a', 3) == '<line number missing in source>'", "_faulty_line"),
        ),
        keeps=(keeps_lines("lib2to3_parse", r"faulty_line|lines = |^try:|IndexError"), lacks("lib2to3_parse", "splitlines")),
        spoilt=(
            (("def lib2to3_parse(\n", "def _faulty_line(src_txt: str, lineno: int) -> str:\n    return src_txt.splitlines()[lineno - 1]\n\n\ndef lib2to3_parse(\n"),),
            (
                (
                    "def lib2to3_parse(\n",
                    'def _faulty_line(src_txt: str, lineno: int) -> str:\n    lines = src_txt.splitlines()\n    try:\n        return lines[lineno - 1]\n    except IndexError:\n        return "<line number missing in source>"\n\n\ndef lib2to3_parse(\n',
                ),
            ),
        ),
    ),
    Case(
        id="python-parsing-add-field",
        file=PARSING,
        kind="add-field",
        instruction="Add a field filename (str | None, None by default) to InvalidInput, with a last parameter of __init__ that sets it.",
        right=(
            ("    details: str | None = None\n\n    def", "    details: str | None = None\n    filename: str | None = None\n\n    def"),
            ("        details: str | None = None,\n    ) -> None:", "        details: str | None = None,\n        filename: str | None = None,\n    ) -> None:"),
            ("        self.details = details\n", "        self.details = details\n        self.filename = filename\n"),
        ),
        where=("InvalidInput.__init__", "new:InvalidInput"),
        asked=(
            contains("InvalidInput", r"^    filename: (str \| None|Optional\[str\])( = None)?$"),
            parameters("InvalidInput.__init__", ["message", "lineno", "column", "context", "details", "filename"]),
            signature("InvalidInput.__init__", r"filename: (str \| None|Optional\[str\]) = None"),
            contains("InvalidInput.__init__", r"self\.filename = filename$"),
        ),
        keeps=(keeps_lines("InvalidInput.__init__", r"super\(\)"),),
        spoilt=(
            (("    details: str | None = None\n\n    def", "    details: str | None = None\n    filename: str | None = None\n\n    def"),),
            (
                ("        details: str | None = None,\n    ) -> None:", "        details: str | None = None,\n        filename: str | None = None,\n    ) -> None:"),
                ("        self.details = details\n", "        self.details = details\n        self.filename = filename\n"),
            ),
        ),
    ),
    Case(
        id="python-parsing-constant",
        file=PARSING,
        kind="constant",
        instruction='Use "<string>" as the file name in _parse_single_version.',
        right=(('filename = "<unknown>"', 'filename = "<string>"'),),
        where=("_parse_single_version",),
        asked=(contains("_parse_single_version", r"[\"']<string>[\"']"), lacks("_parse_single_version", "unknown")),
        keeps=(only("_parse_single_version", ("<unknown>", "<string>")), keeps_lines("_parse_single_version", "filename = ")),
        spoilt=(
            (('filename = "<unknown>"', 'filename = "string"'),),
            (('filename = "<unknown>"', 'filename = "<string>"'), ('warnings.simplefilter("ignore", DeprecationWarning)\n', "pass\n")),
        ),
    ),
    Case(
        id="python-parsing-convert-suppress",
        file=PARSING,
        kind="convert",
        instruction="Use contextlib.suppress in the second loop of parse_ast instead of try/except/pass.",
        right=(
            ("import ast\nimport sys\n", "import ast\nimport contextlib\nimport sys\n"),
            (
                "        try:\n            return _parse_single_version(src, version, type_comments=False)\n        except SyntaxError:\n            pass\n",
                "        with contextlib.suppress(SyntaxError):\n            return _parse_single_version(src, version, type_comments=False)\n",
            ),
        ),
        where=("parse_ast",),
        asked=(
            contains("parse_ast", r"with (contextlib\.)?suppress\(SyntaxError\):\s+return _parse_single_version\(src, version, type_comments=False\)"),
            lacks("parse_ast", r"except SyntaxError:|\bpass\b"),
            contains("parse_ast", r"except SyntaxError as e:"),
        ),
        keeps=(keeps_lines("parse_ast", r"^try:|except SyntaxError:|^pass"),),
        spoilt=(
            (
                (
                    "        try:\n            return _parse_single_version(src, version, type_comments=False)\n        except SyntaxError:\n            pass\n",
                    "        with contextlib.suppress(SyntaxError):\n            return _parse_single_version(src, version, type_comments=False)\n",
                ),
            ),
            (
                ("import ast\nimport sys\n", "import ast\nimport contextlib\nimport sys\n"),
                (
                    "        try:\n            return _parse_single_version(src, version, type_comments=False)\n        except SyntaxError:\n            pass\n",
                    "        with contextlib.suppress(Exception):\n            return _parse_single_version(src, version, type_comments=False)\n",
                ),
            ),
        ),
    ),
    Case(
        id="python-parsing-add-parameter",
        file=PARSING,
        kind="add-parameter",
        instruction="Give parse_ast a keyword-only parameter type_comments: bool = True. When it is False, skip the first attempt that parses with type comments.",
        right=(
            ("def parse_ast(src: str) -> ast.AST:", "def parse_ast(src: str, *, type_comments: bool = True) -> ast.AST:"),
            (
                "    for version in sorted(versions, reverse=True):\n        try:\n            return _parse_single_version(src, version, type_comments=True)\n        except SyntaxError as e:\n            if not first_error:\n                first_error = str(e)\n",
                "    if type_comments:\n        for version in sorted(versions, reverse=True):\n            try:\n                return _parse_single_version(src, version, type_comments=True)\n            except SyntaxError as e:\n                if not first_error:\n                    first_error = str(e)\n",
            ),
        ),
        where=("parse_ast",),
        asked=(
            signature("parse_ast", r"\( ?src: str, \*, type_comments: bool = True,? ?\)"),
            passes(
                "def _parse_single_version(src, version, *, type_comments):\n"
                "    calls.append(type_comments)\n"
                "    raise SyntaxError('x')\n"
                "for wanted, kwargs in (({True, False}, {}), ({False}, {'type_comments': False})):\n"
                "    calls = []\n"
                "    try:\n        parse_ast('', **kwargs)\n    except SyntaxError:\n        pass\n"
                "    assert set(calls) == wanted",
                "parse_ast",
                prelude="import ast, contextlib, sys",
            ),
        ),
        keeps=(keeps_lines("parse_ast", r"def parse_ast|type_comments=True"),),
        spoilt=(
            (("def parse_ast(src: str) -> ast.AST:", "def parse_ast(src: str, *, type_comments: bool = True) -> ast.AST:"),),
            (
                ("def parse_ast(src: str) -> ast.AST:", "def parse_ast(src: str, *, type_comments: bool = True) -> ast.AST:"),
                ("_parse_single_version(src, version, type_comments=False)", "_parse_single_version(src, version, type_comments=type_comments)"),
            ),
        ),
    ),
    Case(
        id="python-formatting-default",
        file=FORMATTING,
        kind="default",
        instruction="wrap_text should wrap at 80 columns by default.",
        right=(("    width: int = 78,\n", "    width: int = 80,\n"),),
        where=("wrap_text",),
        asked=(signature("wrap_text", r"width: int = 80,"),),
        keeps=(keeps_lines("wrap_text", "width: int"), changed_lines_at_most("wrap_text", 1)),
        spoilt=(
            (("    width: int = 78,\n", "    width: int = 80,\n"), ("clamped to a maximum of 78.", "clamped to a maximum of 80.")),
            (("            max_width = 80\n", "            max_width = 82\n"),),
        ),
    ),
    Case(
        id="python-formatting-guard",
        file=FORMATTING,
        kind="guard",
        instruction="HelpFormatter.dedent must never make current_indent negative; stop at 0.",
        right=(
            (
                "        self.current_indent -= self.indent_increment\n",
                "        self.current_indent = max(self.current_indent - self.indent_increment, 0)\n",
            ),
        ),
        where=("HelpFormatter.dedent",),
        asked=(
            passes(
                "class F:\n    current_indent = 3\n    indent_increment = 2\n"
                "f = F()\ndedent(f)\nassert f.current_indent == 1\ndedent(f)\nassert f.current_indent == 0\n"
                "dedent(f)\nassert f.current_indent == 0",
                "HelpFormatter.dedent",
            ),
        ),
        keeps=(keeps_lines("HelpFormatter.dedent", "self.current_indent"),),
        spoilt=(
            (("        self.current_indent -= self.indent_increment\n", "        self.current_indent = min(self.current_indent - self.indent_increment, 0)\n"),),
            (
                (
                    '        """Decreases the indentation."""\n        self.current_indent -= self.indent_increment\n',
                    "        self.current_indent = max(self.current_indent - self.indent_increment, 0)\n",
                ),
            ),
        ),
    ),
    Case(
        id="python-formatting-add-method",
        file=FORMATTING,
        kind="add-method",
        instruction="Add a method clear to HelpFormatter, behind getvalue, that empties the buffer.",
        right=(
            (
                '        return "".join(self.buffer)\n',
                '        return "".join(self.buffer)\n\n    def clear(self) -> None:\n        """Empties the buffer."""\n        self.buffer.clear()\n',
            ),
        ),
        where=("new:HelpFormatter",),
        asked=(
            passes(
                "class F:\n    pass\nf = F()\nf.buffer = ['a']\nf.current_indent = 2\nclear(f)\nassert f.buffer == [] and f.current_indent == 2",
                "HelpFormatter.clear",
            ),
        ),
        keeps=(before("HelpFormatter", r"def getvalue", r"def clear\(self\)"),),
        spoilt=(
            (("    def getvalue(self) -> str:", "    def clear(self) -> None:\n        self.buffer = []\n\n    def getvalue(self) -> str:"),),
            (('        return "".join(self.buffer)\n', '        return "".join(self.buffer)\n\n    def clear(self) -> None:\n        buffer = []\n'),),
        ),
    ),
    Case(
        id="python-formatting-rename-local",
        file=FORMATTING,
        kind="rename-local",
        instruction="rename rv to joined in join_options only",
        right=(
            ("    rv = []\n    any_prefix_is_slash = False\n", "    joined = []\n    any_prefix_is_slash = False\n"),
            ("        rv.append((len(prefix), opt))\n", "        joined.append((len(prefix), opt))\n"),
            ("    rv.sort(key=", "    joined.sort(key="),
            ("for x in rv), any_prefix", "for x in joined), any_prefix"),
        ),
        where=("join_options",),
        asked=(renames("join_options", "rv", "joined"),),
        keeps=(only_renames("join_options", "rv", "joined"),),
        spoilt=(
            (
                ("    rv = []\n    any_prefix_is_slash = False\n", "    joined = []\n    any_prefix_is_slash = False\n"),
                ("        rv.append((len(prefix), opt))\n", "        joined.append((len(prefix), opt))\n"),
                ("    rv.sort(key=", "    joined.sort(key="),
                ("for x in rv), any_prefix", "for x in joined), any_prefix"),
                ('    return "\\n\\n".join(rv)', '    return "\\n\\n".join(list(rv))'),
            ),
            (
                ("    rv = []\n    any_prefix_is_slash = False\n", "    joined = []\n    any_prefix_is_slash = False\n"),
                ("    rv.sort(key=", "    joined.sort(key="),
                ("for x in rv), any_prefix", "for x in joined), any_prefix"),
            ),
        ),
    ),
    Case(
        id="python-formatting-message",
        file=FORMATTING,
        kind="message",
        instruction='"Expected two columns for definition list" should also say how many there are: append ", got N" to the message.',
        right=(('"Expected two columns for definition list"', 'f"Expected two columns for definition list, got {len(widths)}"'),),
        where=("HelpFormatter.write_dl",),
        asked=(
            contains("HelpFormatter.write_dl", r"raise TypeError\(\s*f?[\"']Expected two columns for definition list, got (\{len\(widths\)\}|%|\{\})"),
            contains("HelpFormatter.write_dl", r"len\(widths\)", 3),
        ),
        keeps=(keeps_lines("HelpFormatter.write_dl", "raise TypeError"),),
        spoilt=(
            (('"Expected two columns for definition list"', '"Expected two columns for definition list, got N"'),),
            (('"Expected two columns for definition list"', 'f"Expected two columns, got {len(widths)}"'),),
        ),
    ),
    Case(
        id="python-formatting-extract",
        file=FORMATTING,
        kind="extract",
        instruction="Move the formatting of the heading line in write_heading into a new method format_heading(heading) of HelpFormatter that returns the string; write_heading writes it.",
        right=(
            (
                "    def write_heading(self, heading: str) -> None:",
                "    def format_heading(self, heading: str) -> str:\n        return f\"{'':>{self.current_indent}}{heading}:\\n\"\n\n    def write_heading(self, heading: str) -> None:",
            ),
            ("self.write(f\"{'':>{self.current_indent}}{heading}:\\n\")", "self.write(self.format_heading(heading))"),
        ),
        where=("HelpFormatter.write_heading", "new:HelpFormatter"),
        asked=(
            parameters("HelpFormatter.format_heading", ["heading"]),
            contains("HelpFormatter.write_heading", r"self\.format_heading\(heading\)"),
            passes(
                "class F:\n    current_indent = 3\n    def format_heading(self, heading):\n        return format_heading(self, heading)\n"
                "    def write(self, text):\n        self.text = getattr(self, 'text', '') + text\n"
                "f = F()\nwrite_heading(f, 'a')\nassert f.text == '   a:\\n'",
                "HelpFormatter.format_heading",
                "HelpFormatter.write_heading",
            ),
        ),
        keeps=(keeps_lines("HelpFormatter.write_heading", "self.write"),),
        spoilt=(
            (
                (
                    "    def write_heading(self, heading: str) -> None:",
                    "    def format_heading(self, heading: str) -> str:\n        return f\"{'':>{self.current_indent}}{heading}:\\n\"\n\n    def write_heading(self, heading: str) -> None:",
                ),
            ),
            (
                (
                    "    def write_heading(self, heading: str) -> None:",
                    '    def format_heading(self, heading: str) -> str:\n        return f"{heading}:\\n"\n\n    def write_heading(self, heading: str) -> None:',
                ),
                ("self.write(f\"{'':>{self.current_indent}}{heading}:\\n\")", "self.write(self.format_heading(heading))"),
            ),
        ),
    ),
    Case(
        id="python-live-doc-all",
        file=LIVE,
        kind="doc-all",
        instruction="Add one-line docstrings to the methods stop and run of _RefreshThread.",
        right=(
            ("    def stop(self) -> None:\n        self.done.set()\n", '    def stop(self) -> None:\n        """Ask the thread to end."""\n        self.done.set()\n'),
            ("    def run(self) -> None:\n        while not", '    def run(self) -> None:\n        """Refresh the display until the thread is stopped."""\n        while not'),
        ),
        where=("_RefreshThread.stop", "_RefreshThread.run"),
        asked=(
            contains("_RefreshThread.stop", r"-> None:\s+r?(\"\"\"|'''|\"|')[A-Z\w]"),
            contains("_RefreshThread.run", r"-> None:\s+r?(\"\"\"|'''|\"|')[A-Z\w]"),
        ),
        keeps=(keeps_code("_RefreshThread.stop"), keeps_code("_RefreshThread.run"), changed_lines_at_most("_RefreshThread.run", 3)),
        spoilt=(
            (("    def stop(self) -> None:\n        self.done.set()\n", '    def stop(self) -> None:\n        """Ask the thread to end."""\n        self.done.set()\n'),),
            (
                ("    def stop(self) -> None:\n        self.done.set()\n", '    def stop(self) -> None:\n        """Ask the thread to end."""\n        self.done.set()\n'),
                ("    def run(self) -> None:\n        while not", '    def run(self) -> None:\n        """Refresh the display until the thread is stopped."""\n        while not'),
                ('"""A thread that calls refresh() at regular intervals."""', '"""A thread that refreshes at regular intervals."""'),
            ),
        ),
    ),
    Case(
        id="python-live-default",
        file=LIVE,
        kind="default",
        instruction="Change the default of refresh_per_second in Live to 10. Update the docstring too.",
        right=(
            ("        refresh_per_second: float = 4,\n", "        refresh_per_second: float = 10,\n"),
            ("to refresh the live display. Defaults to 4.", "to refresh the live display. Defaults to 10."),
        ),
        where=("Live.__init__", "doc:Live"),
        asked=(
            signature("Live.__init__", r"refresh_per_second: float = 10(\.0)?,"),
            contains("Live", r"refresh the live display\. Defaults to 10(\.0)?\."),
        ),
        keeps=(keeps_lines("Live", r"refresh_per_second(: float =| \()"), changed_lines_at_most("Live", 2)),
        spoilt=(
            (("        refresh_per_second: float = 4,\n", "        refresh_per_second: float = 10,\n"),),
            (
                ("        refresh_per_second: float = 4,\n", "        refresh_per_second: float = 10,\n"),
                ("to refresh the live display. Defaults to 4.", "to refresh the live display. Defaults to 10."),
                ("screen (bool, optional): Enable alternate screen mode. Defaults to False.", "screen (bool, optional): Enable alternate screen mode. Default False."),
            ),
        ),
    ),
    Case(
        id="python-live-wrap-error",
        file=LIVE,
        kind="wrap-error",
        instruction="In Live.__init__, replace the assert on refresh_per_second by a ValueError with the same message, because asserts may be switched off.",
        right=(
            (
                '        assert refresh_per_second > 0, "refresh_per_second must be > 0"\n',
                '        if refresh_per_second <= 0:\n            raise ValueError("refresh_per_second must be > 0")\n',
            ),
        ),
        where=("Live.__init__",),
        asked=(
            lacks("Live.__init__", r"\bassert\b"),
            contains("Live.__init__", r"if (not \(?refresh_per_second > 0\)?|refresh_per_second <= 0|0 >= refresh_per_second):\s+raise ValueError\(\s*[\"']refresh_per_second must be > 0[\"']"),
        ),
        keeps=(keeps_lines("Live.__init__", "assert"),),
        spoilt=(
            (('        assert refresh_per_second > 0, "refresh_per_second must be > 0"\n', '        if refresh_per_second < 0:\n            raise ValueError("refresh_per_second must be > 0")\n'),),
            (('        assert refresh_per_second > 0, "refresh_per_second must be > 0"\n', '        if refresh_per_second <= 0:\n            raise ValueError("invalid refresh_per_second")\n'),),
        ),
    ),
    Case(
        id="python-live-add-property",
        file=LIVE,
        kind="add-method",
        instruction="Add a read-only property is_nested to Live, like is_started.",
        right=(
            (
                "        return self._started\n",
                '        return self._started\n\n    @property\n    def is_nested(self) -> bool:\n        """Check if this display is nested in another live display."""\n        return self._nested\n',
            ),
        ),
        where=("new:Live",),
        asked=(contains("Live.is_nested", r"@property\s+def is_nested\(self\)( -> bool)?:"), contains("Live.is_nested", r"return self\._nested$")),
        spoilt=(
            (("        return self._started\n", "        return self._started\n\n    @property\n    def is_nested(self) -> bool:\n        return self._started\n"),),
            (("        return self._started\n", "        return self._started\n\n    def is_nested(self) -> bool:\n        return self._nested\n"),),
        ),
    ),
)
