"""Tasks: which changes of a file become tasks, and how their instructions are typed."""

from __future__ import annotations

import itertools
import random
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from specedit.errors import UsageError
from specedit.syntax import trees
from specedit.syntax.identifiers import plural, words_of
from specedit.syntax.outline import Symbol
from training.tasks import members, statements, values
from training.tasks.change import Change, slips
from training.tasks.source import LANGUAGES, Edit, Source, applied, digest, files_of, read, same

KINDS = (*values.KINDS, *statements.KINDS, *members.KINDS)
MOST_OF_FILE = 4  # tasks
MOST_ANSWERS = 40  # further right answers
TWO_WISHES = 0.5  # of the tasks, where a file has two changes that go together
FOREIGN = 0.1  # of the tasks are not in English
TYPOS = 0.12  # of the tasks have one
# kinds whose wordings may describe a name: "the max retries"
_DESCRIBED = """\
number boolean default sort_items parameter_type add_item remove_item add_entry remove_entry
add_enum remove_enum
"""
DESCRIBED = frozenset(_DESCRIBED.split())
BACKTICKS = 0.1
SAME_FUNCTION = 0.6  # of the pairs
MOST_TRIED = 8  # changes of a kind in a file
MAX_CHARACTERS = 320  # of an instruction
OTHERS = ("de", "es", "fr", "pt", "zh", "ja")
NO_PLACE = 0.4  # where the rest of the instruction says which one is meant
LOOSE = 0.4  # places that are described, of those whose name can be


@dataclass(frozen=True)
class Task:
    id: str
    language: str
    repo: str
    filename: str
    instruction: str
    before: str
    after: str
    also: tuple[str, ...]
    kind: str
    group: str

    def as_table(self) -> dict[str, Any]:
        return asdict(self)

    def is_right(self, answer: str) -> bool:
        """Whether an answer is a right one up to its layout."""
        return any(same(answer, text, self.language) for text in (self.after, *self.also))


@cache
def _data(name: str) -> Any:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


def make(
    folders: Sequence[Path], count: int, seed: int, without: frozenset[str] = frozenset()
) -> Iterator[Task]:
    """`count` tasks, as many for each language as there are files for. No file in `without`."""
    if count < 1:
        raise UsageError("the count must be at least 1")
    files = files_of(folders, seed)
    used: Counter[tuple[str, str]] = Counter()  # of a language and a kind
    made: Counter[str] = Counter()
    waiting = {name: iter(paths) for name, paths in files.items()}
    rest = count
    while rest and waiting:
        language = min(waiting, key=lambda name: (made[name], LANGUAGES.index(name)))
        path, folder, repo = next(waiting[language], (None, None, ""))
        if path is None or folder is None:
            del waiting[language]
            continue
        source = read(path, folder, repo)
        if source is None or source.group in without:
            continue
        for task in _of_file(source, random.Random(f"{seed} {source.group}"), used):
            if rest:
                made[language] += 1
                rest -= 1
                yield task
    if not made:
        raise UsageError("no task can be made", hint="Name folders with source files.")


class Changes:
    """What can be changed in a file, and how many places each change could be meant for."""

    def __init__(self, source: Source, rng: random.Random) -> None:
        self.source = source
        self.all = [c for kind in KINDS for c in kind(source, rng, _data("choices.toml"))]
        self._places: dict[object, set[int]] = defaultdict(set)
        for change in self.all:
            self._places[change.kind, change.named].add(change.place)
        self._names = Counter(function.own_name for function in source.functions)
        self._qualified = Counter(function.qualified for function in source.functions)
        self._lines = source.text.split("\n")
        rng.shuffle(self.all)

    def spots(self, change: Change) -> frozenset[tuple[str, int]]:
        """What no two tasks of a file share: the functions that a change touches; where it is in
        none, a type or the top of the file."""
        source = self.source
        places = [change.place, *(edit[0] for edit in (*change.before, *change.after))]
        symbols = [source.function_at(place) or source.class_at(place) for place in places]
        return frozenset((s.qualified, s.first_line) if s else ("", 0) for s in symbols)

    def places(self, change: Change, function: Symbol | None) -> list[int]:
        """The places of a file, or of a function, that the same words could mean. The place of the
        change is one of them; where its words stand elsewhere too, there are places of -1."""
        places = sorted(self._places[change.kind, change.named])
        lines = self._lines
        if function is not None:
            places = [p for p in places if self.source.function_at(p) == function]
            lines = lines[function.first_line - 1 : function.last_line]
        if change.mention:
            start = r"\b" if change.mention[0].isalnum() else ""
            end = r"\b" if change.mention[-1].isalnum() else ""
            found = re.findall(start + re.escape(change.mention) + end, "\n".join(lines))
            places += [-1] * (len(found) - len(places))
        return places

    def where(self, change: Change, rng: random.Random, language: str) -> str | None:
        """The place of a change as it is typed; None where no words say which one it is."""
        function = self.source.function_at(change.place)
        if function is None:
            return None
        words = _data("wordings.toml")["where"][language]
        places = self.places(change, function)
        suffix = ""
        if len(places) > 1:
            if len(places) > 3 or -1 in places or language != "en":
                return None
            if change.place not in (places[0], places[-1]):
                return None
            which = "first" if change.place == places[0] else "last"
            suffix = _chosen(words[which][0], rng)
        name = function.own_name
        owner = function.qualified.rpartition(".")[0].rpartition(".")[2]
        parts = [part.lower() for part in words_of(name)]
        if self._names[name] > 1:
            if self._qualified[function.qualified] > 1 or not owner or language != "en":
                return None
            return _chosen(rng.choice(words["owned"]), rng).format(name=name, owner=owner) + suffix
        if language == "en" and len(parts) > 1 and rng.random() < LOOSE:
            verbs = _data("choices.toml")["verbs"].split()
            if parts[0] in verbs and len(parts) > 1:
                template = _chosen(rng.choice(words["verb"]), rng)
                words_ = {
                    "verb": parts[0],
                    "verbs": plural(parts[0]),
                    "object": " ".join(parts[1:]),
                }
                return template.format_map(words_) + suffix
            template = _chosen(rng.choice(words["words"]), rng)
            return template.format(words=" ".join(parts)) + suffix
        return _chosen(rng.choice(words["exact"]), rng).format(name=name) + suffix


