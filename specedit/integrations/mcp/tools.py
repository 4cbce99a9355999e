"""The tools, their arguments, and the server between a client and them: roots, one call at a time,
progress, cancellation. A tool's docstring is what the client's model reads.

An answer for one symbol holds that symbol, and new private helpers besides it; nothing else.
"""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from specedit.check.finding import Finding
from specedit.edit.apply.apply_plan import changes_of, parts_of, plan_apply
from specedit.edit.job import Job, plan_edit
from specedit.edit.refining import part_of
from specedit.edit.report import Checked, Edit
from specedit.edit.splice import region_of
from specedit.errors import InputError, SpeceditError, UsageError, listed
from specedit.files.git import real, top_of
from specedit.files.journal import JournalRun, home, runs
from specedit.files.recorder import Wish
from specedit.files.source import Source
from specedit.files.undo import absolute, recover
from specedit.files.undo import undo as put_back
from specedit.integrations.mcp.agent_call import (
    AGENT,
    Arguments,
    Call,
    Cancelled,
    NewestReport,
    NoArguments,
    ToApply,
    ToEdit,
    ToFind,
    ToolResult,
    ToRename,
    Workspace,
    fitted,
    own_words,
    schema_of,
)
from specedit.models.resolve import local
from specedit.rename.tree import Tree
from specedit.rename.tree_rename import UseLeft
from specedit.settings import resolve
from specedit.syntax import trees
from specedit.syntax.identifiers import split_member
from specedit.syntax.languages import Language
from specedit.syntax.outline import Symbol
from specedit.version import VERSION
from specedit.view.colours import count
from specedit.view.terminal import harmless

_PUBLIC = frozenset({"export", "public", "pub", "protected", "internal", "open"})
_REMARK = ("#", "//", "/*", "*", "@", "[", "--", '"""', "'''")


def within_symbol(job: Job | Edit, source: Source, symbol: str) -> Job | Edit:
    """The Job with a judge that refuses whatever else an answer has."""
    if isinstance(job, Edit):
        return job
    region = region_of(source, None, symbol)
    head, tail = source.text[: region.start], source.text[region.stop :]
    judge = job.check

    def judged(text: str) -> Checked:
        if not (text.startswith(head) and text.endswith(tail)):
            return judge(text)  # nothing but the symbol is the answer's
        others = list(_others(source, symbol, head, tail, text))
        if not others:
            return judge(text)
        shown = ", ".join(f"`{other}`" for other in others[:5])
        reason = f"the answer for `{symbol}` has more than that and private helpers: {shown}"
        return Checked(text, (Finding("elsewhere", reason, refuses=True),))

    return replace(job, check=judged)


def _others(source: Source, symbol: str, head: str, tail: str, text: str) -> Iterator[str]:
    """The parts of the answer besides the symbol and new private helpers."""
    first = head.count("\n") + 1
    last = first + text.count("\n", len(head), len(text) - len(tail))
    lines = text.split("\n")
    name = symbol.strip("`").rpartition(".")[2]
    known = {other.qualified for other in trees.symbols(source.text, source.language)}
    after = trees.symbols(text, source.language)
    inside = [other for other in after if first <= other.first_line and other.last_line <= last]
    depth = min((inner.depth for inner in inside), default=0)
    level = [inner for inner in inside if inner.depth == depth]
    if not level:
        return
    covered: set[int] = set()
    for inner in level:
        covered |= set(range(inner.first_line, inner.last_line + 1))
        helper = inner.qualified not in known and _is_private(inner, lines, source.language)
        if inner.own_name != name and not helper:
            yield lines[inner.first_line - 1].strip()[:80]
    for number in range(first, last + 1):
        line = lines[number - 1].strip() if number <= len(lines) else ""
        bracket = len(line) < 3
        if line and not bracket and number not in covered and not line.startswith(_REMARK):
            yield line[:80]


def _is_private(symbol: Symbol, lines: list[str], language: Language | None) -> bool:
    name = symbol.own_name
    match language and language.name:
        case "go":
            return name[:1].islower() or name[:1] == "_"
        case "python":
            return name.startswith("_") and not name.endswith("__")
    return _PUBLIC.isdisjoint(lines[symbol.first_line - 1].split())


