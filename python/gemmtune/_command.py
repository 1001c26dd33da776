"""The gemm-tune command, run as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import _places
from .errors import Error, UsageError

_NOTHING = 1  # the exit code of requests that failed or found nothing
_USAGE = 2  # of wrong ones


def main() -> None:
    """Becomes the gemm-tune command: what the `gemm-tune` script of the package calls."""
    program = str(_places.program())
    os.execv(program, [program, *sys.argv[1:]])


class _Finished(NamedTuple):
    code: int
    out: str
    said: str  # the last line on stderr


def _finished(arguments: Sequence[str], progress: bool) -> _Finished:
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
        out.seek(0)
        return _Finished(process.returncode, out.read(), said)


def _check(finished: _Finished) -> None:
    if finished.code != 0:
        message = finished.said.removeprefix("gemm-tune: ") or f"ended with {finished.code}"
        raise (UsageError if finished.code == _USAGE else Error)(message)


def run(arguments: Sequence[str], *, progress: bool = False) -> str:
    """Runs gemm-tune and returns what it prints.

    Args:
        arguments: the command line behind "gemm-tune".
        progress: whether warnings and progress go to this process's stderr.

    Raises:
        UsageError: the command refused the request (exit code 2).
        Error: it failed, with what it says.
    """
    finished = _finished(arguments, progress)
    _check(finished)
    return finished.out


def run_json(
    arguments: Sequence[str], *, progress: bool = False, or_nothing: bool = False
) -> dict[str, Any]:
    """The same with --json: the object that the command prints.

    Args:
        or_nothing: also where it found nothing (exit code 1), if it prints one then.
    """
    finished = _finished([*arguments, "--json"], progress)
    if not (or_nothing and finished.code == _NOTHING and finished.out):
        _check(finished)
    try:
        return dict(json.loads(finished.out))
    except ValueError as error:
        raise Error(f"gemm-tune {arguments[0]} printed no JSON: {error}") from error
