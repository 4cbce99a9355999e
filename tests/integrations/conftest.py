"""A language server that the tests of this folder share: starting one takes a second."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lsp_client import Editor, Process


@pytest.fixture(scope="session")
def language_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("language_server")
    process = Process(folder, SPECEDIT_HOME=str(folder.parent / "language_server_home"))
    process.editor.start()
    yield process
    assert process.leave() == 0
    assert process.stderr == "", "only an unexpected error is printed"


@pytest.fixture
def editor(language_server: Process) -> Iterator[Editor]:
    """An editor that the server is connected to."""
    yield language_server.editor
    language_server.editor.close_all()


@pytest.fixture
def play(language_server: Process) -> Callable[..., None]:
    """The script of the server's model."""
    return language_server.play


@pytest.fixture
def folder(language_server: Process) -> Iterator[Path]:
    """The folder that the server is started in."""
    yield language_server.folder
    for path in language_server.folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