def find_places(call: Call, to: ToFind) -> ToolResult:
    """List every place of a symbol as path:line:column, by syntax and imports; `undecided`:
    uncertain ones. No model runs. Not for text in general: search for that."""
    unused = f"{split_member(to.name)[1].strip('`')}_renamed"
    wanted = ToRename(**to.model_dump(), new_name=unused)
    result = rename_symbol(call, wanted, lists=True)
    return result if result.status == "refused" else result.model_copy(update={"status": "ok"})


def rename_symbol(call: Call, to: ToRename, *, lists: bool = False) -> ToolResult:
    """Rename a symbol in all files of the git work tree: all or none. `incomplete`: look at `left`,
    uses that would stay. Not for words in text, nor to change what the symbol does."""
    root, place = call.workspace.root_of(to.path)
    if not place.exists():
        raise InputError("no such file", file=to.path)
    settings = call.settings(root, scope=to.scope, no_model=not to.ask_model)
    tree = _tree(root, place)
    path = tree.path(str(place))
    paths = tree.holding(to.name, derived=to.scope == "derived") if tree.tracks else [path]
    target = None
    if place.is_file():
        line = to.line
        if not line:
            declared = tree.rename_in(paths, to.name, to.new_name, settings).declared
            line = _line_in(path, to.name, declared)
        target = tree.target(path, to.name, line)
    result = tree.rename_in(paths, to.name, to.new_name, settings, target)
    if not lists:  # only then is the new name used
        tree.refuse_taken(result, settings)
    left = [] if lists else [_shown_use(tree, use) for use in result.left]
    if not to.ask_model:
        result = result.without_prose(tree.project, "ask_model: false")
    names = [tree.shown(file) for file in {**result.files, **result.undecided}]
    planner = partial(tree.plan, result, settings=settings)
    wish, moves = Wish(f"{to.name} to {to.new_name}"), absolute(tree.root, result.moves.items())

    def run(writes: bool) -> ToolResult:
        return call.run("rename", root, names, planner, settings, wish, writes=writes, moves=moves)

    if lists or to.allow_incomplete:
        return run(to.write and not lists)
    if left or (to.write and settings.check_with):
        preview = run(writes=False)
        left += preview.rejected
        if left and preview.status == "preview":
            return _incomplete(preview, left)
    done = run(to.write)
    return _incomplete(done, done.rejected) if done.rejected and not to.write else done


def _incomplete(preview: ToolResult, left: Sequence[str]) -> ToolResult:
    summary = f"{preview.summary}; {count(len(left), 'use')} would stay or break: look at `left`"
    summary += "; nothing was written. allow_incomplete: true renames all the same"
    update = {"status": "incomplete", "summary": summary, "left": list(left)}
    return preview.model_copy(update=update)


def _shown_use(tree: Tree, use: UseLeft) -> str:
    lines = (tree.project.text(use.path) or "").split("\n")
    text = "".join(lines[use.line - 1 : use.line]).strip()[:80]
    return f"{tree.shown(use.path)}:{use.line}:{use.column}: {text}"


def _tree(root: Path, place: Path) -> Tree:
    """The files that a rename may change: those that git knows; outside of git the file alone."""
    top = top_of(place if place.is_dir() else place.parent)
    if top is not None:
        return Tree.within(top if top.is_relative_to(root) else root, root)
    if place.is_dir():
        raise UsageError(f"{place} is in no git work tree.", hint="`path` names a file of one.")
    return Tree.of_files([str(place)], root)


def _line_in(path: str, name: str, declared: Sequence[tuple[str, int, str]]) -> int:
    """The line of a file that declares a name; an error unless there is one such line."""
    lines = [line for where, line, _ in declared if where == path]
    if len(lines) == 1:
        return lines[0]
    places = listed([f"{where}:{line}" for where, line, _ in declared], 20)
    problem = f"does not declare `{name}`; declared: {places or 'nowhere'}"
    if lines:
        numbers = listed([*map(str, lines)], 20)
        problem = f"declares `{name}` {len(lines)} times; `line` chooses one: {numbers}"
    raise InputError(problem, file=path)


def apply_change(call: Call, to: ToApply) -> ToolResult:
    """Merge your change into one file; line numbers and white space may be wrong. Returns the
    diff. Not to create, delete or move files, nor for a file that you write whole."""
    root, place = call.workspace.root_of(to.path)
    name, settings = str(place.relative_to(root)), call.settings(root)
    parts = parts_of(changes_of(to.change, call.check), name, root)
    planner = partial(plan_apply, parts=parts, settings=settings, check=call.check)
    return call.run("apply", root, [name], planner, settings, Wish("a change"), writes=to.write)


