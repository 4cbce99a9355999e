"""Whatever a folder's JSON and chat template hold, it is a model or a ModelError."""

import contextlib
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from exact_models import FAMILIES, save
from odd import Odd, dumped, target

from specedit.engines.exact.engine import available
from specedit.engines.huggingface.loading import open_huggingface
from specedit.errors import ModelError
from specedit.models import architecture, resolve, vocabulary
from specedit.models.resolve import check_usable
from specedit.models.store import ModelFiles
from specedit.models.tokenizer import CHATML, split

TURNS = [("system", ("Edit.",)), ("user", ("int x;", "go"))]
SMALL = {"vocab_size": 8, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
HEADS = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4}
KEYS = (
    *("architectures", "model_type", "layer_types", "sliding_window", "use_sliding_window"),
    *("max_position_embeddings", "text_config", "rope_parameters", "rope_scaling", "rope_theta"),
    *("num_attention_heads", "num_key_value_heads", "head_dim", "hidden_size", "vocab_size"),
    *("num_hidden_layers", "intermediate_size", "rms_norm_eps", "attention_bias", "eos_token_id"),
    *("quantization_config", "tie_word_embeddings", "auto_map", "mlp_bias", "hidden_act", "dtype"),
)
ROPE = (
    *("rope_type", "type", "factor", "rope_theta", "low_freq_factor", "high_freq_factor"),
    *("original_max_position_embeddings", "beta_fast", "beta_slow", "mscale", "truncate"),
)
WORDS = {
    "version": "1.0",
    "added_tokens": [{"id": 3, "content": "<s>", "special": True}],
    "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "_"},
    "pre_tokenizer": {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    },
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]},
}

# Templates put together from what templates are made of.
ATOMS = (
    *("messages", "m", "x", "n", "bos_token", "loop", "missing", "range", "n.x", "m.role"),
    *("0", "1", "7", "10**9", "9**99", "'a'", "'\\n'", "[]", "{}", "none", "true", "caller()"),
    *("m.content", "messages[0]", "loop.index", "loop.length", "''.__class__", "x.format"),
    *("namespace(x=[1])", "range(60000)", "dict(a=1)"),
)
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "~", "==", "<", "in", "and", "or")
FILTERS = (
    *("length", "upper", "trim", "list", "first", "last", "string", "int", "tojson", "e"),
    *("items", "join", "sort", "unique", "safe", "reverse", "pprint", "_joined", "join(x)"),
    *("indent(99999)", "round(9)", "center(9)", "batch(2)", "tojson(indent=x)", "_each(x)"),
    *("sum(start=[])", "map('upper')", "selectattr('role')", "replace('a', x)"),
    *("map(attribute='role')", "default(x, true)"),
)
METHODS = ("strip()", "split('a')", "replace('', x)", "join(x)", "items()", "center(10**9)")
EXPRESSIONS = (
    *("({0} {op} {1})", "({0}) | {filter}", "({0}).{method}", "[{0}, {1}]", "({0})[{1}:]"),
    *("f({0})", "({0} if {1} else {0})", "({0}).append(1)"),
)
SIMPLE = (
    *("{{{{ {0} }}}}", "{{% set x = {0} %}}", "{{% set n.x = {0} %}}", "text\n", "<|im_start|>"),
    *("{{% break %}}", "{{{{ m.content }}}}", "{{%"),
)
NESTED = (
    "{0}{1}{0}",
    "{{% for m in {expression} %}}{0}{{% endfor %}}",
    "{{% for m in messages recursive %}}{0}{{{{ loop(x) }}}}{{% endfor %}}",
    "{{% if {expression} %}}{0}{{% else %}}{1}{{% endif %}}",
    "{{% macro f(x) %}}{0}{{% endmacro %}}",
    "{{% set x %}}{0}{{% endset %}}",
    "{{% call f(x) %}}{0}{{% endcall %}}",
    "{{% filter {filter} %}}{0}{{% endfilter %}}",
)
NAMED = (
    "{% set n = namespace(x='a') %}{% set x = 'ab' %}{% set m = messages[0] %}"
    "{% macro f(x) %}{{ x }}{{ caller }}{% endmacro %}"
    "{% for m in messages %}{{ m.content }}{% endfor %}"
)


