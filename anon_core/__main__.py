"""The command line: list what there is, run a recipe, verify a release.

Exit status: 0 released and verified, or the release holds; 1 error; 2 infeasible (with the best
value reached), or a gate of the recipe is missed; 3 the release breaks a privacy model; 4 the input
changed against the recipe; 5 no release was found, and whether there is one is open, or not all of
a release could be checked; 130 stopped with Ctrl+C; 143 or 129 asked to end, or left by its
terminal. What is asked for goes to standard output,
messages to standard error.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from anon_core.base.errors import (
    AnonError,
    BadPlan,
    Infeasible,
    InputChanged,
    NotAccepted,
    NotFound,
    clipped,
)
from anon_core.cli.output import CHANGED, ERROR, INFEASIBLE, NOT_FOUND, STOPPED, at_hand, write_json

_WORDS = {
    ERROR: "error",
    INFEASIBLE: "infeasible",
    CHANGED: "input changed",
    NOT_FOUND: "not found",
}


PROGRAM = "python -m anon_core"


Declared = Callable[[argparse.ArgumentParser], None]


@dataclass(frozen=True)
class Command:
    """A command of the program.

    Attributes
    ----------
    declare : callable
        Adds its arguments to a parser, and sets the default `command`: a function that takes the
        arguments that were given, and returns the exit status.
    """

    name: str
    help: str
    declare: Declared


def _of(module: str, declare: str = "declare") -> Declared:
    """Return what declares a command of `cli/`; its module is imported if the command is given."""

    def declared(parser: argparse.ArgumentParser) -> None:
        getattr(importlib.import_module(f"anon_core.cli.{module}"), declare)(parser)

    return declared


#: The commands of the core.
COMMANDS = (
    Command("list", "list algorithms, privacy models, metrics and attacks", _of("list_techniques")),
    Command("run", "carry out a recipe and write the verified release", _of("run")),
    Command("suggest", "recommend techniques and privacy models for a purpose", _of("suggest")),
    Command(
        "identifiers",
        "find the few columns that distinguish rows, before you give roles",
        _of("identifiers"),
    ),
    Command(
        "safe-harbor",
        "list the identifiers of HIPAA's Safe Harbor in a table or a release",
        _of("identifiers", "declare_safe_harbor"),
    ),
    Command(
        "sweep", "run a recipe with several techniques and parameters, and compare", _of("sweep")
    ),
    Command("verify", "recompute every privacy model from a published release", _of("verify")),
    Command(
        "views",
        "count what several published views of one table leave open together",
        _of("republish", "declare_views"),
    ),
    Command(
        "republish",
        "publish a table that changes, each time with m-invariance",
        _of("republish"),
    ),
    Command(
        "network",
        "attack an edge list by degrees, and publish one that hides them",
        _of("network"),
    ),
    Command(
        "cloak",
        "publish boxes instead of places, and count who could have sent each",
        _of("cloak"),
    ),
    Command(
        "report",
        "write the evidence for a release: purpose, risk, loss and decision",
        _of("report"),
    ),
    Command("counts", "publish differentially private counts instead of rows", _of("counts")),
    Command("table", "publish a protected table of counts or sums instead of rows", _of("table")),
    Command("fetch", "save the result of a database query as a Parquet file", _of("fetch")),
    Command(
        "experiment",
        "repeat an experiment of the literature, and compare the figures",
        _of("experiment"),
    ),
    Command("warm", "compile the loops ahead of the first run", _of("warm")),
)


def main(
    arguments: Sequence[str] | None = None, *, prog: str = PROGRAM, more: Sequence[Command] = ()
) -> int:
    """Run one command and return its exit status; errors are reported on standard error.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the program, where none are given.
    prog : str
        What the program is called.
    more : sequence of Command
        Commands other than the core's own.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json, show_values = "--json" in given, "--show-values" in given
    try:
        options = _parser(prog, more, *given[:1]).parse_args(given)
        with at_hand(options):
            status = int(options.command(options))
        sys.stdout.flush()
        return status
    except KeyboardInterrupt as error:
        return _stopped(str(error), as_json=as_json)
    except AnonError as error:
        if _SIGNALS:  # of a reader that was interrupted the file seems to be broken
            return _stopped("", as_json=as_json)
        return _fail(
            _status(error),
            error.full_text(show_values=show_values),
            as_json=as_json,
            **(
                {"best": error.best, "best_of": error.best_of}
                if isinstance(error, Infeasible | NotFound)
                else {}
            ),
            word="not accepted" if isinstance(error, NotAccepted) else "",
        )
    except BrokenPipeError:
        # Anyone who read the output has gone; at exit Python would complain that it cannot flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ERROR
    except OSError as error:
        place, why = (
            error.filename or "Standard output or a file",
            error.strerror or type(error).__name__,
        )
        return _fail(
            ERROR,
            f"{clipped(str(place))} cannot be used: {why}. Check the path and the space left.",
            as_json=as_json,
        )
    except MemoryError:
        text = (
            "There is not enough memory for this table. Nothing was released. Leave out columns "
            "that are not needed, run with --engine duckdb, or use a larger machine."
        )
        return _fail(ERROR, text, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - the last door: a traceback could show cell values
        if _SIGNALS:  # a library made another error of it
            return _stopped("", as_json=as_json)
        if show_values:
            # Signs that a terminal would carry out are spelled: the lines may show cells.
            sys.stderr.writelines(f"{clipped(s)}\n" for s in traceback.format_exc().splitlines())
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = (
            f"An error of the workbench itself: {type(error).__name__} in "
            f"{Path(where.filename).name}, line {where.lineno}. Nothing was released; please "
            f"report it with the recipe."
        )
        return _fail(ERROR, text, as_json=as_json)


def _fail(status: int, text: str, *, as_json: bool, word: str = "", **facts: object) -> int:
    sys.stderr.write(text + "\n")
    if as_json:
        from anon_core import VERSION

        with suppress(OSError):  # standard output may be what failed; the message is out
            write_json(
                {
                    "schema": 1,
                    "version": VERSION,
                    "status": word or _WORDS.get(status, "stopped"),
                    "verified": False,
                    "error": text,
                    **facts,
                }
            )
    return status


def _status(error: AnonError) -> int:
    if isinstance(error, Infeasible):
        return INFEASIBLE
    if isinstance(error, NotFound):
        return NOT_FOUND
    if isinstance(error, NotAccepted):
        return INFEASIBLE
    return CHANGED if isinstance(error, InputChanged) else ERROR


class _Parser(argparse.ArgumentParser):
    """Argparse would leave with status 2, which here says that a recipe is infeasible.

    A command's arguments are declared when it is given: a run imports nothing of other commands.
    """

    later: Declared | None = None

    def parse_known_args(self, *given: Any, **named: Any) -> Any:
        """Read the arguments, declared by then."""
        if self.later is not None:
            declare, self.later = self.later, None
            declare(self)
            self.add_argument(
                "--show-values",
                action="store_true",
                help="show cell values in messages, and the traceback of an unforeseen error",
            )
        return super().parse_known_args(*given, **named)

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments."""
        raise BadPlan(f"{self.prog}: {message}.", remedy=f"See {self.prog} --help.")


def _parser(prog: str, more: Sequence[Command], named: str = "") -> argparse.ArgumentParser:
    """Return the parser of the command that is named, of all where it is none of them."""
    known = (*more, *COMMANDS)
    parser = _Parser(prog=prog, description="Anonymize a table and keep the evidence.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in [one for one in known if one.name == named] or known:
        commands.add_parser(command.name, help=command.help).later = command.declare
    return parser


#: The signals that ended the program.
_SIGNALS: list[int] = []


def _stopped(words: str, *, as_json: bool) -> int:
    status = 128 + _SIGNALS[0] if _SIGNALS else STOPPED
    return _fail(status, words or "Stopped; nothing was released.", as_json=as_json)


def _clear_away_when_ended() -> None:
    """Let what is put aside go as well when the program is asked to end; unless it ignores that."""

    def end(number: int, _frame: object) -> NoReturn:
        _SIGNALS.append(number)
        raise KeyboardInterrupt

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no terminal that leaves
        usual = signal.SIG_DFL, signal.default_int_handler
        if number is not None and signal.getsignal(number) in usual:
            signal.signal(number, end)


def leave(status: int) -> NoReturn:
    """End the program with a status, without waiting for what libraries left running.

    At its usual end Python takes down its state while threads of Arrow and of compiled code may
    still run, and one that asks for it then ends the program with a signal instead of the status.
    Everything is written by now. An interrupt that fell into code made from text would be
    remembered as unhandled, too, and leave with another status.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # who read it has gone, or it was closed
            stream.flush()
    os._exit(status)


def _with_streams() -> None:
    """Open what the caller has closed of input, output and errors, so that it leads nowhere.

    Else the next file that is opened takes its place, and messages are written into that.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8"))


def finish(
    arguments: Sequence[str] | None = None, *, prog: str = PROGRAM, more: Sequence[Command] = ()
) -> NoReturn:
    """Be the whole program: run one command as `main` does, and end with its exit status."""
    _with_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a console may not know '≥'
            cast(Any, stream).reconfigure(errors="backslashreplace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    # Matrices are small here: threads of BLAS wait for each other longer than they multiply.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _clear_away_when_ended()
    try:
        gc.set_threshold(100_000, 50, 100)  # most objects live as long as a command or server
        status = main(given, prog=prog, more=more)
    except KeyboardInterrupt as error:  # before or after the command
        status = _stopped(str(error), as_json="--json" in given)
    leave(status)


if __name__ == "__main__":
    finish()