def edit_symbol(call: Call, to: ToEdit) -> ToolResult:
    """A small local model makes one small change in one function, method or class: seconds to
    minutes. Not for new code or several places, nor if you know the code: apply_change."""
    root, place = call.workspace.root_of(to.path)
    name, settings = str(place.relative_to(root)), call.settings(root)

    def planner(source: Source) -> Job | Edit:
        job = plan_edit(source, to.instruction, settings, symbol=to.symbol)
        return within_symbol(job, source, to.symbol)

    wish = Wish(to.instruction, part_of(None, to.symbol, None, None))
    return call.run("edit", root, [name], planner, settings, wish, writes=to.write)


def undo(call: Call, _: NoArguments) -> ToolResult:
    """Restore the files that the last change of these tools wrote. Again: the change before."""
    if (run := _last_run(call.workspace)) is None:
        raise UsageError("There is no change of these tools left to undo here.")
    done = put_back(home(), run.name)
    files = [file.path for file in done.files]
    if not done.refused:
        return ToolResult(status="undone", summary=f"undone: {_title(run)}", files=files)
    problems = "; ".join(f"{file.path}: {file.problem}" for file in done.refused)
    return ToolResult(status="refused", summary=f"not undone: {problems}", files=files)


def status(call: Call, _: NoArguments) -> ToolResult:
    """Show the workspace roots, the model, ignored settings, and what `undo` would undo."""
    notes = []
    for root in call.workspace.roots:
        resolved = resolve(call.flags, start=root)
        model = resolved.values.model
        state = "installed" if local(model) else f"not installed: specedit model pull {model}"
        notes.append(f"{root}: model {model}, {state}")
        notes += [resolved.ignored_note] if resolved.ignored else []
    run = _last_run(call.workspace)
    notes.append(f"undo: {_title(run) if run else 'nothing'}")
    roots = [str(root) for root in call.workspace.roots]
    return ToolResult(status="ok", summary=f"specedit {VERSION}", roots=roots, notes=notes)


def _last_run(workspace: Workspace) -> JournalRun | None:
    """The last run of these tools that wrote in this workspace, and nowhere else."""
    for run in runs(home()):
        inside = all(workspace.holds(real(entry.path)) for entry in run.files)
        if run.command.startswith(AGENT) and inside:
            return run
    return None


def _title(run: JournalRun) -> str:
    return f"{run.label}: {run.instruction[:200]}"


READ_ONLY = (find_places, status)
Tool = Callable[[Call, Any], ToolResult]
TOOLS: dict[str, tuple[Tool, type[Arguments]]] = {
    "find_places": (find_places, ToFind),
    "rename_symbol": (rename_symbol, ToRename),
    "apply_change": (apply_change, ToApply),
    "edit_symbol": (edit_symbol, ToEdit),
    "undo": (undo, NoArguments),
    "status": (status, NoArguments),
}


def perform(name: str, call: Call, arguments: Arguments) -> ToolResult:
    """Complete or revert what killed runs left, then run a tool; its result is made short."""
    recovered = recover(home())
    try:
        function, _ = TOOLS[name]
        result = function(call, arguments)
    except Cancelled:
        result = ToolResult(status="refused", summary="cancelled; nothing was written")
    result.notes[:0] = recovered
    if isinstance(arguments, ToRename) and result.status == "written":
        name = f"find_places of {arguments.new_name}"
    return fitted(result, getattr(arguments, "skip", 0), name)


OTHER_CALLS = 4  # at once, of those that ask no model
ROOTS, ROOTS_S = "roots", 10.0  # the key of our question, and seconds to wait for its answer
INSTRUCTIONS = """\
Exact renames, merges and small edits in the workspace. Use rename_symbol instead of \
search-and-replace, find_places to see what a name refers to, apply_change to write a change of a \
large file as a snippet. Nothing is written without write: true; undo reverts the last change. \
edit_symbol runs a small model: write larger changes yourself."""

Context = ServerRequestContext[Any, Any]


