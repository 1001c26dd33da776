"""libgemmtune_cublas.so in this process, and the folder that it counts into."""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from . import _places
from .errors import Error

_DONE, _NOT_FOUND, _REFUSED, _FAILED = range(4)
_MESSAGE_BYTES = 1024


class _State(ctypes.Structure):
    _fields_ = (
        ("attached", ctypes.c_uint32),
        ("slots", ctypes.c_uint32),
        ("objects", ctypes.c_uint32),
    )


@functools.cache
def _library() -> ctypes.CDLL:
    path = _places.cublas_library()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise Error(f"cannot load {path}: {error}") from error
    message = (ctypes.c_char_p, ctypes.c_size_t)
    library.gemmtune_cublas_attach.argtypes = (ctypes.POINTER(ctypes.c_char_p), *message)
    library.gemmtune_cublas_detach.argtypes = message
    library.gemmtune_cublas_state.argtypes = ()
    library.gemmtune_cublas_state.restype = _State
    library.gemmtune_cublas_collect.argtypes = ()
    library.gemmtune_cublas_collect.restype = None
    return library


def attach(settings: Mapping[str, str]) -> None:
    """Puts the library in front of cuBLAS in this process.

    Args:
        settings: as gemmtune_cublas_attach() has them, by name.

    Raises:
        Error: it cannot be done; nothing was changed.
    """
    texts = [f"{name}={value}".encode() for name, value in settings.items()]
    array = (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
    message = ctypes.create_string_buffer(_MESSAGE_BYTES)
    status = _library().gemmtune_cublas_attach(array, message, _MESSAGE_BYTES)
    if status == _NOT_FOUND:
        raise Error(
            "no library that calls cuBLAS is loaded in this process: import the framework "
            "(a build with CUDA) first"
        )
    if status != _DONE:
        raise Error(message.value.decode(errors="replace"))


def detach() -> None:
    """Takes it back. Raises Error if an address cannot be changed; then it stays attached."""
    message = ctypes.create_string_buffer(_MESSAGE_BYTES)
    if _library().gemmtune_cublas_detach(message, _MESSAGE_BYTES) != _DONE:
        raise Error(message.value.decode(errors="replace"))


def is_attached() -> bool:
    """Whether calls of this process lead to the library now."""
    return bool(_library().gemmtune_cublas_state().attached)


def extent() -> tuple[int, int]:
    """How many functions of how many libraries are called by way of this one."""
    state = _library().gemmtune_cublas_state()
    return state.slots, state.objects


def collect() -> None:
    """Has the library store the times of calls that the GPU has finished."""
    _library().gemmtune_cublas_collect()


class Folder:
    """A folder of this process that is removed when it ends, or before by remove()."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="gemm-tune-"))
        self.process = os.getpid()
        atexit.register(self.remove)

    def remove(self) -> None:
        """Removes it. In a forked child it is the parent's, and stays."""
        if self.process == os.getpid():
            shutil.rmtree(self.path, ignore_errors=True)
        atexit.unregister(self.remove)
