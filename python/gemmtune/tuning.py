"""Tuning, and what is known: the commands of these names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _command
from .errors import UsageError
from .problems import Problem, as_problem
from .reports import Choice, Explanation, Kernel, Tuned

__all__ = ["explain", "query", "tune"]

_Path = str | os.PathLike[str]
_Sizes = Problem | Iterable[int]


def _options(**values: object) -> list[str]:
    """--name=value for each that is not None; --name for True."""
    out = []
    for name, value in values.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            out.append(flag)
        elif value is not None and value is not False:
            out.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return out


def _tuned(json: Mapping[str, Any], best: Mapping[str, Any] | None) -> Tuned:
    first, fastest = Kernel.of(json["vendor_first"]), Kernel.of(json["vendor_best"])
    return Tuned(json["key"], Kernel.of(best), first, fastest, json)


def tune(
    problem: _Sizes | None = None,
    *,
    suite: _Path | None = None,
    arch: str | None = None,
    device: int | None = None,
    devices: str | Iterable[int] | None = None,
    candidates: int | None = None,
    seconds: float | None = None,
    db: _Path | None = None,
    cache_dir: _Path | None = None,
    progress: bool = False,
) -> list[Tuned]:
    """Finds the fastest kernel of a problem, or of each problem of a suite, and stores it.

    On a GPU candidates are verified and measured; without one of that arch they are predicted, which their
    provenance says. Every candidate is stored as it is measured, so what was interrupted goes on.

    Args:
        problem: (m, n, k) or a Problem; or
        suite: a file, such as `capture()` writes.
        arch: such as "sm_90"; None: that of the first GPU.
        device: ordinal of the GPU; None: the first, or one of that arch.
        devices: ordinals of GPUs of one model, or "all", on which a suite's problems are tuned at once; in place of device.
        candidates: how many to try at the most, of each problem.
        seconds: how long to search at the most, for each problem.
        db: the database; None: the usual one.
        cache_dir: the folder of compiled kernels; None: the usual one.
        progress: whether warnings and progress go to stderr.

    Returns:
        The problems that were tuned. Problems that no strategy computes are left out.

    Raises:
        UsageError: an argument is wrong, or there is no GPU and no arch, or no NVRTC.
        Error: the search failed.
    """
    if (problem is None) == (suite is None):
        raise UsageError("either a problem or a suite")
    what = as_problem(problem).arguments() if problem is not None else _options(suite=suite)
    options = _options(
        arch=arch,
        device=device,
        devices=devices if isinstance(devices, str) or devices is None else ",".join(map(str, devices)),
        candidates=candidates,
        seconds=seconds,
        db=db,
        cache_dir=cache_dir,
    )
    answer = _command.run_json(["tune", *what, *options], progress=progress)
    return [
        _tuned(result, next(iter(result["ranking"]), None)) for result in answer["results"]
    ]


def query(
    problem: _Sizes,
    *,
    arch: str | None = None,
    device: str | None = None,
    db: _Path | None = None,
) -> list[Tuned]:
    """The best known kernel of a problem, for each GPU that one is stored of.

    Args:
        problem: (m, n, k) or a Problem.
        arch: such as "sm_90"; None: any.
        device: a part of a GPU's name, or its uuid; None: any.
        db: the database; None: the usual one, else the results that come with the package.

    Returns:
        Nothing where no result is stored.

    Raises:
        UsageError: an argument is wrong.
        Error: the database cannot be read.
    """
    options = _options(arch=arch, device=device, db=db)
    answer = _command.run_json(
        ["query", *as_problem(problem).arguments(), *options], or_nothing=True
    )
    return [_tuned({**result, "key": answer["key"]}, result["best"]) for result in answer["results"]]


def explain(
    problem: _Sizes,
    *,
    device: str | None = None,
    vendor: bool = True,
    deterministic: bool = False,
    db: _Path | None = None,
) -> Explanation:
    """What the runtime library would run for a problem, and why. Needs no GPU.

    Args:
        problem: (m, n, k) or a Problem.
        device: a part of a GPU's name, or its uuid; None: the GPU that is present, else the database's only
            one.
        vendor: False: as if there were no cuBLASLt.
        deterministic: only what gives the same bits every time.
        db: the database; None: the usual one, else the results that come with the package.

    Raises:
        UsageError: an argument is wrong, or no GPU is named where there are several.
        Error: nothing can run.
    """
    options = _options(
        device=device, no_vendor=not vendor, deterministic=deterministic, db=db
    )
    answer = _command.run_json(["explain", *as_problem(problem).arguments(), *options])
    alternatives = tuple(Choice.of(choice) for choice in answer["alternatives"])
    return Explanation(answer["problem"], Choice.of(answer["chosen"]), alternatives, answer)
