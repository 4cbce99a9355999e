"""Whatever a folder's JSON and chat template hold, it is a model or a ModelError."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from exact_models import FAMILIES, save
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import JSON, SECONDS, drawn, many, mutated

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
ROPE = st.dictionaries(
    st.sampled_from(
        [
            *("rope_type", "type", "factor", "rope_theta", "low_freq_factor", "high_freq_factor"),
            *("original_max_position_embeddings", "beta_fast", "beta_slow", "mscale", "truncate"),
        ]
    ),
    JSON,
)
CONFIG = st.dictionaries(st.sampled_from(KEYS), JSON | ROPE, min_size=1, max_size=6)
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
NAMES = st.sampled_from(["messages", "m", "x", "n", "bos_token", "loop", "missing", "range", "n.x"])
ATOMS = st.one_of(
    NAMES,
    st.sampled_from(["0", "1", "7", "10**9", "9**99", "'a'", "'\\n'", "[]", "{}", "none", "true"]),
    st.sampled_from(
        ["m.role", "m.content", "messages[0]", "loop.index", "loop.length", "caller()"]
    ),
    st.sampled_from(["''.__class__", "x.format", "namespace(x=[1])", "range(60000)", "dict(a=1)"]),
)
OPERATORS = st.sampled_from(
    ["+", "-", "*", "/", "//", "%", "**", "~", "==", "<", "in", "and", "or"]
)
FILTERS = st.sampled_from(
    [
        *("length", "upper", "trim", "list", "first", "last", "string", "int", "tojson", "e"),
        *("items", "join", "sort", "unique", "safe", "reverse", "pprint", "_joined", "join(x)"),
        *("indent(99999)", "round(9)", "center(9)", "batch(2)", "tojson(indent=x)", "_each(x)"),
        *("sum(start=[])", "map('upper')", "selectattr('role')", "replace('a', x)"),
        *("map(attribute='role')", "default(x, true)"),
    ]
)
METHODS = st.sampled_from(
    ["strip()", "split('a')", "replace('', x)", "join(x)", "items()", "center(10**9)", "append(1)"]
)
EXPRESSIONS: st.SearchStrategy[str] = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, OPERATORS, inner),
        st.builds("({}) | {}".format, inner, FILTERS),
        st.builds("({}).{}".format, inner, METHODS),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("({})[{}:]".format, inner, inner),
        st.builds("f({})".format, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
    ),
    max_leaves=6,
)
STATEMENTS: st.SearchStrategy[str] = st.recursive(
    st.one_of(
        st.builds("{{{{ {} }}}}".format, EXPRESSIONS),
        st.builds("{{% set x = {} %}}".format, EXPRESSIONS),
        st.builds("{{% set n.x = {} %}}".format, EXPRESSIONS),
        st.sampled_from(["text\n", "<|im_start|>", "{% break %}", "{{ m.content }}", "{%"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=5).map("".join),
        st.builds("{{% for m in {} %}}{}{{% endfor %}}".format, EXPRESSIONS, inner),
        st.builds(
            "{{% for m in messages recursive %}}{}{{{{ loop(x) }}}}{{% endfor %}}".format, inner
        ),
        st.builds("{{% if {} %}}{}{{% else %}}{}{{% endif %}}".format, EXPRESSIONS, inner, inner),
        st.builds("{{% macro f(x) %}}{}{{% endmacro %}}".format, inner),
        st.builds("{{% set x %}}{}{{% endset %}}".format, inner),
        st.builds("{{% call f(x) %}}{}{{% endcall %}}".format, inner),
        st.builds("{{% filter {} %}}{}{{% endfilter %}}".format, FILTERS, inner),
        st.builds(lambda one, times: one * times, inner, st.sampled_from([2, 9, 40])),
    ),
    max_leaves=10,
)
NAMED = (
    "{% set n = namespace(x='a') %}{% set x = 'ab' %}{% set m = messages[0] %}"
    "{% macro f(x) %}{{ x }}{{ caller }}{% endmacro %}"
    "{% for m in messages %}{{ m.content }}{% endfor %}"
)
TEMPLATES = STATEMENTS | STATEMENTS.map(lambda body: NAMED + body)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A folder of each family, with its own configuration kept beside it."""
    found = []
    for number, family in enumerate(FAMILIES):
        folder = tmp_path_factory.mktemp(f"model{number}")
        save(family, folder, **SMALL, **HEADS)
        (folder / "kept").write_bytes((folder / "config.json").read_bytes())
        (folder / "tokenizer.json").write_text(json.dumps(WORDS), "utf-8")
        found.append(folder)
    return found


