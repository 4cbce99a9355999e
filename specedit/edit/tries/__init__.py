"""Several answers to one Plan, judged by the checks and by the user's own command.

* `ways`: what sets one try apart from the others: seed, temperature, what it is shown.
* `asking`: the Plan of a try, from the Job and the answers so far.
* `failure`: the useful end of what a command said; `readers`: how each tool says it.
* `command`: one run of the user's command, within time and memory.
* `verdicts`: what the command said of each, and which came nearest.
* `refused`: tries where the checks alone judge; `tested`: where a command does.
"""
