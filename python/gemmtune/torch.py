"""PyTorch on tuned kernels, without changing the program.

    import torch
    import gemmtune.torch

    gemmtune.torch.enable()
    ...                                 # the program: eager, torch.compile, CUDA graphs
    print(gemmtune.torch.report())      # problems, calls, what ran, time saved
    gemmtune.torch.disable()

The products that PyTorch asks cuBLAS for are computed by tuned kernels where these were measured to be
faster; all else is cuBLAS's own call, untouched. Nothing of PyTorch is replaced: the hooks are below it,
where its libraries call cuBLAS. docs/run.md says what is taken over.
"""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType
from typing import Literal, TextIO

from . import _attachment, _command
from .errors import Error
from .reports import Report

__all__ = ["Enabled", "disable", "enable", "is_enabled", "report"]


class _Process:
    """What this process has enabled."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.enabled: int | None = None  # the process that is: a forked child is not
        self.folder: _attachment.Folder | None = None
        self.log: TextIO | None = None

    def has_folder(self) -> bool:
        """Whether there is one, which is not a parent's."""
        return self.folder is not None and self.folder.process == os.getpid()

    def folder_of_process(self) -> _attachment.Folder:
        """One for all: counts go on where it is enabled again. A forked child begins anew."""
        if self.folder is None or not self.has_folder():
            self.folder = _attachment.Folder()
        return self.folder

    def detach(self) -> None:
        _attachment.detach()
        self.enabled = None


_process = _Process()


class Enabled:
    """What enable() returns. As a context manager it disables at the end, unless it was enabled before."""

    def __init__(self, was_enabled: bool) -> None:
        self._was_enabled = was_enabled

    def __enter__(self) -> Enabled:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._was_enabled:
            disable()

    def report(self) -> Report:
        """As gemmtune.torch.report()."""
        return report()


def _check_torch() -> None:
    torch = sys.modules.get("torch")
    if torch is None:
        raise Error("PyTorch is not imported: import torch before gemmtune.torch.enable()")
    version = getattr(torch, "version", None)
    if getattr(version, "cuda", None) is None:
        raise Error("this PyTorch was built without CUDA: install a build with CUDA")


def _settings(options: list[str]) -> dict[str, str]:
    folder = _process.folder_of_process()
    answer = _command.run_json(["run", "--attach", str(folder.path), *options])
    return {str(name): str(value) for name, value in answer["settings"].items()}


def enable(
    log: TextIO | None = None,
    *,
    override: Literal["first", "never", "always"] | None = None,
    f32: Literal["3xtf32", "bf16x6", "bf16x9"] | None = None,
    deterministic: bool = True,
    compare: bool = True,
    db: str | None = None,
    pack: str | None = None,
    cache_dir: str | None = None,
) -> Enabled:
    """Has tuned kernels compute PyTorch's products from now on, in this process.

    Calling it again with the same arguments also finds libraries that were loaded since. CUDA graphs that
    were captured before keep what they hold.

    Args:
        log: gets a line now, and the report when it is disabled.
        override: which algorithms that PyTorch gives cublasLtMatmul are replaced: those that cuBLASLt's
            heuristic names first (the default, which are all that PyTorch gives), or never, or always.
        f32: compute f32 products in this mode on tensor cores, nearly as exactly as f32 (docs/cli.md has each
            mode's error), where a kernel of it was tuned; None: as PyTorch asks for.
        deterministic: only kernels that give the same bits every time.
        compare: hand some calls to cuBLAS, to compare the times; where cuBLAS is faster in this program it
            gets all further calls of the problem. Such a problem's bits differ from call to call.
        db: the database of results; None: the usual one, else the results that come with the package.
        pack: a file of `gemm-tune db pack`, in place of a database and of compiling kernels.
        cache_dir: the folder of compiled kernels; None: the usual one.

    Returns:
        A context manager that disables at its end.

    Raises:
        Error: PyTorch is not imported or has no CUDA, it is enabled with other arguments, a gemmtune.capture
            is under way, there is no such database, or an address in PyTorch's libraries cannot be changed.
            Nothing was changed then, nor where the log cannot be written.
        UsageError: an argument is wrong.
    """
    with _process.lock:
        _check_torch()
        options = [] if override is None else ["--override", override]
        options += [] if f32 is None else ["--f32", f32]
        options += [] if deterministic else ["--nondeterministic"]
        options += [] if compare else ["--no-compare"]
        options += [] if db is None else ["--db", db]
        options += [] if pack is None else ["--pack", pack]
        options += [] if cache_dir is None else ["--cache-dir", cache_dir]
        was_enabled = is_enabled()
        if _attachment.is_attached() and not was_enabled:
            raise Error("a gemmtune.capture is under way: end that first")
        _attachment.attach(_settings(options))
        _process.enabled = os.getpid()
        try:
            if log is not None:
                slots, objects = _attachment.extent()
                log.write(f"gemmtune: {slots} addresses of cuBLAS's functions in {objects} libraries\n")
        except BaseException:
            if not was_enabled:
                _process.detach()
            raise
        _process.log = log
        return Enabled(was_enabled)


def disable() -> None:
    """Gives PyTorch cuBLAS's own functions back. Without effect where it is not enabled.

    CUDA graphs that were captured meanwhile keep the tuned kernels.

    Raises:
        Error: an address cannot be changed back; it stays enabled.
    """
    with _process.lock:
        if not is_enabled():
            return
        _process.detach()
        log, _process.log = _process.log, None
        if log is not None:
            log.write(str(report()))


def is_enabled() -> bool:
    """Whether this process is enabled."""
    return _process.enabled == os.getpid()


def report() -> Report:
    """Everything that was counted since this process was first enabled.

    Times are of calls that the GPU has finished: call torch.cuda.synchronize() before, to have all.

    Raises:
        Error: it was never enabled. In a forked child: it was not enabled there.
    """
    with _process.lock:
        if _process.folder is None or not _process.has_folder():
            raise Error("nothing was counted: call gemmtune.torch.enable() first")
        if is_enabled():
            _attachment.collect()
        request = ["run", "--report", str(_process.folder.path)]
        return Report.of(_command.run_json(request), _command.run(request))
