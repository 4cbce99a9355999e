"""Edits of Python files as they were before a commit."""

from __future__ import annotations

from benchmarks.edits.case import Case
from benchmarks.edits.checkers import (
    before,
    changed_lines_at_most,
    contains,
    either,
    imports,
    keeps_code,
    keeps_lines,
    lacks,
    occurs,
    omits,
    only,
    only_renames,
    parameters,
    passes,
    renames,
    signature,
)

EDITOR = "commits/commit/Aider-AI_aider/a43772b21d"
CLIENT = "commits/commit/httpie_cli/6fd0f23f39"
CELLS = "commits/commit/Textualize_rich/1586c3e628"
BLAME = "commits/commit/Aider-AI_aider/0153a18bff"
HELPERS = "commits/commit/pre-commit_pre-commit/2b8291d18f"
LOGGING = "commits/commit/Textualize_rich/cdd4f19042"
GOLANG = "commits/commit/pre-commit_pre-commit/34e0ff3497"
RUST = "commits/commit/pre-commit_pre-commit/2700a7d622"
TRY_REPO = "commits/commit/pre-commit_pre-commit/f33716cc17"
RULE = "commits/commit/Textualize_rich/ce2af5fc76"
MIGRATIONS = "commits/commit/simonw_llm/67adad2c10"
SERVER = "commits/commit/psf_requests/9ac5a6e4ae"
MIGRATE = "commits/commit/pallets_flask/96d81c297a"
SETUP = "commits/commit/pallets_flask/5c8110de25"
CONFIG = "commits/commit/pallets_flask/2abb7513dc"
STORE = "commits/commit/pre-commit_pre-commit/01653b8077"
VENV = "commits/commit/pre-commit_pre-commit/e70825ab31"
OUTPUT = "commits/commit/httpie_cli/4615011f2e"
UTILS = "commits/commit/psf_requests/6d7e8a97bb"

