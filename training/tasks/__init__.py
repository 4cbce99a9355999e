"""Edit tasks with a known right answer, made from real code in seven languages.

    python -m training.tasks FOLDER… --count 1500 --seed 1 --out tasks.jsonl [--without FILE…]

A folder is a repository, or holds one in each subfolder called `owner+name`. Leave out those that
anything is confirmed with. `--without` names files of tasks whose sources are not taken again.

A task goes one of two ways. Forward: a mechanical change of the code is the right answer. Backward:
something that programmers wrote is taken away, and the answer is the file as it was. The kinds are
functions in `values`, `statements` and `members`; each yields every change that it finds in a file.
`wordings.toml` says how the wishes are typed and `choices.toml` what the changes are chosen from;
`making` chooses among them. An answer is right if it equals `after`, or a text of `also`, up to its
layout (`source.same`).
"""
