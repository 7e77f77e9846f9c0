"""Django's commands, as `manage.py NAME` and as commands of `assay`."""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

SETTINGS = "config.settings"
# What every command of Django has, and nobody looks for in the help of one of Assay's.
HIDDEN = {
    "--version",
    "--verbosity",
    "--settings",
    "--pythonpath",
    "--traceback",
    "--no-color",
    "--force-color",
    "--skip-checks",
}


def manage(arguments: Sequence[str] | None = None) -> None:
    """`manage.py ARGUMENTS`. Ends the process with the command's status where that is not 0."""
    if arguments is not None:
        sys.argv = ["manage.py", *arguments]
    with _plain_errors():
        from django.core.management import execute_from_command_line

        execute_from_command_line(sys.argv)


def run_command(name: str, arguments: Sequence[str], shown_as: str) -> None:
    """The management command `name`; its help calls it `assay SHOWN_AS`."""
    sys.argv = ["manage.py", name, *arguments]  # by which the settings see whether it needs a key
    with _plain_errors():
        import django
        from django.core.management import get_commands, load_command_class

        django.setup()
        command = load_command_class(get_commands()[name], name)
        command.create_parser = partial(_own_options, command.create_parser)
        command.run_from_argv(["assay", shown_as, *arguments])


def _own_options(create: Callable[..., ArgumentParser], *names: str, **how: Any) -> ArgumentParser:
    """The command's parser, whose help is short: without what every command of Django has, and with names of options
    and what they do on one line."""
    parser = create(*names, **how)
    parser.formatter_class = partial(parser.formatter_class, max_help_position=34)
    for action in parser._actions:
        if HIDDEN.intersection(action.option_strings):
            action.help = SUPPRESS
    shown = [action for action in parser._actions if action.help != SUPPRESS]
    if parser.usage is None and len(shown) > 8:
        wanted = [one for one in shown if one.required and one.option_strings]
        positional = [one for one in shown if not one.option_strings]
        words = [f"{one.option_strings[0]} {one.metavar or one.dest.upper()}" for one in wanted]
        words += [f"[{one.dest}]" if one.nargs == "?" else one.metavar or one.dest for one in positional]
        parser.usage = " ".join(["%(prog)s [options]", *words])
    return parser


@contextmanager
def _plain_errors() -> Iterator[None]:
    """A sentence where the database, not the program, is the matter; nothing where the reader has seen enough."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", SETTINGS)
    from django.db import DatabaseError

    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:  # as of `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except DatabaseError as error:
        from config.database import why_it_cannot_be_used

        if not (reason := why_it_cannot_be_used()):
            raise
        raise SystemExit(reason) from error
