"""CUDA arrays on the fake GPU, whose memory is the host's."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

_FORMATS = {"f32": "f", "f16": "e", "bf16": "H", "f64": "d", "i8": "b", "i32": "i"}
_BITS = {"f32": 32, "f16": 16, "bf16": 16, "f64": 64, "i8": 8, "i32": 32}
_DLPACK_CODES = {"i8": 0, "i32": 0, "f32": 2, "f16": 2, "f64": 2, "bf16": 4}
_ALIGN = 256
_CAPSULE = b"dltensor"  # stays, as the capsule needs


def _bf16(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0]) >> 16


class Memory:
    """Elements of one type, aligned as cudaMalloc does."""

    def __init__(self, values: Sequence[float], type_name: str) -> None:
        self.type = type_name
        self.count = len(values)
        items: Sequence[float] = values
        if type_name == "bf16":
            items = [_bf16(v) for v in values]
        elif type_name.startswith("i"):
            items = [int(v) for v in values]
        data = struct.pack(f"<{len(values)}{_FORMATS[type_name]}", *items)
        self._buffer = ctypes.create_string_buffer(len(data) + _ALIGN)
        start = ctypes.addressof(self._buffer)
        self.address = (start + _ALIGN - 1) // _ALIGN * _ALIGN
        ctypes.memmove(self.address, data, len(data))

    def values(self) -> list[float]:
        size = _BITS[self.type] // 8 * self.count
        items = struct.unpack(
            f"<{self.count}{_FORMATS[self.type]}", ctypes.string_at(self.address, size)
        )
        if self.type != "bf16":
            return list(items)
        return [struct.unpack("<f", struct.pack("<I", item << 16))[0] for item in items]


def _packed(shape: Sequence[int]) -> list[int]:
    strides = [1] * len(shape)
    for i in range(len(shape) - 1, 0, -1):
        strides[i - 1] = strides[i] * shape[i]
    return strides


class InterfaceArray:
    """As Numba's arrays: __cuda_array_interface__."""

    def __init__(
        self,
        values: Sequence[float],
        shape: Sequence[int],
        type_name: str = "f32",
        strides: Sequence[int] | None = None,
    ) -> None:
        self.memory = Memory(values, type_name)
        self.shape = tuple(shape)
        self.strides = strides

    def values(self) -> list[float]:
        return self.memory.values()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        size = _BITS[self.memory.type] // 8
        strides = None if self.strides is None else tuple(s * size for s in self.strides)
        return {
            "shape": self.shape,
            "typestr": f"<f{size}",
            "data": (self.memory.address, False),
            "version": 3,
            "strides": strides,
        }


class _Array(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("array", _Array), ("context", ctypes.c_void_p), ("deleter", _Deleter)]


class DlpackArray:
    """As PyTorch's and CuPy's arrays: DLPack. Notes the streams that it was asked with."""

    def __init__(
        self,
        values: Sequence[float],
        shape: Sequence[int],
        type_name: str = "f32",
        strides: Sequence[int] | None = None,
        device: tuple[int, int] = (2, 0),
    ) -> None:
        self.memory = Memory(values, type_name)
        self.shape = tuple(shape)
        self.dlpack_device = device
        self.streams: list[int | None] = []
        self.given_back = 0
        dimensions = len(shape)
        self._shape = (ctypes.c_int64 * dimensions)(*shape)
        self._strides = (ctypes.c_int64 * dimensions)(*(strides or _packed(shape)))
        self._deleter = _Deleter(self._delete)
        self._managed = _Managed()

    def values(self) -> list[float]:
        return self.memory.values()

    def _delete(self, managed: Any) -> None:
        self.given_back += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.dlpack_device

    def __dlpack__(self, stream: int | None = None) -> Any:
        self.streams.append(stream)
        array = self._managed.array
        array.data = self.memory.address
        array.device_type, array.device_id = self.dlpack_device
        array.dimensions = len(self.shape)
        array.code = _DLPACK_CODES[self.memory.type]
        array.bits, array.lanes = _BITS[self.memory.type], 1
        array.shape, array.strides = self._shape, self._strides
        self._managed.deleter = self._deleter
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self._managed), _CAPSULE, None)


class JaxArray(DlpackArray):
    """As JAX's arrays: DLPack, whose stream has to be a real one."""

    __module__ = "jaxlib._jax"
    is_ready = False

    def block_until_ready(self) -> JaxArray:
        self.is_ready = True
        return self

    def __dlpack__(self, stream: int | None = None) -> Any:
        if stream == -1:
            raise RuntimeError("CUDA_ERROR_INVALID_HANDLE: invalid resource handle")
        assert self.is_ready
        return super().__dlpack__(stream)