def _of_file(source: Source, rng: random.Random, used: Counter[tuple[str, str]]) -> Iterator[Task]:
    changes = Changes(source, rng)
    weights, name = _data("choices.toml")["weights"], source.language.name

    def share(change: Change) -> float:
        return used[name, _label(change)] / float(weights.get(change.kind, 1))

    by_kind: dict[str, list[Change]] = defaultdict(list)
    for change in changes.all:
        by_kind[_label(change)].append(change)
    taken: frozenset[tuple[str, int]] = frozenset()
    left = rng.choice((1, 2, 2, 3, MOST_OF_FILE))
    for alike in sorted(by_kind.values(), key=lambda alike: share(alike[0])):
        for change in alike[:MOST_TRIED]:
            if changes.spots(change) & taken:
                continue
            wishes = [change]
            others = [c for c in changes.all[:200] if _apart(change, c)]
            others = [c for c in others if not changes.spots(c) & taken]
            near = [c for c in others if changes.spots(c) == changes.spots(change)]
            pool = near if near and rng.random() < SAME_FUNCTION else others
            if pool and rng.random() < TWO_WISHES:
                wishes.append(min(pool, key=share))
            task = _task(changes, wishes, rng) or _task(changes, wishes[:1], rng)
            if task is not None:
                taken = taken.union(*map(changes.spots, wishes))
                used.update((name, _label(wish)) for wish in wishes)
                yield task
                left -= 1
                break
        if not left:
            return


def _label(change: Change) -> str:
    return f"{change.kind}.{change.form}" if change.form else change.kind


def _apart(change: Change, other: Change) -> bool:
    """Whether two changes can be one task: neither touches what the other does."""
    if change.kind == other.kind:
        return False
    if {change.kind, other.kind} & {"rename_local", "everywhere", "constant"}:
        return False
    spans = [
        [edit[:2] for edit in itertools.chain(c.before, c.after, *c.also)] for c in (change, other)
    ]
    first, second = ((min(a for a, _ in s), max(b for _, b in s)) for s in spans)
    return first[1] + 1 < second[0] or second[1] + 1 < first[0]


def _task(changes: Changes, wishes: list[Change], rng: random.Random) -> Task | None:
    """The task with these wishes; None where it has no right answer or words do not say it."""
    source = changes.source
    language = "en" if rng.random() >= FOREIGN else rng.choice(OTHERS)
    functions = {source.function_at(wish.place) for wish in wishes}
    together = len(functions) == 1 and functions != {None}
    together = together and not any(wish.whole for wish in wishes)
    parts = []
    for number, wish in enumerate(wishes):
        said = _wording(changes, wish, rng, language, said_before=together and number == 1)
        if said is None:
            return None
        parts.append(said)
    instruction = parts[0]
    if len(parts) == 2:
        template = rng.choice(_data("wordings.toml")["joined"][language])
        instruction = template.format(a=parts[0].rstrip("."), b=parts[1])
    if len(instruction) > MAX_CHARACTERS:
        return None
    name = source.language.name

    def text(edits: Sequence[Edit]) -> str | None:
        try:
            result = applied(source.data, edits)
        except ValueError:
            return None
        return None if trees.errors(result, source.language) else result

    before = text([edit for wish in wishes for edit in wish.before])
    answers = []
    choices = [[wish.after, *wish.also] for wish in wishes]
    for edits in itertools.islice(itertools.product(*choices), MOST_ANSWERS):
        answers.append(text([edit for part in edits for edit in part]))
    after = answers[0]
    also = [answer for answer in dict.fromkeys(answers[1:]) if answer is not None]
    if before is None or after is None:
        return None
    if any(same(before, answer, name) for answer in (after, *also)):
        return None
    return Task(
        id=digest(source.group, instruction),
        language=name,
        repo=source.repo,
        filename=source.filename,
        instruction=_typed(instruction, wishes, rng, language),
        before=before,
        after=after,
        also=tuple(also),
        kind="+".join(map(_label, wishes)),
        group=source.group,
    )


