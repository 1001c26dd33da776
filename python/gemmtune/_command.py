"""The gemm-tune command, run as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from . import _places
from .errors import Error, UsageError

_USAGE = 2  # the exit code of wrong requests


def main() -> None:
    """Becomes the gemm-tune command: what the `gemm-tune` script of the package calls."""
    program = str(_places.program())
    os.execv(program, [program, *sys.argv[1:]])


def run(arguments: Sequence[str], *, progress: bool = False) -> str:
    """Runs gemm-tune and returns what it prints.

    Args:
        arguments: the command line behind "gemm-tune".
        progress: whether warnings and progress go to this process's stderr.

    Raises:
        UsageError: the command refused the request (exit code 2).
        Error: it failed, with what it says.
    """
    command = [str(_places.program()), *arguments]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    said = done.stderr.strip().splitlines()
    if done.returncode != 0:
        message = said[-1].removeprefix("gemm-tune: ") if said else f"ended with {done.returncode}"
        raise (UsageError if done.returncode == _USAGE else Error)(message)
    if progress and said:
        print("\n".join(said), file=sys.stderr)
    return done.stdout


def run_json(arguments: Sequence[str], *, progress: bool = False) -> dict[str, Any]:
    """The same with --json: the object that the command prints."""
    text = run([*arguments, "--json"], progress=progress)
    try:
        return dict(json.loads(text))
    except ValueError as error:
        raise Error(f"gemm-tune {arguments[0]} printed no JSON: {error}") from error
