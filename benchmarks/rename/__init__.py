"""Renames against ground truth, against compilers, and beside language servers.

* `cases`: renames whose result is known
* `fuzz`: random renames in packages that compile, compiled again afterwards
* `servers`: a language server, which renames in the same packages (`fuzz --server`)
"""
