"""What every rule's script shares: seal arguments, and errors as one clear line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from assay.core.errors import AssayError
from assay.core.seal import verify_seal, write_seal


def add_seal_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments by which a rule says what it reads and what it made."""
    group = parser.add_argument_group("provenance (filled in by the workflow)")
    group.add_argument("--spec", default="", help="the rule's parameters as canonical JSON")
    group.add_argument("--code", default="", help="digest of the script and what it imports")
    group.add_argument("--seal", type=Path, help="where the seal of the outputs is written")
    group.add_argument(
        "--verify", type=Path, nargs="*", default=[], help="seals of the inputs, verified first"
    )


def run_command(
    work: Callable[[argparse.Namespace], Sequence[Path]],
    parser: argparse.ArgumentParser,
    argv: Sequence[str] | None = None,
) -> int:
    """Verify input seals, do the work, seal what it returns; the exit status.

    Parameters
    ----------
    work : callable
        Takes the parsed arguments and returns the files it wrote.
    argv : sequence of str, optional
        The command line. ``@FILE`` stands for the arguments in FILE, each ended by a zero byte: a
        system takes no argument over 128 KiB, and a study may have tens of thousands of shards.
    """
    add_seal_arguments(parser)
    arguments = parser.parse_args(list(_expanded(sys.argv[1:] if argv is None else argv)))
    try:
        for seal in arguments.verify:
            verify_seal(seal)
        files = work(arguments)
        if arguments.seal is not None:
            write_seal(arguments.seal, files, spec=arguments.spec, code=arguments.code)
    except AssayError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _expanded(argv: Sequence[str]) -> Iterator[str]:
    for argument in argv:
        if argument.startswith("@"):
            yield from Path(argument[1:]).read_text("utf-8").split("\0")[:-1]
        else:
            yield argument
