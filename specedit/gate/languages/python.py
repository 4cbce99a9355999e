"""Python: a module says where every name comes from, unless it imports a star."""

from __future__ import annotations

import builtins

from specedit.gate.facts import Facts
from specedit.gate.languages.outlook import Outlook
from specedit.scoping.languages.tables import places
from specedit.syntax.branch import Branch

_MODULE = places(
    "__file__ __name__ __doc__ __package__ __spec__ __path__ __loader__ __builtins__",
    "__annotations__ __dict__ __module__ __qualname__ __class__ reveal_type reveal_locals",
    "WindowsError unicode basestring long xrange raw_input unichr reduce buffer cmp execfile",
    "get_ipython display _ __debug__",
)


class PythonOutlook(Outlook):
    def tells(self, facts: Facts) -> bool:
        for node in facts.root.walk():
            if node.type == "wildcard_import":
                return False
            if node.type == "call":
                callee = node.part("function")
                if callee is not None and facts.said(callee) in ("exec", "globals", "locals"):
                    return False
        return True

    def must_be_declared(self, facts: Facts, leaf: Branch, name: str) -> bool:
        """Not in `global x`, `del x`, or where a missing name is what the code expects."""
        for up in (leaf, *leaf.up()):
            if up.type in ("global_statement", "nonlocal_statement", "delete_statement"):
                return False
            if up.type == "try_statement" and "NameError" in facts.said(up):
                return False
        return True


OUTLOOK = PythonOutlook(
    given=frozenset(dir(builtins)) | _MODULE,
    blocks=places("block module"),
    ends=places("return_statement raise_statement break_statement continue_statement"),
)
