"""Several answers to one Plan, judged by the checks and by the user's own command.

* `attempts`: how each try differs, its Job, tries that the checks alone judge, and the best try.
* `tested`: tries that the user's command judges; `command`: one run of it.
* `failure`: the useful part of its output.
"""