# instructions


def _wording(
    changes: Changes, change: Change, rng: random.Random, language: str, said_before: bool
) -> str | None:
    """What is typed for a wish; None where it would not say which place is meant. `said_before`:
    the first wish has named the function."""
    data = _data("wordings.toml")
    table = data["kinds"][change.kind]
    template = _chosen(rng.choice((table[change.form] if change.form else table)[language]), rng)
    words = dict(change.words)
    parts = [part.lower() for part in words_of(words.get("name", ""))]
    if change.kind in DESCRIBED and len(parts) > 1 and language == "en" and rng.random() < LOOSE:
        words["name"] = f"the {' '.join(parts)}"
    if change.position:
        position = _chosen(rng.choice(data["position"][language][change.position]), rng)
        words["position"] = position.format_map(words)
        if not position:
            template = template.replace("{position}", "")
    alone = len(changes.places(change, None)) == 1
    where = ""
    if change.whole:
        if not alone:
            return None
    elif said_before:
        if len(changes.places(change, changes.source.function_at(change.place))) > 1:
            return None
    elif not (alone and change.named and rng.random() < NO_PLACE):
        found = changes.where(change, rng, language)
        if found is None:
            return None
        where = found
    sentence = re.sub(r"  +", " ", template).strip(" ,").format_map(words)
    if not where:
        return sentence
    if language in ("zh", "ja"):
        return f"{where}{',' if language == 'zh' else '、'}{sentence}"
    order = rng.random()
    if order < 0.25:
        return f"{where}{rng.choice((', ', ': ', ' '))}{sentence}"
    if order < 0.33 and re.fullmatch(r"in \w+(\(\))?", where):
        return f"{where.removeprefix('in ')}: {sentence}"
    return f"{sentence} {where}"


def _chosen(template: str, rng: random.Random) -> str:
    """A wording with one of each [a|b]."""
    return re.sub(
        r"\[([^\[\]]*\|[^\[\]]*)\]", lambda found: rng.choice(found[1].split("|")), template
    )


def _typed(text: str, wishes: list[Change], rng: random.Random, language: str) -> str:
    """An instruction with the marks of its typing: a capital, a full stop, a slip, backticks."""
    filled = set(re.findall(r"\w+", " ".join(v for wish in wishes for v in wish.words.values())))
    if rng.random() < BACKTICKS:
        names = [n for wish in wishes for n in wish.words.values() if re.fullmatch(r"\w{4,}", n)]
        for name in sorted(set(names))[:2]:
            text = re.sub(rf"(?<![\w`.'\"(]){name}(?![\w`.'\"(])", f"`{name}`", text, count=1)
    if language == "en" and rng.random() < TYPOS:
        plain = [w for w in re.findall(r"(?<![\w'`\"._])[a-z]{5,}(?![\w'`\"._(])", text)
                 if w not in filled and w in _plain_words()]  # fmt: skip
        if plain:
            word = rng.choice(plain)
            text = re.sub(rf"\b{word}\b", rng.choice(slips(word, rng)[:2]), text, count=1)
    if rng.random() < 0.12:
        if text[:2].isalpha() and text.split()[0] not in filled:
            text = text[0].upper() + text[1:]
        text += "." if text[-1].isalnum() and language == "en" else ""
    return text


@cache
def _plain_words() -> frozenset[str]:
    """The English words of the wordings, of which a slip makes no other name."""
    data = _data("wordings.toml")
    texts = [
        text
        for table in data["kinds"].values()
        for part in (table, *(inner for inner in table.values() if isinstance(inner, dict)))
        for text in part.get("en", ())
    ]
    found = re.findall(r"\b[a-z]{5,}\b", re.sub(r"\{\w+\}", "", " ".join(texts)))
    return frozenset(found) - {"const", "unwrap", "expect", "derive"}