def expression(odd: Odd, depth: int = 3) -> str:
    if not depth or odd.random() < 0.3:
        return odd.choice(ATOMS)
    two = [expression(odd, depth - 1) for _ in range(2)]
    words = {"op": odd.choice(OPERATORS), "filter": odd.choice(FILTERS)}
    return odd.choice(EXPRESSIONS).format(*two, method=odd.choice(METHODS), **words)


def statement(odd: Odd, depth: int = 3) -> str:
    if not depth or odd.random() < 0.3:
        return odd.choice(SIMPLE).format(expression(odd))
    two = [statement(odd, depth - 1) for _ in range(2)]
    words = {"expression": expression(odd), "filter": odd.choice(FILTERS)}
    return odd.choice(NESTED).format(*two, **words) * odd.choice([1, 1, 1, 2, 9, 40])


def template(odd: Odd) -> str:
    return odd.choice([NAMED, ""]) + statement(odd)


@cache
def configurations() -> tuple[bytes, ...]:
    """The configuration of a model of each family."""
    found = []
    for family in FAMILIES:
        with tempfile.TemporaryDirectory() as place:
            save(family, Path(place), **SMALL, **HEADS)
            found.append(Path(place, "config.json").read_bytes())
            WEIGHTS[found[-1]] = Path(place, "model.safetensors").read_bytes()
    return tuple(found)


WEIGHTS: dict[bytes, bytes] = {}  # by the configuration
Files = dict[str, bytes]


def whole(config: bytes) -> Files:
    weights = {"config.json": config, "model.safetensors": WEIGHTS[config]}
    return {**weights, "tokenizer.json": json.dumps(WORDS).encode()}


def changes(odd: Odd) -> dict[str, Any]:
    """Changes of a configuration."""
    return odd.some(KEYS, lambda: odd.some(ROPE, odd.value) if odd.random() < 0.3 else odd.value())


def any_files(odd: Odd) -> Files:
    """The files of a folder, odd ones among them."""
    files = whole(odd.choice(configurations()))
    config, words, said = files["config.json"], files["tokenizer.json"], b"{}"
    if odd.random() < 0.6:
        config = dumped({**json.loads(config), **changes(odd)})
    if odd.random() < 0.6:
        words = dumped(WORDS | odd.some([*WORDS, "decoder", "truncation"], odd.value, 3))
    if odd.random() < 0.6:
        made = odd.value()
        said = dumped({"chat_template": made, "bos_token": made, "add_bos_token": True})
    made_of = {"config.json": config, "tokenizer.json": words, "tokenizer_config.json": said}
    odd_ones = {n: odd.damaged(d) if odd.random() < 0.2 else d for n, d in made_of.items()}
    return {**files, **odd_ones}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(files: Files) -> Path:
    for name, data in files.items():
        Path(name).write_bytes(data)
    return Path.cwd()


def test_the_originals_are_models():
    for config in configurations():
        folder = written(whole(config))
        assert architecture.of_folder(folder).layers == 1
        assert vocabulary.of_folder(folder).encode("ab") == [2]


@target(any_files, few=20, many=20_000)
def test_any_folder_opens_or_says_why(files):
    folder = written(files)
    found = ModelFiles("any", folder, "folder")
    uses: list[Any] = [
        lambda: resolve.resolve(str(folder), home=folder),
        lambda: check_usable(found),
        lambda: architecture.of_folder(folder),
        lambda: vocabulary.of_folder(folder).encode("ab a"),
        lambda: split(vocabulary.folder_template(folder) or CHATML, TURNS),
        lambda: available(found),
    ]
    for use in uses:
        with contextlib.suppress(ModelError):
            use()


@target(template, few=30, many=20_000)
def test_any_template_renders_or_says_why(text):
    with contextlib.suppress(ModelError):
        pieces = split(text, TURNS)
        assert sum(len(piece) for piece in pieces if isinstance(piece, str)) <= 1 << 20


def configured(odd: Odd) -> Files:
    files = whole(configurations()[-1])
    config = {**json.loads(files["config.json"]), **changes(odd)}
    return {**files, "config.json": dumped(config)}


@target(configured, few=8, many=2_000)
def test_transformers_gets_no_further_with_an_odd_configuration(files):
    with contextlib.suppress(ModelError):
        open_huggingface(ModelFiles("any", written(files), "folder"), device="cpu")
