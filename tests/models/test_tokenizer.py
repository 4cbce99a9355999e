"""Two guarantees: no special token from text, and the pieces are the text."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from case_files import rows
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from model_sources import SPECIALS, USER, tiny_gguf
from tokenizers import AddedToken, Regex, models, pre_tokenizers, processors
from tokenizers import Tokenizer as Core

from specedit.errors import ModelError
from specedit.inference import loading
from specedit.models import vocabulary as vocabularies
from specedit.models.store import ModelFiles, store_path
from specedit.models.tokenizer import Tokenizer, byte_table, prompt_ids, spelled_bytes
from specedit.models.vocabulary import load_tokenizer
from specedit.settings import Settings

NAMES = (*SPECIALS, *USER)
texts = st.text() | st.lists(st.sampled_from([*NAMES, "int", " ", "\n", "é", "日", "x"])).map(
    "".join
)


def of_gguf(path: Path, **metadata: Any) -> Tokenizer:
    return load_tokenizer(ModelFiles("tiny", tiny_gguf(path, **metadata), "gguf"))


@pytest.fixture(scope="module")
def from_gguf(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return of_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="module")
def from_folder(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """What transformers would save: added tokens, a post-processor that adds one."""
    folder = tmp_path_factory.mktemp("folder")
    letters = pre_tokenizers.ByteLevel.alphabet()
    vocabulary = {letter: id for id, letter in enumerate([*sorted(letters), "in", "int"])}
    core = Core(models.BPE(vocab=vocabulary, merges=[("i", "n"), ("in", "t")]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.add_special_tokens([AddedToken(name, special=True) for name in SPECIALS])
    core.add_tokens([AddedToken(name) for name in USER])
    ids = [(name, core.token_to_id(name)) for name in SPECIALS[:1]]
    core.post_processor = processors.TemplateProcessing(
        single=f"{SPECIALS[0]} $A", special_tokens=ids
    )
    core.save(str(folder / "tokenizer.json"))
    config = {"eos_token": SPECIALS[2], "bos_token": {"content": SPECIALS[0]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    return load_tokenizer(ModelFiles("tiny", folder, "folder"))


@pytest.fixture(params=["from_gguf", "from_folder"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    found: Tokenizer = request.getfixturevalue(request.param)
    return found


def joined(tokenizer: Tokenizer, ids: list[int]) -> bytes:
    return b"".join(map(tokenizer.piece, ids))


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_special_token_in_a_text_is_text(name, tokenizer):
    for text in (name, f"a{name}b", f" {name}\n", name * 2):
        ids = tokenizer.encode(text)
        assert not set(ids) & set(tokenizer.specials.values())
        assert joined(tokenizer, ids) == text.encode()


@examples(150)
@given(text=texts)
def test_law_pieces_are_the_text_byte_for_byte(text, from_gguf, from_folder):
    for tokenizer in (from_gguf, from_folder):
        ids = tokenizer.encode(text)
        assert joined(tokenizer, ids) == text.encode()
        assert not set(ids) & set(tokenizer.specials.values())


@pytest.mark.parametrize("text", ["", "\r\n", "e\u0301", "\ufeffx", "a \t b", "日本語", "\x00"])
def test_text_that_others_would_normalise(text, tokenizer):
    assert joined(tokenizer, tokenizer.encode(text)) == text.encode()


def test_template_text_names_special_tokens(tokenizer):
    ids = tokenizer.encode_template("<|im_start|>int<|im_end|>")
    start, end = tokenizer.special("<|im_start|>"), tokenizer.special("<|im_end|>")
    assert ids == [start, *tokenizer.encode("int"), end]
    assert tokenizer.encode_template("int") == tokenizer.encode("int")


def test_a_control_token_without_a_name_is_in_no_template(tokenizer):
    nameless = replace(tokenizer, specials={**tokenizer.specials, "": 0})
    text = "x<|im_end|>int"
    assert nameless.encode_template(text) == tokenizer.encode_template(text)


def test_a_merge_of_what_is_not_a_token_is_named():
    with pytest.raises(ValueError, match="'in' of merge 'i n' is not a token"):
        vocabularies.tables_of({"i": 0, "n": 1}, ["i n"], {}, [b"i", b"n"], whole_words=False)


def test_control_tokens_have_no_text_and_literal_ones_do(tokenizer):
    assert [tokenizer.piece(tokenizer.specials[name]) for name in SPECIALS] == [b"", b"", b""]
    assert tokenizer.piece(tokenizer.specials["<tool_call>"]) == b"<tool_call>"
    assert tokenizer.piece(10**6) == b""


def test_ends_and_size(tokenizer):
    assert tokenizer.ends == {tokenizer.special("<|im_end|>"), tokenizer.special("<|endoftext|>")}
    assert tokenizer.special("<|nothing|>") is None
    assert tokenizer.size == 256 + 2 + len(NAMES)


@rows("metadata said")
def test_a_vocabulary_of_another_kind(metadata, said, tmp_path):
    with pytest.raises(ModelError, match=said):
        of_gguf(tmp_path / "other.gguf", **metadata)


def test_sentence_pieces_join_to_the_text(tmp_path):
    import gguf
    import numpy as np

    path = tmp_path / "spm.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    pieces = ["▁", "i", "n", "t", "x", "in", "int", "▁int", "▁▁"]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *pieces]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * 259 + [-float(n) for n in range(len(pieces))])
    writer.add_token_types([2, 3, 3] + [6] * 256 + [1] * len(pieces))
    writer.add_eos_token_id(2)
    writer.add_bos_token_id(1)
    writer.add_tensor("token_embd.weight", np.zeros((1, 32), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    tokenizer = load_tokenizer(ModelFiles("spm", path, "gguf"))
    for text in ("int x", "  int\n", "<s>é</s><0x0A>", ""):
        ids = tokenizer.encode(text)
        assert joined(tokenizer, ids) == text.encode()
        assert not set(ids) & {0, 1, 2}
    with pytest.raises(ModelError, match="cannot spell this text: it lacks a character"):
        tokenizer.encode("a▁b")  # its own writing of a space
    assert [tokens[id] for id in tokenizer.encode(" int")] == ["▁int"]
    assert (tokenizer.ends, tokenizer.begin) == ({2}, 1)


@pytest.mark.parametrize("damage", [None, "{", '{"model": {}}'])
def test_a_folder_without_a_tokenizer(damage, tmp_path):
    if damage is not None:
        (tmp_path / "tokenizer.json").write_text(damage, "utf-8")
    with pytest.raises(ModelError, match="tokenizer"):
        load_tokenizer(ModelFiles("none", tmp_path, "folder"))


@pytest.mark.parametrize(
    "cut",
    [
        pre_tokenizers.Metaspace(prepend_scheme="first", split=False),
        pre_tokenizers.Sequence([pre_tokenizers.Metaspace()]),
        pre_tokenizers.ByteLevel(add_prefix_space=True),
    ],
    ids=["Mistral", "in a sequence", "GPT-2"],
)
def test_a_folder_s_tokenizer_puts_no_space_in_front(cut, tmp_path):
    letters = ["▁", *pre_tokenizers.ByteLevel.alphabet()]
    core = Core(models.BPE(vocab={letter: id for id, letter in enumerate(letters)}, merges=[]))
    core.pre_tokenizer = cut
    core.save(str(tmp_path / "tokenizer.json"))
    tokenizer = load_tokenizer(ModelFiles("folder", tmp_path, "folder"))
    assert joined(tokenizer, tokenizer.encode("int x")) == b"int x"


PIECES = st.lists(st.sampled_from([*"abcdeé 1.\n", "ab", "日", "'ll", "\t"])).map("".join)


@examples(100)
@given(
    style=st.sampled_from(sorted(vocabularies.CUTS)),
    pairs=st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), max_size=40),
    text=texts | PIECES,
)
def test_law_byte_pairs_are_those_of_the_tokenizers_library(style, pairs, text):
    letters = byte_table()
    tokens = [letter for letter in letters if letter != "~"]  # a letter that no token spells
    frequent = [tokens.index(letter) for letter in "abcdeĠ1.ĊÃ©"]
    merges = []
    for left, right in pairs:
        one, other = (
            tokens[frequent[n % len(frequent)]] if n % 2 else tokens[-1 - n % 30]
            for n in (left, right)
        )
        merges.append(f"{one} {other}")
        if one + other not in tokens:
            tokens.append(one + other)
    vocabulary = {token: id for id, token in enumerate(tokens)}
    whole_words = style in vocabularies.WHOLE_WORDS
    reference = Core(
        models.BPE(
            vocab=vocabulary,
            merges=[tuple(merge.split()) for merge in merges],
            ignore_merges=whole_words,
        )
    )
    cuts = [pre_tokenizers.Split(Regex(cut), "isolated") for cut in vocabularies.CUTS[style]]
    spell = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    reference.pre_tokenizer = pre_tokenizers.Sequence([*cuts, spell])
    pieces = [*map(spelled_bytes, tokens)]
    tables = vocabularies.tables_of(vocabulary, merges, letters, pieces, whole_words=whole_words)
    encode = vocabularies.BytePairs(style, tables).encode
    with pytest.raises(ValueError, match="lacks a character"):  # the library leaves it out
        encode(f"{text}~")
    assert encode(text.replace("~", "")) == reference.encode(text.replace("~", "")).ids


@pytest.mark.real
def test_the_real_vocabulary_encodes_as_transformers_does(real_home):
    from specedit.models import resolve

    files = resolve.local("qwen2.5-coder-0.5b", home=real_home)
    assert files is not None
    tokenizer = load_tokenizer(files)
    assert (tokenizer.size, tokenizer.ends) == (151_936, {151_643, 151_645})
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(files.path.parent, gguf_file=files.path.name)
    root = Path(__file__).parents[2]
    sources = [
        *root.glob("specedit/**/*.py"),
        *root.glob("tests/**/*.py"),
        *(p for p in root.glob("fixtures/*/*") if p.is_file()),
    ]
    for path in sources:
        text = path.read_bytes().decode()
        ids = tokenizer.encode(text)
        assert joined(tokenizer, ids) == text.encode()
        if not any(name in text for name in tokenizer.specials):
            assert ids == theirs.encode(text, add_special_tokens=False), path
    for name in tokenizer.specials:
        assert joined(tokenizer, tokenizer.encode(f"x{name}y")) == f"x{name}y".encode()
        assert not set(tokenizer.encode(name)) & set(tokenizer.specials.values())


@pytest.mark.parametrize("harm", ["", "\n", '{"a": 1}\n[]\n', "{}\n"], ids=repr)
def test_the_form_that_loads_quickly_is_the_same_tokenizer(harm, tmp_path, monkeypatch):
    files = ModelFiles("tiny", tiny_gguf(tmp_path / "tiny.gguf"), "gguf", sha256="ab" * 32)
    text = "int main() { return 0; } // é日"
    first = load_tokenizer(files)
    messages = [("system", ("Edit.",)), ("user", ("int x;",))]
    expected = prompt_ids(first, messages, "")
    (kept,) = (store_path() / "converted").glob(f"*-{'ab' * 8}-*")  # so `model remove` finds it
    files.path.unlink()  # whoever reads the header again now fails
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "specedit.models.gguf", None)  # it would import numpy
        again = load_tokenizer(files)
    assert again.encode(text) == first.encode(text)
    assert prompt_ids(replace(again, template="{% if"), messages, "") == expected  # not rendered
    assert (again.specials, again.ends, again.texts) == (first.specials, first.ends, first.texts)
    tiny_gguf(files.path)
    kept.write_text(harm, "utf-8")
    assert load_tokenizer(files).encode(text) == first.encode(text)


def test_the_stored_forms_of_other_versions_are_deleted(tmp_path):
    files = ModelFiles("tiny", tiny_gguf(tmp_path / "tiny.gguf"), "gguf", "ab" * 32)
    path = vocabularies.stored_path(files)
    assert path is not None
    path.parent.mkdir(parents=True)
    older = path.with_name(f"tiny-{'ab' * 8}-v1.tokenizer")
    another = path.with_name("b-v1.tokenizer")
    for other in (older, another):
        other.write_bytes(b"x")
    load_tokenizer(files)
    assert path.exists() and another.exists() and not older.exists()


def test_an_unknown_vocabulary_is_refused_before_anything_is_converted(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECEDIT_HOME", str(tmp_path))
    monkeypatch.setattr("specedit.engines.exact.engine.available", lambda *_: None)
    path = tiny_gguf(tmp_path / "odd.gguf", cuts="odd-words")
    steps: list[object] = []
    with pytest.raises(ModelError, match=r"odd.gguf cuts words as 'odd-words'; known are qwen2"):
        loading.load(Settings(model=str(path)), steps.append)
    assert not [step for step in steps if "onvert" in str(step)]
