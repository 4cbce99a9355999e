"""`specedit help [TOPIC]`: the manual, in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from specedit.errors import DONE


def help(
    topic: Annotated[
        str | None, typer.Argument(help="A page of the manual, or a command", show_default=False)
    ] = None,
) -> int:
    """Show a page of the manual, or the list of its topics."""
    from specedit import manual

    if topic is not None:
        from specedit.view.terminal import show_page

        show_page(manual.page(manual.topic(topic)))
        return DONE
    topics = manual.listing()
    width = max(len(name) for name, _ in topics)
    print("specedit help TOPIC shows a page of the manual:\n")
    for name, about in topics:
        print(f"  {name:<{width}}  {about}")
    print("\nspecedit COMMAND --help lists the flags of a command.")
    return DONE
