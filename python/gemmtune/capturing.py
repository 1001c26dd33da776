"""The products that this process asks cuBLAS for, as a suite to tune."""

from __future__ import annotations

import os
from types import TracebackType

from . import _attachment, _command
from .errors import Error
from .reports import Captured

__all__ = ["capture"]


class capture:  # noqa: N801 - it is used as a function
    """Counts the products between its begin and its end, and writes them to a file.

        with gemmtune.capture("app.json") as captured:
            model(x)
        gemmtune.tune(suite=captured.result.suite)

    Every call goes to cuBLAS as it is. docs/capture.md says what is seen. The counts of a block take some
    megabytes, which stay until the process ends.

    Args:
        path: the suite to write.

    Raises (with `with`):
        Error: no library that calls cuBLAS is loaded, gemmtune.torch is enabled, or another capture is
            under way. At the end: no product was seen, or the file cannot be written.
    """

    result: Captured

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._folder: _attachment.Folder | None = None

    def __enter__(self) -> capture:
        if _attachment.is_attached():
            raise Error("gemmtune.torch is enabled, or another capture is under way: end that first")
        folder = _attachment.Folder()
        try:
            _attachment.attach({"GEMM_TUNE_CAPTURE_DIR": str(folder.path)})
        except BaseException:
            folder.remove()
            raise
        self._folder = folder
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        folder, self._folder = self._folder, None
        if folder is None:
            return
        try:
            _attachment.detach()
            if kind is None:
                self.result = self._write(folder)
        finally:
            folder.remove()

    def _write(self, folder: _attachment.Folder) -> Captured:
        request = ["capture", "--from-folder", str(folder.path), "-o", self._path]
        answer = _command.run_json(request)
        keys = tuple(problem["key"] for problem in answer["problems"])
        return Captured(answer["suite"], answer["calls"], keys, answer)
