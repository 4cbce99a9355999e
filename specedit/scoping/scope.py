"""Scopes, declarations, owners, meanings and rewrites: values and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from specedit.syntax.branch import Branch

TYPES = frozenset({"class", "type", "namespace", "import"})
FUNCTIONS = frozenset({"function", "method"})


class Home:
    """The file that a declaration or an owner stands in."""


@dataclass(eq=False, slots=True)
class Declared:
    """One declaration of a name. `after`: the byte from which it is visible in its own scope."""

    name: str
    kind: str  # local | parameter | function | method | field | class | type | value | import | ...
    leaf: Branch = field(repr=False)
    node: Branch = field(repr=False)  # what carries the name: parameter, class, assignment
    scope: Scope | None = field(repr=False)
    owner: Owner | None = field(repr=False)  # the class it is a member of
    after: int = 0
    home: Home | None = field(default=None, repr=False)
    also: Owner | None = field(default=None, repr=False)  # a promoted parameter: the class's, too

    @property
    def is_own(self) -> bool:
        """Whether it is declared here, neither imported nor exported."""
        return self.kind not in ("import", "module", "export")

    @property
    def scope_kind(self) -> str:
        return self.scope.kind if self.scope is not None else ""

    @property
    def is_local(self) -> bool:
        """Whether it can be met in a part of its file alone."""
        return self.scope is not None and self.scope.is_local

    @property
    def member_of(self) -> Owner | None:
        return self.owner or self.also


@dataclass(eq=False, slots=True)
class Owner:
    """Something with members: a class, an interface, an object literal, a module."""

    name: str
    node: Branch = field(repr=False)
    bases: list[str] = field(default_factory=list)
    members: dict[str, list[Declared]] = field(default_factory=dict, repr=False)
    folder: str = ""  # the folder or the namespace that it stands for
    module: str | None = None  # what an import names: a thing of this module, unknown here
    early: bool = False  # met in a method or an addition, before the class itself
    home: Home | None = field(default=None, repr=False)


@dataclass(eq=False, slots=True)
class Scope:
    kind: str  # file | function | block | class | namespace | template
    node: Branch = field(repr=False)
    parent: Scope | None = field(repr=False)
    declared: dict[str, list[Declared]] = field(default_factory=dict, repr=False)
    owner: Owner | None = None
    opens: list[tuple[Owner, str]] = field(default_factory=list, repr=False)  # C++: `using`

    @property
    def is_local(self) -> bool:
        """Whether what is declared here can be met nowhere else."""
        return self.kind in ("function", "block", "template")


Known = tuple[Owner, ...] | None  # of an expression; None: unknown, and it is never empty


@dataclass(eq=False)
class Meaning:
    """One thing a name means, and every place that means it."""

    kind: str  # the declarations' kind, or EXTERNAL, FOREIGN, UNKNOWN, FREE, "label"…
    declared: list[Declared] = field(default_factory=list)
    leaves: list[Branch] = field(default_factory=list)
    owners: list[Owner] = field(default_factory=list)
    module: str = ""  # FOREIGN: where it comes from

    @property
    def lines(self) -> list[int]:
        return sorted({leaf.line for leaf in self.leaves})

    @property
    def is_member(self) -> bool:
        return bool(self.owners)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Bytes [start, end) become `new`."""

    start: int
    end: int
    old: str
    new: str
    kind: str = "code"
    why: str = ""  # this is a place that is renamed
    undecided: bool = False  # a mention that may be ordinary language