class AgentServer:
    """Tools for clients. `flags`: settings of the command line, over all others. `folder`: the
    workspace of a client that names no roots."""

    def __init__(self, flags: Mapping[str, Any], folder: Path) -> None:
        self._flags = flags
        self._folder = folder
        self._asking = ThreadPoolExecutor(1, "specedit-model")  # calls for the model queue
        self._others = ThreadPoolExecutor(OTHER_CALLS, "specedit-tool")
        self._running: dict[Future[ToolResult], threading.Event] = {}
        self.server: Server[Any] = Server(
            "specedit",
            version=VERSION,
            instructions=INSTRUCTIONS,
            on_list_tools=_list_tools,
            on_call_tool=self._call_tool,
        )

    async def run(self) -> None:
        """Serve stdin and stdout until the client closes them."""
        async with stdio_server() as (reader, writer):
            await self.server.run(reader, writer, self.server.create_initialization_options())

    def close(self, timeout_s: float) -> bool:
        """Cancel all calls; returns whether they ended in time."""
        running = dict(self._running)
        for future, stop in running.items():
            stop.set()
            future.cancel()
        ended = not wait(running, timeout_s).not_done
        for worker in (self._asking, self._others):
            worker.shutdown(wait=ended)
        return ended

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Run a tool in a worker's thread; one that is cancelled ends within a pass."""
        stop = threading.Event()
        if params.name not in TOOLS:
            raise MCPError(types.INVALID_PARAMS, f"unknown tool {harmless(params.name[:100])}")
        try:
            _, kind = TOOLS[params.name]
            arguments = kind.model_validate(params.arguments or {})
            workspace = await self._workspace(context, params)
            if isinstance(workspace, types.InputRequiredResult):
                return workspace
            progress = NewestReport(context.session)
            call = Call(workspace, self._flags, stop, progress.report)
            asks = isinstance(arguments, ToEdit) or getattr(arguments, "ask_model", False)
            worker = self._asking if asks else self._others
            future = worker.submit(perform, params.name, call, arguments)
            self._running[future] = stop
            future.add_done_callback(lambda done: self._running.pop(done, None))
            result = await asyncio.wrap_future(future)
            await progress.sent()
        except (ValidationError, SpeceditError, OSError) as problem:
            return _failure(problem)
        except MCPError as problem:
            return _failure(f"the client did not name its workspace roots: {problem}")
        except Exception as problem:
            traceback.print_exception(problem)
            return _failure(f"a bug in specedit: {type(problem).__name__}: {problem}")
        finally:
            stop.set()
        # Clients show their model either the text or the structure.
        text = types.TextContent(text=result.model_dump_json(exclude_defaults=True))
        return types.CallToolResult(
            content=[text],
            structured_content=result.model_dump(exclude_defaults=True),
            is_error=result.status == "refused",
        )

    async def _workspace(
        self, context: Context, params: types.CallToolRequestParams
    ) -> Workspace | types.InputRequiredResult:
        """The client's roots: since protocol 2026-07-28 it names them in a second request."""
        session = context.session
        if session.client_capabilities is None or session.client_capabilities.roots is None:
            return Workspace.of_process(self._folder)
        answer = (params.input_responses or {}).get(ROOTS)
        if not isinstance(answer, types.ListRootsResult):
            if not session.can_send_request:
                return types.InputRequiredResult(input_requests={ROOTS: types.ListRootsRequest()})
            answer = await session.send_request(
                types.ListRootsRequest(),
                types.ListRootsResult,
                request_read_timeout_seconds=ROOTS_S,
            )
        return Workspace.of_client(str(root.uri) for root in answer.roots)


async def _list_tools(_: Context, __: object) -> types.ListToolsResult:
    tools = [
        types.Tool(
            name=name,
            description=" ".join((function.__doc__ or "").split()),
            input_schema=schema_of(arguments),
            output_schema=schema_of(ToolResult),
            annotations=types.ToolAnnotations(
                read_only_hint=function in READ_ONLY, destructive_hint=False, open_world_hint=False
            ),
        )
        for name, (function, arguments) in TOOLS.items()
    ]
    return types.ListToolsResult(tools=tools)


def _failure(problem: Exception | str) -> types.CallToolResult:
    """An error that the client shows its model; of wrong arguments without their values."""
    if isinstance(problem, ValidationError):
        lines = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in problem.errors()[:5])
        problem = "; ".join(lines)
    content = types.TextContent(text=harmless(own_words(str(problem)))[:4000])
    return types.CallToolResult(content=[content], is_error=True)