def opens_or_says_why(folder: Path) -> None:
    files = ModelFiles("any", folder, "folder")
    uses: list[Any] = [
        lambda: resolve.resolve(str(folder), home=folder),
        lambda: check_usable(files),
        lambda: architecture.of_folder(folder),
        lambda: vocabulary.of_folder(folder).encode("ab a"),
        lambda: split(vocabulary.folder_template(folder) or CHATML, TURNS),
        lambda: available(files),
    ]
    for use in uses:
        with contextlib.suppress(ModelError):
            use()


def configured(folder: Path, changes: dict[str, Any]) -> bytes:
    return json.dumps({**json.loads((folder / "kept").read_bytes()), **changes}).encode()


WORDS_CHANGED = st.dictionaries(
    st.sampled_from([*WORDS, "decoder", "truncation"]), JSON, max_size=3
).map(lambda more: json.dumps({**WORDS, **more}).encode())
SAID = JSON.map(lambda one: {"chat_template": one, "bos_token": one, "add_bos_token": True}).map(
    lambda said: json.dumps(said).encode()
)


def made_odd(data: st.DataObject, folders: list[Path]) -> Path:
    """A folder with its files made odd."""
    folder = data.draw(st.sampled_from(folders))
    kept = (folder / "kept").read_bytes()
    config = st.one_of(CONFIG.map(lambda changes: configured(folder, changes)), mutated(kept))
    made = {
        "config.json": data.draw(st.just(kept) | config),
        "tokenizer.json": data.draw(WORDS_CHANGED | mutated(json.dumps(WORDS).encode())),
        "tokenizer_config.json": data.draw(SAID | mutated(b"{}")),
    }
    for name, content in made.items():
        (folder / name).write_bytes(content)
    return folder


def renders_or_says_why(template: str) -> None:
    with contextlib.suppress(ModelError):
        pieces = split(template, TURNS)
        assert sum(len(piece) for piece in pieces if isinstance(piece, str)) <= 1 << 20


def test_the_originals_are_models(folders):
    for folder in folders:
        (folder / "config.json").write_bytes((folder / "kept").read_bytes())
        (folder / "tokenizer.json").write_text(json.dumps(WORDS), "utf-8")
        assert architecture.of_folder(folder).layers == 1
        assert vocabulary.of_folder(folder).encode("ab") == [2]


@SECONDS
@given(data=st.data())
def test_a_few_hundred_folders(data, folders):
    opens_or_says_why(made_odd(data, folders))


@SECONDS
@given(template=TEMPLATES)
def test_a_few_hundred_templates(template):
    renders_or_says_why(template)


@settings(SECONDS, max_examples=15)
@given(data=st.data())
def test_transformers_gets_no_further_with_an_odd_configuration(data, folders):
    folder = folders[-1]
    changes = data.draw(CONFIG)
    (folder / "config.json").write_bytes(configured(folder, changes))
    with contextlib.suppress(ModelError):
        open_huggingface(ModelFiles("any", folder, "folder"), device="cpu")


@pytest.mark.long
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json"])
def test_a_hundred_thousand_folders(name, folders):
    folder = folders[-1]
    (folder / "config.json").write_bytes((folder / "kept").read_bytes())
    (folder / "tokenizer.json").write_text(json.dumps(WORDS), "utf-8")
    (folder / "tokenizer_config.json").unlink(missing_ok=True)
    whole = {
        "config.json": CONFIG.map(lambda changes: configured(folder, changes)),
        "tokenizer.json": WORDS_CHANGED,
        "tokenizer_config.json": SAID,
    }

    def check(data: bytes) -> None:
        (folder / name).write_bytes(data)
        opens_or_says_why(folder)

    many(drawn(whole[name]), check)


@pytest.mark.long
def test_a_hundred_thousand_templates():
    begin = [template.encode() for template in drawn(TEMPLATES)]
    many(begin, lambda data: renders_or_says_why(data.decode("utf-8", "replace")))


@pytest.mark.long
def test_two_thousand_configurations_in_transformers(folders):
    folder = folders[-1]

    def check(data: bytes) -> None:
        (folder / "config.json").write_bytes(data)
        with contextlib.suppress(ModelError):
            open_huggingface(ModelFiles("any", folder, "folder"), device="cpu")

    many(drawn(CONFIG.map(lambda changes: configured(folder, changes))), check, 2_000)
