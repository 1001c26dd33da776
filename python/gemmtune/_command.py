"""The gemm-tune command, run as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
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
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as out:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        ) as process:
            said = ""
            for line in process.stderr or ():
                said = line.strip() or said
                if progress:
                    sys.stderr.write(line)
        if process.returncode != 0:
            message = said.removeprefix("gemm-tune: ") or f"ended with {process.returncode}"
            raise (UsageError if process.returncode == _USAGE else Error)(message)
        out.seek(0)
        return out.read()


def run_json(arguments: Sequence[str], *, progress: bool = False) -> dict[str, Any]:
    """The same with --json: the object that the command prints."""
    text = run([*arguments, "--json"], progress=progress)
    try:
        return dict(json.loads(text))
    except ValueError as error:
        raise Error(f"gemm-tune {arguments[0]} printed no JSON: {error}") from error
