"""The strings and keywords by which Python's programs find members and parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from specedit.scoping.languages.rules import Rules, places
from specedit.scoping.scope import Meaning, Owner
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch, first_of

BY_NAME = places("getattr setattr hasattr delattr __setattr__ object")  # `mock.patch.object`
OF_ANY = places("attrgetter methodcaller")
LISTINGS = ("__slots__", "__match_args__")
LISTS = places("tuple list set binary_operator expression_list")
FIELD_DICTS = places("_asdict model_dump dict __dict__")  # members that give all the others
OF_KEYS = places("Enum IntEnum StrEnum Flag IntFlag TypedDict")  # classes whose members are keys
# classes whose fields their library also reads from strings and from arguments: `total__gt=1`
MODELS = places("Model BaseModel SQLModel DeclarativeBase Base TypedDict")


class PythonStrings(Rules):
    def read_by_name(
        self, typing: Typing, node: Branch, name: str, meanings: Sequence[Meaning]
    ) -> tuple[Owner, ...] | None:
        declared = [each for meaning in meanings for each in meaning.declared]
        owners = [owner for meaning in meanings for owner in meaning.owners]
        text, is_string = typing.scopes.text(node), node.type == "string"
        word = rf"(^|[^\w\s]){name.replace('_', '[-_]')}($|[^\w\s])"
        decorator = node.around("decorator") if re.search(word, text) else None
        function = decorator.at("^ definition") if decorator is not None else None
        if any(each.scope is not None and each.scope.node is function for each in declared):
            return ()  # `@app.get("/carts/{cart}")` names a parameter
        generic = node.around("subscript", "generic_type")
        if generic and typing.scopes.text(generic).split("[")[0].endswith("Literal"):
            return None
        field = re.fullmatch(rf"[\"']?-?(\w+__)*{name}(__\w+)*[\"']?", text)
        if (
            field
            and (is_string or field[1] or field[2])
            and not MODELS.isdisjoint(_bases(typing, owners))
        ):
            return _named_in(typing, node, owners) or ()
        if text.strip("\"'") != name:
            return None
        by_argument = any(each.kind in ("parameter", "field", "local") for each in declared)
        if by_argument and _is_spread(typing, node):
            return ()
        return _named_in(typing, node, owners) if is_string else None


def _bases(typing: Typing, owners: Sequence[Owner]) -> set[str]:
    every = (up for owner in owners for up in (owner, *typing.above(owner)))
    return {base for up in every for base in up.bases}


def _named_in(typing: Typing, string: Branch, owners: Sequence[Owner]) -> tuple[Owner, ...] | None:
    """The classes whose member a string names by where it stands."""
    holder, call = string.parent, string.at("^ ^")
    called = typing.called_leaf(call) if call is not None and call.type == "call" else None
    if holder is None or holder.type == "subscript":
        return _keyed(typing, holder.part("value")) if holder is not None else None
    if holder.type == "pair" and string.field == "key":  # `m: Movie = {"year": 1}`
        return typing.named_type(string.at("^ ^ ^ type"))
    if called is not None and holder.type == "argument_list":
        before = [child for child in holder.named_children() if child.end <= string.start]
        if typing.scopes.text(called) in BY_NAME and len(before) == 1:
            return typing.type_of(before[0]) or ()
        if typing.scopes.text(called) in OF_ANY:
            return ()
        return None if before else _keyed(typing, typing.rules.receiver(called))
    listing = next((up for up in string.up() if up.type not in LISTS), holder)
    around = typing.enclosing(string) if listing is not holder else None
    if around is None or typing.scopes.text(listing).startswith(LISTINGS):
        return (around,) if around is not None else None
    return () if any(up in owners for up in (around, *typing.above(around))) else None


def _keyed(typing: Typing, node: Branch | None) -> tuple[Owner, ...] | None:
    """The classes whose members are the keys of what an expression gives."""
    if node is not None and node.type == "identifier":
        declared = typing.lookup(typing.scopes.text(node), node)
        value = typing.rules.value_part(declared) if declared is not None else None
        node = value if value is not None and value.type == "call" else node
    if node is None:
        return None
    leaf = typing.called_leaf(node) if node.type == "call" else typing.member_called(node)
    word = typing.scopes.text(leaf) if leaf is not None else ""
    if leaf is not None and word in ("asdict", "vars"):
        return typing.type_of(first_of(node.children[-1]))
    if leaf is not None and word in FIELD_DICTS:
        return typing.type_of(typing.rules.receiver(leaf))
    known = typing.type_of(node)
    return known if not OF_KEYS.isdisjoint(_bases(typing, known or ())) else None


def _is_spread(typing: Typing, key: Branch) -> bool:
    """Whether a key is of a dictionary that gives a call its arguments: `**{"total": 1}`."""
    is_string = key.type == "string"
    holder = key.at("^ ^" if is_string else "^ ^ ^")
    if holder is None or holder.parent is None or key.field not in ("key", "name"):
        return False
    if not is_string and not typing.scopes.text(holder).startswith("dict("):  # `dict(total=1)`
        return False
    place = holder.parent
    if place.type == "dictionary_splat":
        return True
    left = place.part("left") or place.part("name")
    word = typing.scopes.text(left) if left is not None else ""
    used = rf"\*\*{word}\b".encode()
    return word == "kwargs" or (word.isidentifier() and bool(re.search(used, typing.scopes.data)))