CASES = (
    Case(
        id="python-editor-constant",
        file=EDITOR,
        kind="constant",
        instruction="Use nano instead of vi as the default editor on Linux.",
        right=(('DEFAULT_EDITOR_NIX = "vi"', 'DEFAULT_EDITOR_NIX = "nano"'),),
        where=("DEFAULT_EDITOR_NIX",),
        asked=(contains("DEFAULT_EDITOR_NIX", r"= [\"']nano[\"']$"),),
        spoilt=(
            (('DEFAULT_EDITOR_NIX = "vi"', 'DEFAULT_EDITOR_NIX = "nano"'), ('DEFAULT_EDITOR_OS_X = "vim"', 'DEFAULT_EDITOR_OS_X = "nano"')),
            (("        default_editor = DEFAULT_EDITOR_NIX", '        default_editor = "nano"'),),
        ),
    ),
    Case(
        id="python-editor-add-parameter",
        file=EDITOR,
        kind="add-parameter",
        instruction='Add a parameter encoding="utf-8" at the end of write_temp_file and use it when the file is opened.',
        right=(
            ("    dir=None,\n):", '    dir=None,\n    encoding="utf-8",\n):'),
            ('os.fdopen(fd, "w")', 'os.fdopen(fd, "w", encoding=encoding)'),
        ),
        where=("write_temp_file",),
        asked=(
            parameters("write_temp_file", ["input_data", "suffix", "prefix", "dir", "encoding"]),
            signature("write_temp_file", r"encoding(: str)? ?= ?[\"']utf-?8[\"']"),
            contains("write_temp_file", r"os\.fdopen\(fd, (mode=)?[\"']wt?[\"'], encoding=encoding\)"),
        ),
        keeps=(keeps_lines("write_temp_file", "os.fdopen"),),
        spoilt=(
            (("    dir=None,\n):", '    dir=None,\n    encoding="utf-8",\n):'), ('os.fdopen(fd, "w")', 'os.fdopen(fd, "w", encoding="utf-8")')),
            (
                ("    dir=None,\n):", '    dir=None,\n    encoding="utf-8",\n):'),
                ('os.fdopen(fd, "w")', 'os.fdopen(fd, "w", encoding=encoding)'),
                ("    except Exception:\n        os.close(fd)\n", "    except OSError:\n        os.close(fd)\n"),
            ),
        ),
    ),
    Case(
        id="python-editor-guard",
        file=EDITOR,
        kind="guard",
        instruction="file_editor should raise FileNotFoundError(filepath) if the file does not exist, before it starts the editor.",
        right=(
            (
                "    command_parts = discover_editor()\n",
                "    if not os.path.exists(filepath):\n        raise FileNotFoundError(filepath)\n    command_parts = discover_editor()\n",
            ),
        ),
        where=("file_editor",),
        asked=(
            before("file_editor", r"if not (os\.path\.(exists|isfile)|(pathlib\.)?Path)\(filepath\)", r"raise FileNotFoundError\(filepath\)"),
            before("file_editor", r"raise FileNotFoundError", r"subprocess\.call"),
        ),
        keeps=(keeps_lines("file_editor"),),
        spoilt=(
            (("    command_parts = discover_editor()\n", "    if os.path.exists(filepath):\n        raise FileNotFoundError(filepath)\n    command_parts = discover_editor()\n"),),
            (("    command_parts = discover_editor(editor)\n", "    if not os.path.exists(filepath):\n        raise FileNotFoundError(filepath)\n    command_parts = discover_editor(editor)\n"),),
        ),
    ),
    Case(
        id="python-editor-type-hints",
        file=EDITOR,
        kind="type-hints",
        instruction="Add type hints to get_environment_editor: default is a str or None, and so is the result.",
        right=(("def get_environment_editor(default=None):", "def get_environment_editor(default: str | None = None) -> str | None:"),),
        where=("get_environment_editor",),
        asked=(
            signature("get_environment_editor", r"default: (Optional\[str\]|typing\.Optional\[str\]|str \| None|Union\[str, None\]) ?= ?None"),
            signature("get_environment_editor", r"-> ?(Optional\[str\]|typing\.Optional\[str\]|str \| None|Union\[str, None\]) ?:"),
        ),
        keeps=(keeps_lines("get_environment_editor", "def get_environment_editor"), changed_lines_at_most("get_environment_editor", 1)),
        spoilt=(
            (("def get_environment_editor(default=None):", "def get_environment_editor(default: str = None) -> str:"),),
            (("def get_environment_editor(default=None):", "def get_environment_editor(default: str | None = None) -> str | None:"), ("    :type default: str or None\n", "")),
        ),
    ),
    Case(
        id="python-editor-extract",
        file=EDITOR,
        kind="extract",
        instruction="Extract the choice of the default editor by platform from discover_editor into a function get_default_editor().",
        right=(
            (
                "def discover_editor(editor_override=None):",
                'def get_default_editor():\n    system = platform.system()\n    if system == "Windows":\n        return DEFAULT_EDITOR_WINDOWS\n    if system == "Darwin":\n        return DEFAULT_EDITOR_OS_X\n    return DEFAULT_EDITOR_NIX\n\n\ndef discover_editor(editor_override=None):',
            ),
            (
                '    system = platform.system()\n    if system == "Windows":\n        default_editor = DEFAULT_EDITOR_WINDOWS\n    elif system == "Darwin":\n        default_editor = DEFAULT_EDITOR_OS_X\n    else:\n        default_editor = DEFAULT_EDITOR_NIX\n',
                "    default_editor = get_default_editor()\n",
            ),
        )[::-1],
        where=("discover_editor", "new:"),
        asked=(
            contains("get_default_editor", r"platform\.system\(\)"),
            lacks("discover_editor", r"platform\.system|DEFAULT_EDITOR"),
            contains("discover_editor", r"get_default_editor\(\)"),
            passes(
                "import types\nfor name, wanted in (('Windows', 'w'), ('Darwin', 'o'), ('Linux', 'n')):\n"
                "    platform = types.SimpleNamespace(system=lambda: name)\n    assert get_default_editor() == wanted",
                "get_default_editor",
                prelude="DEFAULT_EDITOR_WINDOWS, DEFAULT_EDITOR_OS_X, DEFAULT_EDITOR_NIX = 'won'",
            ),
        ),
        keeps=(keeps_lines("discover_editor", r"system|default_editor|^else:"), contains("discover_editor", r"(?s)if editor_override:.*editor = editor_override.*get_environment_editor\(.*shlex\.split")),
        spoilt=(
            (
                (
                    "def discover_editor(editor_override=None):",
                    'def get_default_editor():\n    system = platform.system()\n    if system == "Windows":\n        return DEFAULT_EDITOR_WINDOWS\n    if system == "Darwin":\n        return DEFAULT_EDITOR_OS_X\n    return DEFAULT_EDITOR_NIX\n\n\ndef discover_editor(editor_override=None):',
                ),
            ),
            (
                (
                    '    system = platform.system()\n    if system == "Windows":\n        default_editor = DEFAULT_EDITOR_WINDOWS\n    elif system == "Darwin":\n        default_editor = DEFAULT_EDITOR_OS_X\n    else:\n        default_editor = DEFAULT_EDITOR_NIX\n',
                    "    default_editor = get_default_editor()\n",
                ),
            ),
        ),
    ),
    Case(
        id="python-editor-message",
        file=EDITOR,
        kind="message",
        instruction='Say "Could not" instead of "Unable to" in the warning about the temporary file.',
        right=(("WARNING: Unable to delete", "WARNING: Could not delete"),),
        where=("pipe_editor",),
        asked=(contains("pipe_editor", r"WARNING: Could not delete temporary file \{filepath!r\}"), lacks("pipe_editor", "Unable to")),
        keeps=(only("pipe_editor", ("Unable to", "Could not")), keeps_lines("pipe_editor", "WARNING")),
        spoilt=(
            (("WARNING: Unable to delete", "WARNING: Could not remove"),),
            (("WARNING: Unable to delete", "WARNING: Could not delete"), ("    command_parts = discover_editor(editor)\n    command_parts.append(filepath)\n", "    command_parts = [*discover_editor(editor), filepath]\n")),
        ),
    ),
    Case(
        id="python-client-rename-local",
        file=CLIENT,
        kind="rename-local",
        instruction="Rename auto_json to send_json in get_requests_kwargs only.",
        right=(
            ("    auto_json = data and not args.form\n    if args.json or auto_json and isinstance(data, dict):", "    send_json = data and not args.form\n    if args.json or send_json and isinstance(data, dict):"),
        ),
        where=("get_requests_kwargs",),
        asked=(renames("get_requests_kwargs", "auto_json", "send_json"),),
        keeps=(only_renames("get_requests_kwargs", "auto_json", "send_json"),),
        spoilt=(
            (("    auto_json = data and not args.form\n", "    send_json = data and not args.form\n"),),
            (
                ("    auto_json = data and not args.form\n    if args.json or auto_json and isinstance(data, dict):", "    send_json = data and not args.form\n    if args.json or send_json and isinstance(data, dict):"),
                ("    auto_json = args.data and not args.form\n", "    send_json = args.data and not args.form\n"),
                ("    if args.json or auto_json:\n", "    if args.json or send_json:\n"),
                ("(auto_json and args.data)", "(send_json and args.data)"),
            ),
        ),
    ),
    Case(
        id="python-client-comments",
        file=CLIENT,
        kind="comments",
        instruction="Remove the FIXME comment.",
        right=(("    # FIXME: Accept is set to JSON with `http url @./file.txt`.\n", ""),),
        where=("get_default_headers",),
        asked=(omits(None, "FIXME"),),
        keeps=(keeps_code("get_default_headers"), keeps_lines("get_default_headers", "FIXME")),
        spoilt=(
            (("    # FIXME: Accept is set", "    # Accept is set"), ("    # If sending files, `requests` will set\n", "    # FIXME `requests` will set\n")),
            (("    # FIXME: Accept is set to JSON with `http url @./file.txt`.\n", ""), ("    # Serialize JSON data, if needed.\n", "")),
        ),
    ),
    Case(
        id="python-client-add-entry",
        file=CLIENT,
        kind="add-entry",
        instruction="Send Accept-Language: en by default, next to User-Agent in get_default_headers.",
        right=(("        'User-Agent': DEFAULT_UA\n", "        'User-Agent': DEFAULT_UA,\n        'Accept-Language': 'en',\n"),),
        where=("get_default_headers",),
        asked=(
            passes(
                "import types\nargs = types.SimpleNamespace(data='', form=False, json=False, files=[])\n"
                "assert get_default_headers(args) == {'User-Agent': 'ua', 'Accept-Language': 'en'}",
                "get_default_headers",
                prelude="DEFAULT_UA, JSON, FORM = 'ua', 'j', 'f'",
            ),
        ),
        keeps=(keeps_lines("get_default_headers", "User-Agent"),),
        spoilt=(
            (("        default_headers['Accept'] = 'application/json'\n", "        default_headers['Accept'] = 'application/json'\n        default_headers['Accept-Language'] = 'en'\n"),),
            (
                ("        'User-Agent': DEFAULT_UA\n", "        'User-Agent': DEFAULT_UA,\n        'Accept-Language': 'en',\n"),
                ("        default_headers['Accept'] = 'application/json'\n", "        default_headers['Accept'] = JSON\n"),
            ),
        ),
    ),
    Case(
        id="python-cells-constant",
        file=CELLS,
        kind="constant",
        instruction="In cell_len, cache texts of up to 1024 characters instead of 512.",
        right=(("    if len(text) <= 512:", "    if len(text) <= 1024:"),),
        where=("cell_len",),
        asked=(contains("cell_len", r"len\(text\) <= 1024:"),),
        keeps=(only("cell_len", ("<= 512", "<= 1024")), keeps_lines("cell_len", "<= 512")),
        spoilt=(
            (("    if len(text) <= 512:", "    if len(text) < 1024:"),),
            (("    if len(text) <= 512:", "    if len(text) <= 1024:"), ("LRUCache(1024 * 4)", "LRUCache(4096)")),
        ),
    ),
    Case(
        id="python-cells-comments",
        file=CELLS,
        kind="comments",
        instruction="The docstring of _get_codepoint_cell_size is wrong: the argument is called codepoint, an int, and is the code point of a character. Correct it.",
        right=(
            (
                "def _get_codepoint_cell_size(codepoint: int) -> int:\n    \"\"\"Get the cell size of a character.\n\n    Args:\n        character (str): A single character.\n",
                "def _get_codepoint_cell_size(codepoint: int) -> int:\n    \"\"\"Get the cell size of a character.\n\n    Args:\n        codepoint (int): Codepoint of a character.\n",
            ),
        ),
        where=("_get_codepoint_cell_size",),
        asked=(contains("_get_codepoint_cell_size", r"^        codepoint \(int\): \w"), lacks("_get_codepoint_cell_size", r"character \(str\)")),
        keeps=(keeps_code("_get_codepoint_cell_size"), keeps_lines("_get_codepoint_cell_size", r"character \(str\)|Get the cell size")),
        spoilt=(
            (("def get_character_cell_size(character: str) -> int:\n    \"\"\"Get the cell size of a character.\n\n    Args:\n        character (str)", "def get_character_cell_size(character: str) -> int:\n    \"\"\"Get the cell size of a character.\n\n    Args:\n        codepoint (int)"),),
            (
                (
                    "def _get_codepoint_cell_size(codepoint: int) -> int:\n    \"\"\"Get the cell size of a character.\n\n    Args:\n        character (str): A single character.\n\n    Returns:\n        int: Number of cells (0, 1 or 2) occupied by that character.\n",
                    "def _get_codepoint_cell_size(codepoint: int) -> int:\n    \"\"\"Get the cell size of a character.\n\n    Args:\n        codepoint (int): Codepoint of a character.\n",
                ),
            ),
        ),
    ),
    Case(
        id="python-cells-doc-one",
        file=CELLS,
        kind="doc-one",
        instruction="Describe the arguments text and total and the return value of set_cell_size in its docstring, in the style of cell_len.",
        right=(
            (
                '    """Set the length of a string to fit within given number of cells."""\n',
                '    """Set the length of a string to fit within given number of cells.\n\n    Args:\n        text (str): Text to crop or pad.\n        total (int): Number of cells.\n\n    Returns:\n        str: Text of exactly that size.\n    """\n',
            ),
        ),
        where=("set_cell_size",),
        asked=(contains("set_cell_size", r"Args:\s+text ?\(str\):.*\s+total ?\(int\): .*(\n.*)*Returns:\s+str: \w"),),
        keeps=(keeps_code("set_cell_size"), keeps_lines("set_cell_size", '"""'), contains("set_cell_size", "Set the length of a string to fit within given number of cells")),
        spoilt=(
            (
                (
                    '    """Set the length of a string to fit within given number of cells."""\n',
                    '    """Set the length of a string to fit within given number of cells.\n\n    Args:\n        text (str): Text to crop or pad.\n    """\n',
                ),
            ),
            (
                (
                    '    """Set the length of a string to fit within given number of cells."""\n\n    if _is_single_cell_widths(text):\n',
                    '    """Set the length of a string to fit within given number of cells.\n\n    Args:\n        text (str): Text to crop or pad.\n        total (int): Number of cells.\n\n    Returns:\n        str: Text of exactly that size.\n    """\n    if not text or _is_single_cell_widths(text):\n',
                ),
            ),
        ),
    ),
    Case(
        id="python-cells-guard",
        file=CELLS,
        kind="guard",
        instruction="set_cell_size should raise a ValueError for a negative total.",
        right=(
            ("    if _is_single_cell_widths(text):", '    if total < 0:\n        raise ValueError("total must not be negative")\n\n    if _is_single_cell_widths(text):'),
        ),
        where=("set_cell_size",),
        asked=(
            passes(
                "for text in ('abc', 'äb', ''):\n    try:\n        set_cell_size(text, -1)\n    except ValueError:\n        pass\n    else:\n        assert False\n"
                "assert set_cell_size('abc', 0) == ''\nassert set_cell_size('abc', 5) == 'abc  '\nassert set_cell_size('äbc', 2) == 'äb'",
                "set_cell_size",
                prelude="cell_len = len\n_is_single_cell_widths = str.isascii",
            ),
        ),
        keeps=(keeps_lines("set_cell_size"),),
        spoilt=(
            (("    if _is_single_cell_widths(text):", "    if total < 0:\n        return text\n\n    if _is_single_cell_widths(text):"),),
            (("    if not total:\n", '    if total < 0:\n        raise ValueError("total must not be negative")\n    if not total:\n'),),
        ),
    ),
    Case(
        id="python-cells-invert-condition",
        file=CELLS,
        kind="invert-condition",
        instruction="In cell_len, turn the check before the cache is filled around: return total_size at once if the text is longer than 512, then fill the cache without an if.",
        right=(
            ("    if len(text) <= 512:\n        _cache[text] = total_size\n", "    if len(text) > 512:\n        return total_size\n    _cache[text] = total_size\n"),
        ),
        where=("cell_len",),
        asked=(
            contains("cell_len", r"if (len\(text\) > 512|512 < len\(text\)|not len\(text\) <= 512):\s+return total_size\s+_cache\[text\] = total_size\s+return total_size"),
        ),
        keeps=(keeps_lines("cell_len", "<= 512"),),
        spoilt=(
            (("    if len(text) <= 512:\n        _cache[text] = total_size\n", "    if len(text) > 512:\n        _cache[text] = total_size\n"),),
            (("    if len(text) <= 512:\n        _cache[text] = total_size\n", "    if len(text) >= 512:\n        return total_size\n    _cache[text] = total_size\n"),),
        ),
    ),
    Case(
        id="python-blame-missing-key",
        file=BLAME,
        kind="missing-key",
        instruction='Count lines of unknown commits under "Not tagged" instead of "Unknown".',
        right=(('authors.get(hsh, "Unknown")', 'authors.get(hsh, "Not tagged")'),),
        where=("get_counts_for_file",),
        asked=(contains("get_counts_for_file", r"authors\.get\(hsh, [\"']Not tagged[\"']\)"),),
        keeps=(only("get_counts_for_file", ("Unknown", "Not tagged")), keeps_lines("get_counts_for_file", "Unknown")),
        spoilt=(
            (('author = authors.get(hsh, "Unknown")', 'author = authors.get(hsh)'),),
            (('authors.get(hsh, "Unknown")', 'authors.get(hsh, "Not tagged")'), ("        if line.startswith('^'):\n            continue\n", "")),
        ),
    ),
    Case(
        id="python-blame-guard",
        file=BLAME,
        kind="guard",
        instruction='get_all_commit_hashes_since_tag returns None when git fails, and main crashes. In main, print "no commits" to stderr and return if commits is empty or None.',
        right=(
            (
                "    commits = [commit[:hash_len] for commit in commits]\n",
                '    if not commits:\n        print("no commits", file=sys.stderr)\n        return\n    commits = [commit[:hash_len] for commit in commits]\n',
            ),
        ),
        where=("main",),
        asked=(
            contains("main", r"if (not commits|commits is None or not commits|commits is None or len\(commits\) == 0):\s+(print\([\"']no commits[\"'], file=sys\.stderr\)|sys\.stderr\.write\([\"']no commits\\n[\"']\))\s+return"),
            before("main", r"[nN]o commits", r"commit\[:hash_len\]"),
        ),
        keeps=(keeps_lines("main"),),
        spoilt=(
            (
                (
                    "    commits = [commit[:hash_len] for commit in commits]\n",
                    '    commits = [commit[:hash_len] for commit in commits]\n    if not commits:\n        print("no commits", file=sys.stderr)\n        return\n',
                ),
            ),
            (("    commits = [commit[:hash_len] for commit in commits]\n", '    if not commits:\n        print("no commits")\n        return\n    commits = [commit[:hash_len] for commit in commits]\n'),),
        ),
    ),
    Case(
        id="python-helpers-convert",
        file=HELPERS,
        kind="convert",
        instruction="Flatten target_concurrency: no else after a return.",
        right=(
            (
                "        return 1\n    else:\n        # Travis appears to have a bunch of CPUs, but we can't use them all.\n        if 'TRAVIS' in os.environ:\n            return 2\n        else:\n            try:\n                return multiprocessing.cpu_count()\n            except NotImplementedError:\n                return 1\n",
                "        return 1\n    # Travis appears to have a bunch of CPUs, but we can't use them all.\n    if 'TRAVIS' in os.environ:\n        return 2\n    try:\n        return multiprocessing.cpu_count()\n    except NotImplementedError:\n        return 1\n",
            ),
        ),
        where=("target_concurrency",),
        asked=(
            lacks("target_concurrency", r"\belse\b"),
            passes(
                "import types\ndef broken():\n    raise NotImplementedError\n"
                "for serial, environ, count, wanted in ((True, {}, lambda: 8, 1), (False, {'PRE_COMMIT_NO_CONCURRENCY': ''}, lambda: 8, 1), (False, {'TRAVIS': ''}, lambda: 8, 2), (False, {}, lambda: 8, 8), (False, {}, broken, 1)):\n"
                "    os = types.SimpleNamespace(environ=environ)\n    multiprocessing = types.SimpleNamespace(cpu_count=count)\n"
                "    assert target_concurrency({'require_serial': serial}) == wanted",
                "target_concurrency",
            ),
        ),
        keeps=(keeps_lines("target_concurrency", "else:"),),
        spoilt=(
            (
                (
                    "        return 1\n    else:\n        # Travis appears to have a bunch of CPUs, but we can't use them all.\n        if 'TRAVIS' in os.environ:\n            return 2\n        else:\n            try:\n                return multiprocessing.cpu_count()\n            except NotImplementedError:\n                return 1\n",
                    "        return 1\n    if 'TRAVIS' in os.environ:\n        return 2\n    return multiprocessing.cpu_count()\n",
                ),
            ),
            (
                (
                    "        return 1\n    else:\n        # Travis appears to have a bunch of CPUs, but we can't use them all.\n        if 'TRAVIS' in os.environ:\n            return 2\n        else:\n            try:\n                return multiprocessing.cpu_count()\n            except NotImplementedError:\n                return 1\n",
                    "        return 1\n    if 'TRAVIS' in os.environ:\n        return 2\n    try:\n        return multiprocessing.cpu_count()\n    except NotImplementedError:\n        return 1\n",
                ),
            ),
        ),
    ),
    Case(
        id="python-logging-add-entry",
        file=LOGGING,
        kind="add-entry",
        instruction='Add "CONNECT" to the KEYWORDS of RichHandler.',
        right=(('        "TRACE",\n', '        "TRACE",\n        "CONNECT",\n'),),
        where=("RichHandler.KEYWORDS",),
        asked=(contains("RichHandler.KEYWORDS", r"[\"']CONNECT[\"']"),),
        keeps=(keeps_lines("RichHandler.KEYWORDS"), changed_lines_at_most("RichHandler.KEYWORDS", 1)),
        spoilt=(
            (('        "TRACE",\n', '        "CONNECT",\n'),),
            (('        "PUT",\n        "DELETE",\n', '        "CONNECT",\n        "DELETE",\n        "PUT",\n'),),
        ),
    ),
    Case(
        id="python-logging-add-parameter",
        file=LOGGING,
        kind="add-parameter",
        instruction="Add a keyword parameter show_level (bool, default True) to RichHandler.__init__ and pass it to LogRender.",
        right=(
            ("        show_path: bool = True,\n", "        show_level: bool = True,\n        show_path: bool = True,\n"),
            ("LogRender(show_level=True, show_path=show_path)", "LogRender(show_level=show_level, show_path=show_path)"),
        ),
        where=("RichHandler.__init__", "doc:RichHandler"),
        asked=(
            signature("RichHandler.__init__", r"\*, .*show_level: bool = True"),
            contains("RichHandler.__init__", r"LogRender\((show_level=show_level, show_path=show_path|show_path=show_path, show_level=show_level)\)"),
        ),
        keeps=(keeps_lines("RichHandler.__init__", "LogRender"),),
        spoilt=(
            (("        show_path: bool = True,\n", "        show_level: bool = True,\n        show_path: bool = True,\n"),),
            (
                ("        console: Console = None,\n", "        console: Console = None,\n        show_level: bool = True,\n"),
                ("LogRender(show_level=True, show_path=show_path)", "LogRender(show_level=show_level, show_path=show_path)"),
            ),
        ),
    ),
    Case(
        id="python-golang-convert",
        file=GOLANG,
        kind="convert",
        instruction="Use str.removesuffix in guess_go_dir.",
        right=(
            ("    if remote_url.endswith('.git'):\n        remote_url = remote_url[:-1 * len('.git')]\n", "    remote_url = remote_url.removesuffix('.git')\n"),
        ),
        where=("guess_go_dir",),
        asked=(
            contains("guess_go_dir", r"remote_url\.removesuffix\([\"']\.git[\"']\)"),
            lacks("guess_go_dir", r"endswith|len\("),
            passes(
                "assert guess_go_dir('git@github.com:a/b.git') == 'github.com/a/b'\nassert guess_go_dir('https://x/y') == 'x/y'\nassert guess_go_dir('file:///x.git') == 'unknown_src_dir'",
                "guess_go_dir",
            ),
        ),
        keeps=(keeps_lines("guess_go_dir", r"\.git'"),),
        spoilt=(
            (("    if remote_url.endswith('.git'):\n        remote_url = remote_url[:-1 * len('.git')]\n", "    remote_url.removesuffix('.git')\n"),),
            (("        remote_url = remote_url[:-1 * len('.git')]\n", "        remote_url = remote_url.removesuffix('.git')\n"),),
        ),
    ),
    Case(
        id="python-golang-rename-local",
        file=GOLANG,
        kind="rename-local",
        instruction="pkgdir in install_environment should be called package_dir",
        right=(
            ("        pkgdir = prefix", "        package_dir = prefix"),
            ("os.path.exists(pkgdir):", "os.path.exists(package_dir):"),
            ("            rmtree(pkgdir)", "            rmtree(package_dir)"),
        ),
        where=("install_environment",),
        asked=(renames("install_environment", "pkgdir", "package_dir"),),
        keeps=(only_renames("install_environment", "pkgdir", "package_dir"),),
        spoilt=(
            (("        pkgdir = prefix", "        package_dir = prefix"), ("os.path.exists(pkgdir):", "os.path.exists(package_dir):")),
            (
                ("        pkgdir = prefix", "        package_dir = prefix"),
                ("os.path.exists(pkgdir):  # pragma: no cover (go<1.10)", "os.path.exists(package_dir):"),
                ("            rmtree(pkgdir)", "            rmtree(package_dir)"),
            ),
        ),
    ),
    Case(
        id="python-rust-add-parameter",
        file=RUST,
        kind="add-parameter",
        instruction="Add a parameter timeout: float = 30 to install_rust_with_toolchain and pass it to urlopen.",
        right=(
            ("def install_rust_with_toolchain(toolchain: str) -> None:", "def install_rust_with_toolchain(\n        toolchain: str,\n        timeout: float = 30,\n) -> None:"),
            ("urllib.request.urlopen(url)", "urllib.request.urlopen(url, timeout=timeout)"),
        ),
        where=("install_rust_with_toolchain",),
        asked=(
            parameters("install_rust_with_toolchain", ["toolchain", "timeout"]),
            signature("install_rust_with_toolchain", r"timeout: float ?= ?30(\.0)?\b"),
            contains("install_rust_with_toolchain", r"urlopen\(url, timeout=timeout\)"),
        ),
        keeps=(keeps_lines("install_rust_with_toolchain", "def install_rust|urlopen"),),
        spoilt=(
            (("urllib.request.urlopen(url)", "urllib.request.urlopen(url, timeout=30)"),),
            (("def install_rust_with_toolchain(toolchain: str) -> None:", "def install_rust_with_toolchain(toolchain: str, timeout: float = 30) -> None:"), ("urllib.request.urlopen(url)", "urllib.request.urlopen(url, timeout)")),
        ),
    ),
    Case(
        id="python-rust-wrap-error",
        file=RUST,
        kind="wrap-error",
        instruction='If urlopen fails with urllib.error.URLError in install_rust_with_toolchain, raise RuntimeError(f"could not download {url}") from it.',
        right=(
            ("import urllib.request\n", "import urllib.error\nimport urllib.request\n"),
            (
                "                resp = urllib.request.urlopen(url)\n",
                "                try:\n                    resp = urllib.request.urlopen(url)\n                except urllib.error.URLError as e:\n                    raise RuntimeError(f'could not download {url}') from e\n",
            ),
        ),
        where=("install_rust_with_toolchain",),
        asked=(
            contains("install_rust_with_toolchain", r"try:\s+resp = urllib\.request\.urlopen\(url\)(.|\n)*except (urllib\.error\.)?URLError as (\w+):\s+raise RuntimeError\(\s*f[\"']could not download \{url\}[\"'],?\s*\) from \3"),
            either(imports("urllib.error"), imports("URLError"), imports("urllib")),
        ),
        keeps=(keeps_lines("install_rust_with_toolchain"),),
        spoilt=(
            (("                resp = urllib.request.urlopen(url)\n", "                try:\n                    resp = urllib.request.urlopen(url)\n                except OSError as e:\n                    raise RuntimeError(f'could not download {url}') from e\n"),),
            (("                resp = urllib.request.urlopen(url)\n", "                try:\n                    resp = urllib.request.urlopen(url)\n                except urllib.error.URLError as e:\n                    raise RuntimeError(f'could not download {url}')\n"),),
        ),
    ),
    Case(
        id="python-rust-doc-one",
        file=RUST,
        kind="doc-one",
        instruction="Give _add_dependencies a docstring in one line.",
        right=(("    crates = []\n", '    """Add the crates to the manifest with `cargo add`."""\n    crates = []\n'),),
        where=("_add_dependencies",),
        asked=(contains("_add_dependencies", r"-> None:\s+r?(\"\"\"|'''|\"|')\w.*(\"\"\"|'''|\"|')\s+crates"),),
        keeps=(keeps_code("_add_dependencies"), keeps_lines("_add_dependencies")),
        spoilt=(
            (("    crates = []\n", "    # Add the crates to the manifest.\n    crates = []\n"),),
            (("    crates = []\n", '    """Add the crates to the manifest."""\n    crates: list[str] = []\n'),),
        ),
    ),
    Case(
        id="python-try-repo-convert",
        file=TRY_REPO,
        kind="convert",
        instruction="try_repo: use a plain dict instead of collections.OrderedDict.",
        right=(
            ("import collections\n", ""),
            ("        items = (('repo', repo), ('rev', ref), ('hooks', hooks))\n        config = {'repos': [collections.OrderedDict(items)]}\n", "        config = {'repos': [{'repo': repo, 'rev': ref, 'hooks': hooks}]}\n"),
        ),
        where=("try_repo",),
        asked=(
            lacks("try_repo", "OrderedDict"),
            either(
                contains("try_repo", r"'repos': \[\s*(dict\((items|repo=repo, rev=ref, hooks=hooks)\)|\{\s*'repo': repo,\s+'rev': ref,\s+'hooks': hooks,?\s*\})"),
                contains("try_repo", r"(\w+) = (dict\(|\{\s*'repo': repo,\s+'rev': ref,\s+'hooks': hooks)(.|\n)*'repos': \[\1\]"),
            ),
        ),
        keeps=(keeps_lines("try_repo", r"items|OrderedDict"),),
        spoilt=(
            (("        items = (('repo', repo), ('rev', ref), ('hooks', hooks))\n        config = {'repos': [collections.OrderedDict(items)]}\n", "        config = {'repos': [{'repo': repo, 'rev': ref}]}\n"),),
            (("import collections\n", ""), ("[collections.OrderedDict(items)]", "[dict(items)]"), ("        output.write_line('Using config:')\n", "")),
        ),
    ),
    Case(
        id="python-try-repo-constant",
        file=TRY_REPO,
        kind="constant",
        instruction="Make the three lines of equals signs 60 characters long.",
        right=(
            ("        output.write_line('=' * 79)\n        output.write_line('Using config:')\n        output.write_line('=' * 79)\n        output.write(config_s)\n        output.write_line('=' * 79)\n", "        output.write_line('=' * 60)\n        output.write_line('Using config:')\n        output.write_line('=' * 60)\n        output.write(config_s)\n        output.write_line('=' * 60)\n"),
        ),
        where=("try_repo",),
        asked=(occurs("try_repo", r"'=' \* 60", 3), lacks("try_repo", r"\b79\b")),
        keeps=(only("try_repo", (r"\b79\b", "60")), keeps_lines("try_repo", "'=' ")),
        spoilt=(
            (("        output.write_line('=' * 79)\n        output.write_line('Using config:')\n", "        output.write_line('=' * 60)\n        output.write_line('Using config:')\n"),),
            (("        output.write_line('=' * 79)\n        output.write_line('Using config:')\n        output.write_line('=' * 79)\n        output.write(config_s)\n        output.write_line('=' * 79)\n", "        output.write_line('=' * 60)\n        output.write_line('Using config:')\n        output.write_line('=' * 60)\n        output.write(config_s)\n"),),
        ),
    ),
    Case(
        id="python-try-repo-log",
        file=TRY_REPO,
        kind="log",
        instruction="In _repo_ref, log the explicitly passed ref at debug level before it is returned.",
        right=(("        return repo, ref\n\n    ref = git", "        logger.debug('Using the explicit ref %s', ref)\n        return repo, ref\n\n    ref = git"),),
        where=("_repo_ref",),
        asked=(contains("_repo_ref", r"if ref:\s+logger\.debug\([^\n]*\bref\b[^\n]*\)\s+return repo, ref"),),
        keeps=(keeps_lines("_repo_ref"),),
        spoilt=(
            (("        return repo, ref\n\n    ref = git", "        logger.info('Using the explicit ref %s', ref)\n        return repo, ref\n\n    ref = git"),),
            (("    else:\n        return repo, ref\n", "    else:\n        logger.debug('Using ref %s', ref)\n        return repo, ref\n"),),
        ),
    ),
    Case(
        id="python-rule-message",
        file=RULE,
        kind="message",
        instruction="The error message in Rule.__init__ speaks of 'character', but the argument is called characters. Correct the message.",
        right=(("\"'character' argument must", "\"'characters' argument must"),),
        where=("Rule.__init__",),
        asked=(contains("Rule.__init__", r"'characters' argument must at least have a cell width of 1"),),
        keeps=(only("Rule.__init__", ("'character' argument", "'characters' argument")), keeps_lines("Rule.__init__", "'character' argument")),
        spoilt=(
            (("\"'character' argument must at least have", "\"'characters' argument must have at least"),),
            (("\"'character' argument must", "\"'characters' argument must"), ("        if cell_len(characters) < 1:\n", "        if not cell_len(characters):\n")),
        ),
    ),
    Case(
        id="python-rule-default",
        file=RULE,
        kind="default",
        instruction='Change the default of characters to "-" in Rule, also in the docstring.',
        right=(
            ('        characters: str = "─",\n', '        characters: str = "-",\n'),
            ('used to draw the line. Defaults to "─".', 'used to draw the line. Defaults to "-".'),
        ),
        where=("Rule.__init__", "doc:Rule"),
        asked=(
            signature("Rule.__init__", r"characters: str = [\"']-[\"'],"),
            contains("Rule", r"used to draw the line\. Defaults to [\"']-[\"']\."),
        ),
        keeps=(keeps_lines("Rule", r"characters(: str =| \(str)"),),
        spoilt=(
            (('        characters: str = "─",\n', '        characters: str = "-",\n'),),
            (
                ('        characters: str = "─",\n', '        characters: str = "-",\n'),
                ('used to draw the line. Defaults to "─".', 'used to draw the line. Defaults to "-".'),
                ('self.characters or "─"', 'self.characters or "-"'),
            ),
        ),
    ),
    Case(
        id="python-migrations-add-function",
        file=MIGRATIONS,
        kind="add-function",
        instruction="Add a migration m006_index_updated at the end that creates an index on the column updated of embeddings.",
        right=(
            (
                '        column_order=("collection_id", "id", "embedding", "content", "content_blob")\n    )\n',
                '        column_order=("collection_id", "id", "embedding", "content", "content_blob")\n    )\n\n\n@embeddings_migrations()\ndef m006_index_updated(db):\n    db["embeddings"].create_index(["updated"])\n',
            ),
        ),
        where=("new:",),
        asked=(
            contains("m006_index_updated", r"@embeddings_migrations\(\)\s+def m006_index_updated\(db\):"),
            contains("m006_index_updated", r"db\[[\"']embeddings[\"']\]\.create_index\(\[[\"']updated[\"']\]|create index.* embeddings ?\(\[?updated\]?\)"),
        ),
        keeps=(before(None, "def m005", "def m006_index_updated"),),
        spoilt=(
            (
                (
                    '        column_order=("collection_id", "id", "embedding", "content", "content_blob")\n    )\n',
                    '        column_order=("collection_id", "id", "embedding", "content", "content_blob")\n    )\n\n\ndef m006_index_updated(db):\n    db["embeddings"].create_index(["updated"])\n',
                ),
            ),
            (
                (
                    '        column_order=("collection_id", "id", "embedding", "content", "content_blob")\n    )\n',
                    '        column_order=("collection_id", "id", "embedding", "content", "content_blob")\n    )\n    db["embeddings"].create_index(["updated"])\n',
                ),
            ),
        ),
    ),
    Case(
        id="python-migrations-convert",
        file=MIGRATIONS,
        kind="convert",
        instruction="m003_add_updated runs an update with db.query. Use db.execute there.",
        right=(("    db.query(\n", "    db.execute(\n"),),
        where=("m003_add_updated",),
        asked=(contains("m003_add_updated", r"db\.(conn\.)?execute\(\s*[\"']update embeddings set updated = \? where updated is null[\"']"), lacks("m003_add_updated", r"db\.query")),
        keeps=(keeps_lines("m003_add_updated", r"db\.query|int\(time|^\)"),),
        spoilt=(
            (("    db.query(\n", "    db.execute(\n"), ("where updated is null", "where updated = null")),
            (("    db.query(\n", "    db.execute(\n"), ("    # Pretty-print the schema\n    db[\"embeddings\"].transform()\n    # Assume", "    # Assume")),
        ),
    ),
    Case(
        id="python-server-constant",
        file=SERVER,
        kind="constant",
        instruction="Read chunks of 4096 bytes in consume_socket_content.",
        right=(("    chunks = 65536\n", "    chunks = 4096\n"),),
        where=("consume_socket_content",),
        asked=(contains("consume_socket_content", r"chunks = 4096$|recv\(4096\)"), lacks("consume_socket_content", "65536")),
        keeps=(keeps_lines("consume_socket_content", "chunks = "),),
        spoilt=(
            (("    chunks = 65536\n", "    chunks = 4096\n"), ("        # stop reading if no new data is received for a while \n", "        # stop reading if no new data is received for a while\n")),
            (("def consume_socket_content(sock, timeout=0.5):\n    chunks = 65536\n", "def consume_socket_content(sock, timeout=0.5, chunks=65536):\n"),),
        ),
    ),
    Case(
        id="python-server-add-method",
        file=SERVER,
        kind="add-method",
        instruction="Add a method url() to Server that returns http://host:port/ of the server.",
        right=(("    def run(self):\n", "    def url(self):\n        return 'http://{}:{}/'.format(self.host, self.port)\n\n    def run(self):\n"),),
        where=("new:Server",),
        asked=(
            passes(
                "class S:\n    host, port = 'localhost', 80\nassert (url.fget if isinstance(url, property) else url)(S()) == 'http://localhost:80/'",
                "Server.url",
            ),
            lacks("Server.url", "@property"),
        ),
        spoilt=(
            (("    def run(self):\n", "    def url(self):\n        return 'http://{}/'.format(self.host)\n\n    def run(self):\n"),),
            (("    def run(self):\n", "    def url(self):\n        return 'http://{}:{}/'.format(self.host, self.port)\n\n    def run(self):\n"), ("        sock.listen(0)\n", "        sock.listen(1)\n")),
        ),
    ),
    Case(
        id="python-server-comments",
        file=SERVER,
        kind="comments",
        instruction='Correct the grammar in the docstring of Server: "using" should be "used".',
        right=(("Dummy server using for unit testing", "Dummy server used for unit testing"),),
        where=("doc:Server",),
        asked=(contains("Server", "Dummy server used for unit testing"),),
        keeps=(keeps_code("Server"), changed_lines_at_most("Server", 1)),
        spoilt=(
            (("Dummy server using for unit testing", "Dummy server used for unit testing"), ("            self.ready_event.set() # just in case of exception\n", "            self.ready_event.set()  # just in case of exception\n")),
            (("Dummy server using for unit testing", "Dummy server for unit testing"),),
        ),
    ),
    Case(
        id="python-migrate-main",
        file=MIGRATE,
        kind="guard",
        instruction="In the main block, print a usage message to stderr and exit with status 2 if no file is given.",
        right=(
            (
                "    input_file = sys.argv[1]\n",
                '    if len(sys.argv) < 2:\n        print("usage: flaskext_migrate.py FILE", file=sys.stderr)\n        sys.exit(2)\n    input_file = sys.argv[1]\n',
            ),
        ),
        where=("main block",),
        asked=(
            contains(None, r"(?s)if __name__ == .*(if (not |)(len\(sys\.argv\)|sys\.argv\[1:\])|except IndexError).*[uU]sage"),
            contains(None, r"(?s)if __name__ == .*(file=sys\.stderr|sys\.stderr\.write\()"),
            contains(None, r"(?s)if __name__ == .*(sys\.exit|SystemExit|\bexit)\(2\)"),
            contains(None, r"    input_file = sys\.argv\[1\]\n(.|\n)*    fix\(input_file\)"),
        ),
        spoilt=(
            (("    input_file = sys.argv[1]\n", '    if len(sys.argv) < 2:\n        sys.exit("usage: flaskext_migrate.py FILE")\n    input_file = sys.argv[1]\n'),),
            (("def fix(input_file):\n", 'def fix(input_file):\n    if len(sys.argv) < 2:\n        print("usage: flaskext_migrate.py FILE", file=sys.stderr)\n        sys.exit(2)\n'),),
        ),
    ),
    Case(
        id="python-migrate-convert",
        file=MIGRATE,
        kind="convert",
        instruction="Use an f-string in fix_standard_imports.",
        right=(('replace("import flask_%s" % package)', 'replace(f"import flask_{package}")'),),
        where=("fix_standard_imports",),
        asked=(contains("fix_standard_imports", r"replace\(f[\"']import flask_\{package\}[\"']\)"), lacks("fix_standard_imports", "%")),
        keeps=(keeps_lines("fix_standard_imports", "flask_%s"),),
        spoilt=(
            (('replace("import flask_%s" % package)', 'replace("import flask_{}".format(package))'),),
            (('replace("import flask_%s" % package)', 'replace(f"import flask_{package}")'), ("        except IndexError:\n            pass\n", "        except (IndexError, KeyError):\n            pass\n")),
        ),
    ),
    Case(
        id="python-setup-message",
        file=SETUP,
        kind="constant",
        instruction="Raise the minimum version of click to 7.0.",
        right=(("'click>=5.1'", "'click>=7.0'"),),
        where=("*",),
        asked=(contains(None, r"[\"']click>=7\.0[\"']"), lacks(None, r"click>=5")),
        keeps=(keeps_lines(None, "click>="), changed_lines_at_most(None, 1), only(None, (r"click>=5\.1", "click>=7.0"))),
        spoilt=(
            (("'click>=5.1'", "'click>=7.0'"), ("'Jinja2>=2.10'", "'Jinja2>=7.0'")),
            (("        'click>=5.1',\n", ""),),
            (("'click>=5.1'", "'click>=7.0'"), ("    platforms='any',\n", "")),
        ),
    ),
    Case(
        id="python-setup-add-entry",
        file=SETUP,
        kind="add-entry",
        instruction="Require Python 3.6 or newer with python_requires.",
        right=(("    platforms='any',\n", "    platforms='any',\n    python_requires='>=3.6',\n"),),
        where=("*",),
        asked=(contains(None, r"^    python_requires=[\"']>= ?3\.6[\"'],$"),),
        keeps=(keeps_lines(None), changed_lines_at_most(None, 1)),
        spoilt=(
            (("    platforms='any',\n", "    platforms='any',\n    python_requires='>3.6',\n"),),
            (("    platforms='any',\n", "    python_requires='>=3.6',\n"),),
            (("        'click>=5.1',\n", "        'click>=5.1',\n        'python>=3.6',\n"),),
        ),
    ),
    Case(
        id="python-config-rename-local",
        file=CONFIG,
        kind="rename-local",
        instruction="Rename rv to value in ConfigAttribute.__get__.",
        right=(
            ("        rv = obj.config[self.__name__]\n", "        value = obj.config[self.__name__]\n"),
            ("            rv = self.get_converter(rv)\n        return rv\n", "            value = self.get_converter(value)\n        return value\n"),
        ),
        where=("ConfigAttribute.__get__",),
        asked=(renames("ConfigAttribute.__get__", "rv", "value"),),
        keeps=(only_renames("ConfigAttribute.__get__", "rv", "value"),),
        spoilt=(
            (("        rv = obj.config[self.__name__]\n", "        value = obj.config[self.__name__]\n"),),
            (
                ("        rv = obj.config[self.__name__]\n", "        value = obj.config[self.__name__]\n"),
                ("            rv = self.get_converter(rv)\n        return rv\n", "            value = self.get_converter(value)\n        return value\n"),
                ("        rv = os.environ.get(variable_name)\n        if not rv:", "        value = os.environ.get(variable_name)\n        rv = value\n        if not value:"),
            ),
        ),
    ),
    Case(
        id="python-config-missing-key",
        file=CONFIG,
        kind="missing-key",
        instruction="Reading a ConfigAttribute should give None instead of a KeyError when the key is not in the config.",
        right=(("        rv = obj.config[self.__name__]\n", "        rv = obj.config.get(self.__name__)\n"),),
        where=("ConfigAttribute.__get__",),
        asked=(
            passes(
                "class S:\n    __name__ = 'A'\n    get_converter = None\nclass O:\n    config = {}\ns, o = S(), O()\ns.__name__ = 'A'\n"
                "assert __get__(s, o) is None\no.config = {'A': 3}\nassert __get__(s, o) == 3\ns.get_converter = str\nassert __get__(s, o) == '3'\nassert __get__(s, None) is s",
                "ConfigAttribute.__get__",
            ),
        ),
        keeps=(keeps_lines("ConfigAttribute.__get__", r"rv = obj\.config"),),
        spoilt=(
            (("        rv = obj.config[self.__name__]\n", "        rv = obj.config.get(self.__name__, '')\n"),),
            (("        if obj is None:\n            return self\n        rv = obj.config[self.__name__]\n", "        rv = obj.config.get(self.__name__) if obj else None\n"),),
        ),
    ),
    Case(
        id="python-config-extract",
        file=CONFIG,
        kind="convert",
        instruction="Do what the comment in from_prefixed_env says: use key.removeprefix, and drop the comment and len_prefix.",
        right=(
            ("        len_prefix = len(prefix)\n", ""),
            ("            # Change to key.removeprefix(prefix) on Python >= 3.9.\n            key = key[len_prefix:]\n", "            key = key.removeprefix(prefix)\n"),
        ),
        where=("Config.from_prefixed_env",),
        asked=(
            contains("Config.from_prefixed_env", r"key = key\.removeprefix\(prefix\)$"),
            omits("Config.from_prefixed_env", r"len_prefix|Change to key"),
        ),
        keeps=(keeps_lines("Config.from_prefixed_env", r"len_prefix|Change to key"),),
        spoilt=(
            (("            # Change to key.removeprefix(prefix) on Python >= 3.9.\n            key = key[len_prefix:]\n", "            key = key.removeprefix(prefix)\n"),),
            (
                ("        len_prefix = len(prefix)\n", ""),
                ("            # Change to key.removeprefix(prefix) on Python >= 3.9.\n            key = key[len_prefix:]\n", "            key = key.removeprefix(prefix)\n"),
                ("                # Keep the value as a string if loading failed.\n", ""),
            ),
        ),
    ),
    Case(
        id="python-config-log",
        file=CONFIG,
        kind="log",
        instruction="In Config.from_prefixed_env, log at debug level when loads fails and the value stays a string.",
        right=(
            ("import json\nimport os\n", "import json\nimport logging\nimport os\n"),
            ("                # Keep the value as a string if loading failed.\n                pass\n", "                # Keep the value as a string if loading failed.\n                logging.getLogger(__name__).debug('%s stays a string', key)\n"),
        ),
        where=("Config.from_prefixed_env", "new:"),
        asked=(
            contains("Config.from_prefixed_env", r"except Exception( as \w+)?:\s+(pass\s+)?(\w+\.debug\(|logging\.getLogger\([^)]*\)\.debug\()"),
        ),
        keeps=(keeps_lines("Config.from_prefixed_env", r"^pass$|except Exception"),),
        spoilt=(
            (("                # Keep the value as a string if loading failed.\n                pass\n", "                # Keep the value as a string if loading failed.\n                logging.debug('%s stays a string', key)\n"),),
            (
                ("import json\nimport os\n", "import json\nimport logging\nimport os\n"),
                ("                # Keep the value as a string if loading failed.\n                pass\n", "                logging.warning('%s stays a string', key)\n"),
            ),
        ),
    ),
    Case(
        id="python-store-log",
        file=STORE,
        kind="log",
        instruction="Log at debug level in Store.mark_config_used when the config file does not exist, with its path.",
        right=(
            ("        if not os.path.exists(path):\n            return\n        with self.connect() as db:\n            # TODO", "        if not os.path.exists(path):\n            logger.debug('Config %s does not exist', path)\n            return\n        with self.connect() as db:\n            # TODO"),
        ),
        where=("Store.mark_config_used",),
        asked=(contains("Store.mark_config_used", r"if not os\.path\.exists\(path\):\s+logger\.debug\([^\n]*\bpath\b[^\n]*\)\s+return"),),
        keeps=(keeps_lines("Store.mark_config_used"),),
        spoilt=(
            (("        path = os.path.realpath(path)\n", "        path = os.path.realpath(path)\n        logger.debug('Config %s', path)\n"),),
            (("        if not os.path.exists(path):\n            return\n        with self.connect() as db:\n            # TODO", "        if not os.path.exists(path):\n            logger.warning('Config %s does not exist', path)\n            return\n        with self.connect() as db:\n            # TODO"),),
        ),
    ),
    Case(
        id="python-store-default",
        file=STORE,
        kind="constant",
        instruction="_shallow_clone should fetch the ref with --depth=5; leave the submodules alone.",
        right=(("'--depth=1')", "'--depth=5')"),),
        where=("Store._shallow_clone",),
        asked=(contains("Store._shallow_clone", r"'fetch', 'origin', ref, '--depth=5'"),),
        keeps=(keeps_lines("Store._shallow_clone", r"ref, .--depth"), changed_lines_at_most("Store._shallow_clone", 1)),
        spoilt=(
            (("'--depth=1')", "'--depth=5')"), ("        git_config = 'protocol.version=2'\n", "        git_config = 'protocol.version=5'\n")),
            (("        git_cmd('fetch', 'origin', '--tags')\n", "        git_cmd('fetch', 'origin', '--tags', '--depth=5')\n"),),
        ),
    ),
    Case(
        id="python-venv-pathlib",
        file=VENV,
        kind="pathlib",
        instruction="Use pathlib in bin_dir. It still returns a str.",
        right=(
            ("import os\nimport sys\n", "import os\nimport pathlib\nimport sys\n"),
            ("    return os.path.join(venv, bin_part)\n", "    return str(pathlib.Path(venv) / bin_part)\n"),
        ),
        where=("bin_dir",),
        asked=(
            contains("bin_dir", r"\b(Pure)?Path\("),
            lacks("bin_dir", r"os\.path\.join"),
            passes("assert bin_dir('/a') == '/a/bin'", "bin_dir", prelude="import os, pathlib\nfrom pathlib import Path, PurePath"),
        ),
        keeps=(keeps_lines("bin_dir", r"os\.path\.join|bin_part ="),),
        spoilt=(
            (("    return os.path.join(venv, bin_part)\n", "    return str(pathlib.Path(venv) / bin_part)\n"),),
            (("import os\nimport sys\n", "import os\nimport pathlib\nimport sys\n"), ("    return os.path.join(venv, bin_part)\n", "    return pathlib.Path(venv) / bin_part\n")),
        ),
    ),
    Case(
        id="python-venv-message",
        file=VENV,
        kind="constant",
        instruction="healthy() should also import ctypes in its check.",
        right=(("'import datetime, io, os, ssl, weakref'", "'import ctypes, datetime, io, os, ssl, weakref'"),),
        where=("healthy",),
        asked=(contains("healthy", r"[\"']import (ctypes, datetime, io, os, ssl, weakref|datetime, io, os, ssl, weakref, ctypes|datetime, ctypes, io, os, ssl, weakref)[\"']"),),
        keeps=(keeps_lines("healthy", "import datetime"),),
        spoilt=(
            (("'import datetime, io, os, ssl, weakref'", "'import ctypes'"),),
            (("import contextlib\nimport os\n", "import contextlib\nimport ctypes\nimport os\n"),),
        ),
    ),
    Case(
        id="python-output-constant",
        file=OUTPUT,
        kind="constant",
        instruction="Indent JSON bodies by 2 spaces.",
        right=(("                                     indent=4)", "                                     indent=2)"),),
        where=("JSONProcessor.process_body",),
        asked=(contains("JSONProcessor.process_body", r"indent=2\b"),),
        keeps=(only("JSONProcessor.process_body", ("indent=4", "indent=2")), keeps_lines("JSONProcessor.process_body", "indent=")),
        spoilt=(
            (("                                     indent=4)", "                                     indent=2)"), ("                                     sort_keys=True,\n", "                                     sort_keys=False,\n")),
            (("        elif msg.body:\n", "        elif msg.body:  # indent=2\n"),),
        ),
    ),
    Case(
        id="python-output-doc-all",
        file=OUTPUT,
        kind="doc-all",
        instruction="Add a one-line docstring to every class that has none.",
        right=(
            ("class BaseProcessor(object):\n\n", 'class BaseProcessor(object):\n    """Base of what changes output on its way."""\n\n'),
            ("class JSONProcessor(BaseProcessor):\n\n", 'class JSONProcessor(BaseProcessor):\n    """Formats JSON bodies."""\n\n'),
            ("class PygmentsProcessor(BaseProcessor):\n\n", 'class PygmentsProcessor(BaseProcessor):\n    """Highlights headers and bodies."""\n\n'),
            ("class OutputProcessor(object):\n\n", 'class OutputProcessor(object):\n    """Applies all processors in order."""\n\n'),
        ),
        where=("doc:BaseProcessor", "doc:JSONProcessor", "doc:PygmentsProcessor", "doc:OutputProcessor"),
        asked=tuple(
            contains(name, rf"class {name}\(\w+\):\s+r?(\"\"\"|'''|\"|')\w")
            for name in ("BaseProcessor", "JSONProcessor", "PygmentsProcessor", "OutputProcessor")
        ),
        keeps=(keeps_code(None),),
        spoilt=(
            (("class BaseProcessor(object):\n\n", 'class BaseProcessor(object):\n    """Base of what changes output on its way."""\n\n'),),
            (
                ("class BaseProcessor(object):\n\n", 'class BaseProcessor(object):\n    """Base of what changes output on its way."""\n\n'),
                ("class JSONProcessor(BaseProcessor):\n\n", 'class JSONProcessor(BaseProcessor):\n    """Formats JSON bodies."""\n\n'),
                ("class PygmentsProcessor(BaseProcessor):\n\n", 'class PygmentsProcessor(BaseProcessor):\n    """Highlights headers and bodies."""\n\n'),
                ("class OutputProcessor(object):\n\n", 'class OutputProcessor(object):\n    """Applies all processors in order."""\n\n'),
                ('    """Simplified HTTP lexer for Pygments.\n', '    """A HTTP lexer for Pygments.\n'),
            ),
        ),
    ),
    Case(
        id="python-output-rename-local",
        file=OUTPUT,
        kind="rename-local",
        instruction="Rename the local subtype to media_subtype in OutputProcessor.process_body.",
        right=(
            ("        subtype = content_type.split('/')", "        media_subtype = content_type.split('/')"),
            ("process_body(content, content_type, subtype)\n\n        return", "process_body(content, content_type, media_subtype)\n\n        return"),
        ),
        where=("OutputProcessor.process_body",),
        asked=(renames("OutputProcessor.process_body", "subtype", "media_subtype"),),
        keeps=(only_renames("OutputProcessor.process_body", "subtype", "media_subtype"),),
        spoilt=(
            (("        subtype = content_type.split('/')", "        media_subtype = content_type.split('/')"),),
            (
                ("        subtype = content_type.split('/')", "        media_subtype = content_type.split('/')"),
                ("process_body(content, content_type, subtype)\n\n        return", "process_body(content, content_type, media_subtype)\n\n        return"),
                ("        # e.g., 'xml'\n", ""),
            ),
        ),
    ),
    Case(
        id="python-utils-guard",
        file=UTILS,
        kind="guard",
        instruction="iter_slices never ends for a slice_length of 0. Raise a ValueError if slice_length is less than 1.",
        right=(("    pos = 0\n    while pos < len(string):\n", "    if slice_length < 1:\n        raise ValueError('slice_length must be positive')\n    pos = 0\n    while pos < len(string):\n"),),
        where=("iter_slices",),
        asked=(
            passes(
                "assert list(iter_slices('abc', 2)) == ['ab', 'c']\nassert list(iter_slices('abc', 1)) == ['a', 'b', 'c']\n"
                "for n in (0, -1):\n    try:\n        list(iter_slices('abc', n))\n    except ValueError:\n        pass\n    else:\n        assert False",
                "iter_slices",
            ),
        ),
        keeps=(keeps_lines("iter_slices"),),
        spoilt=(
            (("    pos = 0\n    while pos < len(string):\n", "    if slice_length <= 1:\n        raise ValueError('slice_length must be positive')\n    pos = 0\n    while pos < len(string):\n"),),
            (("    pos = 0\n    while pos < len(string):\n", "    if slice_length < 1:\n        return\n    pos = 0\n    while pos < len(string):\n"),),
        ),
    ),
    Case(
        id="python-utils-convert",
        file=UTILS,
        kind="convert",
        instruction="Write dict_from_cookiejar as a dict comprehension.",
        right=(
            ("    cookie_dict = {}\n\n    for cookie in cj:\n        cookie_dict[cookie.name] = cookie.value\n\n    return cookie_dict\n", "    return {cookie.name: cookie.value for cookie in cj}\n"),
        ),
        where=("dict_from_cookiejar",),
        asked=(
            contains("dict_from_cookiejar", r"\{\s*(\w+)\.name: \1\.value for \1 in cj\s*\}"),
            lacks("dict_from_cookiejar", r"^\s+for \w+ in cj:"),
            passes(
                "import types\nassert dict_from_cookiejar([types.SimpleNamespace(name='a', value='b')]) == {'a': 'b'}",
                "dict_from_cookiejar",
            ),
        ),
        keeps=(keeps_lines("dict_from_cookiejar", r"cookie_dict|^for cookie"),),
        spoilt=(
            (("    cookie_dict = {}\n\n    for cookie in cj:\n        cookie_dict[cookie.name] = cookie.value\n\n    return cookie_dict\n", "    return {cookie: cookie.value for cookie in cj}\n"),),
            (
                (
                    '    """Returns a key/value dictionary from a CookieJar.\n\n    :param cj: CookieJar object to extract cookies from.\n    """\n\n    cookie_dict = {}\n\n    for cookie in cj:\n        cookie_dict[cookie.name] = cookie.value\n\n    return cookie_dict\n',
                    "    return {cookie.name: cookie.value for cookie in cj}\n",
                ),
            ),
        ),
    ),
    Case(
        id="python-utils-invert-condition",
        file=UTILS,
        kind="invert-condition",
        instruction="In is_valid_cidr, invert the outer condition and return False at once if there is not exactly one slash, so that the rest is not nested.",
        right=(
            (
                "    if string_network.count('/') == 1:\n        try:\n            mask = int(string_network.split('/')[1])\n        except ValueError:\n            return False\n\n        if mask < 1 or mask > 32:\n            return False\n\n        try:\n            socket.inet_aton(string_network.split('/')[0])\n        except socket.error:\n            return False\n    else:\n        return False\n    return True\n",
                "    if string_network.count('/') != 1:\n        return False\n\n    try:\n        mask = int(string_network.split('/')[1])\n    except ValueError:\n        return False\n\n    if mask < 1 or mask > 32:\n        return False\n\n    try:\n        socket.inet_aton(string_network.split('/')[0])\n    except socket.error:\n        return False\n    return True\n",
            ),
        ),
        where=("is_valid_cidr",),
        asked=(
            contains("is_valid_cidr", r"^    if (string_network\.count\([\"']/[\"']\) != 1|not string_network\.count\([\"']/[\"']\) == 1):\s+return False"),
            contains("is_valid_cidr", r"^    if mask < 1 or mask > 32:"),
            passes(
                "for text, wanted in (('10.0.0.0/8', True), ('10.0.0.0', False), ('10.0.0.0/33', False), ('10.0.0.0/0', False), ('a/8', False), ('1.2.3.4/a', False), ('1/2/3', False)):\n    assert is_valid_cidr(text) is wanted",
                "is_valid_cidr",
                prelude="import socket",
            ),
        ),
        keeps=(keeps_lines("is_valid_cidr", r"count\(|^else:|^return False"),),
        spoilt=(
            (("    if string_network.count('/') == 1:\n", "    if string_network.count('/') != 1:\n        return False\n    if True:\n"),),
            (("    if string_network.count('/') == 1:\n", "    if not string_network.count('/') == 1:\n"),),
        ),
    ),
    Case(
        id="python-utils-remove-parameter",
        file=UTILS,
        kind="remove-parameter",
        instruction="Remove the parameter is_filename of unquote_header_value, which is never passed: behave as if it were False.",
        right=(
            ("def unquote_header_value(value, is_filename=False):", "def unquote_header_value(value):"),
            (
                "        # if this is a filename and the starting characters look like\n        # a UNC path, then just return the value without quotes.  Using the\n        # replace sequence below on a UNC path has the effect of turning\n        # the leading double slash into a single slash and then\n        # _fix_ie_filename() doesn't work correctly.  See #458.\n        if not is_filename or value[:2] != '\\\\\\\\':\n            return value.replace('\\\\\\\\', '\\\\').replace('\\\\\"', '\"')\n",
                "        return value.replace('\\\\\\\\', '\\\\').replace('\\\\\"', '\"')\n",
            ),
        ),
        where=("unquote_header_value",),
        asked=(
            parameters("unquote_header_value", ["value"]),
            lacks("unquote_header_value", r"\bis_filename\b"),
            passes(
                "assert unquote_header_value('\"a\\\\\\\\b\"') == 'a\\\\b'\nassert unquote_header_value('a') == 'a'\nassert unquote_header_value('\"\\\\\\\\\\\\\\\\a\"') == '\\\\\\\\a'",
                "unquote_header_value",
            ),
        ),
        keeps=(keeps_lines("unquote_header_value", r"is_filename|filename|UNC|leading double|replace|return value"),),
        spoilt=(
            (("def unquote_header_value(value, is_filename=False):", "def unquote_header_value(value):"),),
            (
                ("def unquote_header_value(value, is_filename=False):", "def unquote_header_value(value):"),
                ("        if not is_filename or value[:2] != '\\\\\\\\':", "        if value[:2] != '\\\\\\\\':"),
            ),
        ),
    ),
    Case(
        id="python-utils-default",
        file=UTILS,
        kind="default",
        instruction="to_native_string should assume utf-8 unless told otherwise, not ASCII.",
        right=(
            ("def to_native_string(string, encoding='ascii'):", "def to_native_string(string, encoding='utf-8'):"),
            ("    This assumes ASCII unless told otherwise.\n", "    This assumes UTF-8 unless told otherwise.\n"),
        ),
        where=("to_native_string",),
        asked=(signature("to_native_string", r"encoding=[\"']utf-?8[\"']"),),
        keeps=(keeps_lines("to_native_string", r"def to_native|This assumes ASCII"),),
        spoilt=(
            (("    This assumes ASCII unless told otherwise.\n", "    This assumes UTF-8 unless told otherwise.\n"),),
            (("def to_native_string(string, encoding='ascii'):", "def to_native_string(string, encoding='utf-8'):"), ("            out = string.decode(encoding)\n", "            out = string.decode(encoding, 'replace')\n")),
        ),
    ),
    Case(
        id="python-utils-message",
        file=UTILS,
        kind="message",
        instruction="Include the URL in the message of the exception that except_on_missing_scheme raises.",
        right=(("raise MissingSchema('Proxy URLs must have explicit schemes.')", "raise MissingSchema('Proxy URLs must have explicit schemes: %s' % url)"),),
        where=("except_on_missing_scheme",),
        asked=(contains("except_on_missing_scheme", r"raise MissingSchema\((.|\n)*\burl\b"), contains("except_on_missing_scheme", r"Proxy URLs must have explicit schemes")),
        keeps=(keeps_lines("except_on_missing_scheme", "raise MissingSchema"),),
        spoilt=(
            (("raise MissingSchema('Proxy URLs must have explicit schemes.')", "raise MissingSchema('Proxy URLs must have explicit schemes: the URL')"),),
            (("raise MissingSchema('Proxy URLs must have explicit schemes.')", "raise InvalidURL('Proxy URLs must have explicit schemes: %s' % url)"),),
        ),
    ),
    Case(
        id="python-utils-wrap-error",
        file=UTILS,
        kind="wrap-error",
        instruction="In dotted_netmask, raise a ValueError that names the mask if it is not between 0 and 32.",
        right=(("    bits = 0xffffffff ^ (1 << 32 - mask) - 1\n", "    if not 0 <= mask <= 32:\n        raise ValueError('invalid mask: %d' % mask)\n    bits = 0xffffffff ^ (1 << 32 - mask) - 1\n"),),
        where=("dotted_netmask",),
        asked=(
            passes(
                "assert dotted_netmask(24) == '255.255.255.0'\nassert dotted_netmask(32) == '255.255.255.255'\nassert dotted_netmask(0) == '0.0.0.0'\n"
                "for n in (-1, 33):\n    try:\n        dotted_netmask(n)\n    except ValueError as e:\n        assert str(n) in str(e)\n    else:\n        assert False",
                "dotted_netmask",
                prelude="import socket, struct",
            ),
        ),
        keeps=(keeps_lines("dotted_netmask"),),
        spoilt=(
            (("    bits = 0xffffffff ^ (1 << 32 - mask) - 1\n", "    if not 0 < mask < 32:\n        raise ValueError('invalid mask: %d' % mask)\n    bits = 0xffffffff ^ (1 << 32 - mask) - 1\n"),),
            (("    bits = 0xffffffff ^ (1 << 32 - mask) - 1\n", "    if not 0 <= mask <= 32:\n        raise ValueError('invalid mask')\n    bits = 0xffffffff ^ (1 << 32 - mask) - 1\n"),),
        ),
    ),
    Case(
        id="python-editor-pathlib",
        file=EDITOR,
        kind="pathlib",
        instruction="Read the edited file with pathlib (read_text) in pipe_editor.",
        right=(
            ("import os\nimport platform\n", "import os\nimport pathlib\nimport platform\n"),
            ('    with open(filepath, "r") as f:\n        output_data = f.read()\n', "    output_data = pathlib.Path(filepath).read_text()\n"),
        ),
        where=("pipe_editor",),
        asked=(contains("pipe_editor", r"output_data = (pathlib\.)?Path\(filepath\)\.read_text\("), lacks("pipe_editor", r"\bopen\(")),
        keeps=(keeps_lines("pipe_editor", r"with open|f\.read\(\)"),),
        spoilt=(
            (('    with open(filepath, "r") as f:\n        output_data = f.read()\n', "    output_data = pathlib.Path(filepath).read_text()\n"),),
            (
                ("import os\nimport platform\n", "import os\nimport pathlib\nimport platform\n"),
                ('    with open(filepath, "r") as f:\n        output_data = f.read()\n    try:\n        os.remove(filepath)\n', "    output_data = pathlib.Path(filepath).read_text()\n    try:\n        pathlib.Path(filepath).unlink()\n"),
            ),
        ),
    ),
    Case(
        id="python-try-repo-pathlib",
        file=TRY_REPO,
        kind="pathlib",
        instruction="In try_repo, write the config file with pathlib.Path(...).write_text instead of open.",
        right=(
            ("import os.path\nfrom typing", "import os.path\nimport pathlib\nfrom typing"),
            ("        with open(config_filename, 'w') as cfg:\n            cfg.write(config_s)\n", "        pathlib.Path(config_filename).write_text(config_s)\n"),
        ),
        where=("try_repo",),
        asked=(contains("try_repo", r"\bPath\(config_filename\)\.write_text\(config_s\)|config_filename\.write_text\(config_s\)"), lacks("try_repo", r"\bopen\(")),
        keeps=(keeps_lines("try_repo", r"open\(config_filename|cfg\.write|config_filename = "),),
        spoilt=(
            (("        with open(config_filename, 'w') as cfg:\n            cfg.write(config_s)\n", "        pathlib.Path(config_filename).write_text(config_s)\n"),),
            (
                ("import os.path\nfrom typing", "import os.path\nimport pathlib\nfrom typing"),
                ("        with open(config_filename, 'w') as cfg:\n            cfg.write(config_s)\n", "        pathlib.Path(config_filename).write_text(config)\n"),
            ),
        ),
    ),
)
