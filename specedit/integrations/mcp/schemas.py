"""The tools' arguments and results, as clients see them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import GenerateJsonSchema

Name = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Path = Annotated[str, Field(max_length=4096)]
Write = Annotated[bool, Field(description="Write the files; false: preview")]


class Arguments(BaseModel):
    """What a call says; an unknown argument is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ToFind(Arguments):
    name: Annotated[Name, Field(description="The identifier, or Class.member")]
    path: Annotated[Path, Field(description="The file that declares it, or that has `line`")] = ""
    line: Annotated[int, Field(ge=0, description="A line that names the one thing")] = 0
    scope: Annotated[
        Literal["code", "comments", "derived"],
        Field(description="code; comments too; derived names and strings too"),
    ] = "comments"


class ToRename(ToFind):
    new_name: Name
    ask_model: Annotated[
        bool, Field(description="Let the local model decide doubtful mentions; slow")
    ] = False
    write: Write = False


class ToEdit(Arguments):
    path: Annotated[Path, Field(min_length=1)]
    symbol: Annotated[Name, Field(description="The function, method or class; Class.method")]
    instruction: Annotated[
        str, Field(description="One small change, in words", min_length=1, max_length=20_000)
    ]
    write: Write = False


class ToApply(Arguments):
    path: Annotated[Path, Field(min_length=1)]
    change: Annotated[
        str,
        Field(
            description="SEARCH/REPLACE blocks, a diff, or code with `...` for what stays",
            min_length=1,
            max_length=500_000,
        ),
    ]
    ask_model: bool = False
    write: Write = False


class NoArguments(Arguments):
    pass


class ToolResult(BaseModel):
    """The result of every tool. Fields without a value are left out."""

    status: Literal["preview", "written", "unchanged", "refused", "undone", "ok"]
    summary: str
    roots: list[str] = []
    files: list[str] = []
    places: Annotated[list[str], Field(description="path:line:column: kind: text")] = []
    undecided: Annotated[list[str], Field(description="Uncertain places: look at them")] = []
    notes: list[str] = []
    diff: str = ""


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, _: object) -> bool:
        return False


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model, without what a client does not need."""
    schema = model.model_json_schema(schema_generator=_Untitled)
    return {key: value for key, value in schema.items() if key not in ("title", "description")}
