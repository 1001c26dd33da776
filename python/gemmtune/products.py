"""Products of the arrays of PyTorch, CuPy, JAX and Numba, on libgemmtune."""

from __future__ import annotations

import functools
import json
import operator
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from . import _attachment, _command, _core
from .errors import Error
from .reports import Choice, Explanation, Tuned
from .tuning import tune

__all__ = ["Activation", "Math", "Matmul", "matmul"]

Activation = Literal["relu", "gelu", "gelu_erf", "silu"]
Math = Literal["ieee", "tf32", "3xtf32", "bf16x6", "bf16x9", "f16"]

# The values of include/gemmtune/gemmtune.h.
_TYPES = {"f32": 0, "f16": 1, "bf16": 2, "i8": 5}
_I32 = 6
_ELEMENT_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "i32": 4}
_MATHS = {"ieee": 0, "tf32": 1, "3xtf32": 2, "f16": 3, "bf16x6": 4, "bf16x9": 5}
_ACTIVATIONS = {None: 0, "relu": 1, "gelu": 2, "gelu_erf": 3, "silu": 4}
_ROW_MAJOR, _COLUMN_MAJOR = 0, 1
_RESULT_OF_OPERANDS, _RESULT_F32 = 0, 1
_BIAS_PER_COLUMN = 1


@functools.cache
def _folder() -> _attachment.Folder:
    return _attachment.Folder()


@functools.cache
def _settings() -> dict[str, str]:
    """Database, cache and NVRTC that the command would use."""
    answer = _command.run_json(["run", "--attach", str(_folder().path)])
    return {str(name): str(value) for name, value in answer["settings"].items()}


# Kernels of a library may be in flight, or in graphs, as long as the process is there: none is destroyed.
_all_libraries: list[_core.Library] = []
_libraries: dict[tuple[int, bool], _core.Library] = {}  # which know what was tuned before they were made
_libraries_lock = threading.Lock()


def _library(device: int, with_workspace: bool) -> _core.Library:
    """The library of a GPU."""
    with _libraries_lock:
        known = _libraries.get((device, with_workspace))
        if known is None:
            known = _libraries[device, with_workspace] = _new_library(device, with_workspace)
            _all_libraries.append(known)
        return known


def _new_library(device: int, with_workspace: bool) -> _core.Library:
    settings = _settings()
    options = _core.Options()
    options.database = settings["GEMM_TUNE_RUN_DB"]
    options.cache_dir = settings["GEMM_TUNE_RUN_CACHE"]
    compilers = settings["GEMM_TUNE_RUN_NVRTC"].split(":")
    options.nvrtc = next((name for name in compilers if Path(name).is_file()), "")
    options.device = device
    if not with_workspace:
        options.max_workspace_bytes = 0
    try:
        return _core.Library(options)
    except _core.LibraryError as error:
        raise Error(str(error)) from error


def _forget_results() -> None:
    """Libraries that are made from now on know what has been tuned since."""
    with _libraries_lock:
        _libraries.clear()
        for cached in (_settings, _folder):
            cached.cache_clear()


# --- Arrays of frameworks ---------------------------------------------------------------------------


def _framework(array: object) -> str:
    """Of its type, or of what that is derived from: "torch", "cupy", "jax" or "jaxlib"; else its module."""
    modules = [base.__module__.partition(".")[0] for base in type(array).__mro__]
    return next((name for name in modules if name in ("torch", "cupy", "jax", "jaxlib")), modules[0])


def _on_device(array: Any) -> AbstractContextManager[Any]:
    """Makes the GPU of an array of PyTorch or CuPy the current one: they export none of another."""
    if _framework(array) == "torch" and array.is_cuda:
        return sys.modules["torch"].cuda.device(array.device)
    return array.device if _framework(array) == "cupy" else nullcontext()


def _read(array: object, name: str) -> _core.Tensor:
    streams_are_its_own = _framework(array) in ("jax", "jaxlib")
    if streams_are_its_own and any(base.__name__ == "Tracer" for base in type(array).__mro__):
        raise TypeError(f"{name} is a tracer of JAX, which has no memory: multiply outside of jit and grad")
    try:
        if streams_are_its_own:
            array.block_until_ready()  # type: ignore[attr-defined]
        with _on_device(array):
            return _core.read_tensor(array, is_ready=streams_are_its_own)
    except (AttributeError, TypeError, ValueError, BufferError, RuntimeError) as error:
        raise TypeError(f"{name} cannot be read as a CUDA array: {error}") from error


def _allocates(array: object) -> bool:
    return _framework(array) in ("torch", "cupy")


def _empty(like: Any, shape: tuple[int, ...], type_name: str | None) -> Any:
    """A new array of the framework of `like`; of its type, or of one that is named."""
    if _framework(like) == "torch":
        dtype = getattr(sys.modules["torch"], type_name) if type_name else like.dtype
        return like.new_empty(shape, dtype=dtype)
    with like.device:
        return sys.modules["cupy"].empty(shape, dtype=type_name or like.dtype)


def _current_stream(array: Any) -> int | None:
    """The stream that PyTorch or CuPy enqueues its work on now, on the array's GPU; None for others."""
    framework = _framework(array)
    if framework == "torch":
        return int(sys.modules["torch"].cuda.current_stream(array.device).cuda_stream)
    if framework == "cupy":
        with array.device:
            return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    return None


def _common_stream(like: Any, tensors: Iterable[_core.Tensor]) -> int:
    """The current one of the framework of `like`, or what the arrays say. Raises ValueError for several."""
    streams = {tensor.stream for tensor in tensors} | {_current_stream(like)}
    known = sorted(stream for stream in streams if stream is not None)
    if len(known) > 1:
        raise ValueError("the arrays are of several streams: give one that waits for all as stream")
    return known[0] if known else 0


def _stream_number(stream: Any) -> int:
    """Of a number, or of a stream of PyTorch or CuPy."""
    number = getattr(stream, "cuda_stream", getattr(stream, "ptr", stream))
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(
            f"stream is a {type(stream).__name__}; it has to be a cudaStream_t as a number, or a stream of "
            "PyTorch or CuPy"
        ) from None


@contextmanager
def _on_stream(like: Any, stream: int) -> Iterator[None]:
    """Has the framework of `like`, which is PyTorch or CuPy, allocate for a stream."""
    cuda = sys.modules[_framework(like)].cuda
    if _framework(like) == "torch":
        # PyTorch takes 0, the default stream, for no number.
        external = cuda.ExternalStream(stream, device=like.device) if stream else cuda.default_stream(like.device)
        with cuda.stream(external):
            yield
    else:
        with like.device, cuda.ExternalStream(stream):
            yield


# --- Problems ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Matrix:
    """A matrix, or a batch of them, in memory."""

    batch: int  # 1 for a matrix
    rows: int
    columns: int
    order: int
    ld: int
    stride: int

    def matrices_overlap(self) -> bool:
        """Whether the elements of a batch lie between or in each other's."""
        sizes = (self.rows, self.columns)
        lines, length = sizes if self.order == _ROW_MAJOR else reversed(sizes)
        return self.batch > 1 and self.stride < (lines - 1) * self.ld + length

    @staticmethod
    def of(tensor: _core.Tensor, name: str) -> _Matrix:
        """Raises ValueError for what is no matrix whose rows or columns are packed."""
        shape, strides = tensor.shape, tensor.strides
        if len(shape) not in (2, 3):
            raise ValueError(f"{name} has to have 2 or 3 dimensions, not {len(shape)}")
        if min(shape) < 1:
            raise ValueError(f"{name} is empty: {tuple(shape)}")
        if any(stride < 0 for count, stride in zip(shape, strides, strict=True) if count > 1):
            raise ValueError(f"{name} has strides {tuple(strides)}: copy it first (contiguous())")
        rows, columns = shape[-2:]
        by_row, by_column = strides[-2:]
        batch, stride = (shape[0], strides[0]) if len(shape) == 3 else (1, 0)
        if (by_column == 1 or columns == 1) and (by_row >= columns or rows == 1):
            return _Matrix(batch, rows, columns, _ROW_MAJOR, max(by_row, columns), stride)
        if (by_row == 1 or rows == 1) and (by_column >= rows or columns == 1):
            return _Matrix(batch, rows, columns, _COLUMN_MAJOR, max(by_column, rows), stride)
        raise ValueError(
            f"{name} has strides {tuple(strides)}: neither its rows nor its columns are packed; "
            "copy it first (contiguous())"
        )


def _checked_batch(a: _Matrix, b: _Matrix) -> int:
    if a.batch != b.batch and 1 not in (a.batch, b.batch):
        raise ValueError(f"a is a batch of {a.batch} and b one of {b.batch}")
    return max(a.batch, b.batch)


def _problem(
    a: _core.Tensor,
    b: _core.Tensor,
    c: _core.Tensor,
    bias: _core.Tensor | None,
    activation: str | None,
    math: str,
) -> _core.Problem:
    """The problem of operands that are there. Raises TypeError and ValueError for what is none."""
    for name, tensor in (("a", a), ("b", b)):
        if tensor.type not in _TYPES:
            raise TypeError(f"{name} is {tensor.type}; it has to be one of {', '.join(_TYPES)}")
    if a.type != b.type:
        raise TypeError(f"a is {a.type} and b is {b.type}: they have to be of one type")
    results = ["i32"] if a.type == "i8" else [a.type, "f32"]
    if c.type not in results:
        raise TypeError(f"out is {c.type}; it has to be {' or '.join(results)}")
    if activation not in _ACTIVATIONS:
        names = ", ".join(str(name) for name in _ACTIVATIONS if name)
        raise ValueError(f"activation {activation!r} is not known: {names}")
    if math not in _MATHS:
        raise ValueError(f"math {math!r} is not known: {', '.join(_MATHS)}")
    if math != "ieee" and a.type != "f32":
        raise ValueError(f"math {math!r} is for f32 operands, not {a.type}")
    ma, mb, mc = _Matrix.of(a, "a"), _Matrix.of(b, "b"), _Matrix.of(c, "out")
    if ma.columns != mb.rows:
        raise ValueError(f"a has {ma.columns} columns and b has {mb.rows} rows")
    batch = _checked_batch(ma, mb)
    wanted = (batch, ma.rows, mb.columns)
    if (mc.batch, mc.rows, mc.columns) != wanted:
        raise ValueError(f"out is {tuple(c.shape)}; it has to hold {wanted[1]} x {wanted[2]}, {batch} times")
    if mc.matrices_overlap():
        raise ValueError(f"out has strides {tuple(c.strides)}: its matrices have to lie one after the other")
    problem = _core.Problem()
    problem.type, problem.math, problem.activation = _TYPES[a.type], _MATHS[math], _ACTIVATIONS[activation]
    if a.type == "i8":
        problem.accumulator = _I32
    problem.result_type = _RESULT_OF_OPERANDS if c.type == results[0] else _RESULT_F32
    problem.m, problem.n, problem.k, problem.batch = ma.rows, mb.columns, ma.columns, batch
    problem.order_a, problem.lda = ma.order, ma.ld
    problem.order_b, problem.ldb = mb.order, mb.ld
    problem.order_c, problem.ldc = mc.order, mc.ld
    if batch > 1:
        problem.stride_a = ma.stride if ma.batch > 1 else 0
        problem.stride_b = mb.stride if mb.batch > 1 else 0
        problem.stride_c = mc.stride
    if bias is not None:
        problem.bias = _BIAS_PER_COLUMN
        _check_bias(bias, c, mb.columns)
    return problem


def _check_bias(bias: _core.Tensor, c: _core.Tensor, columns: int) -> None:
    if bias.type != c.type:
        raise TypeError(f"bias is {bias.type}; it has to be of the result's type, {c.type}")
    if bias.shape != [columns] or (columns > 1 and bias.strides != [1]):
        raise ValueError(f"bias is {tuple(bias.shape)}; it has to be a packed vector of {columns}")


def _byte_strides(tensor: _core.Tensor) -> list[tuple[int, int]]:
    """Size and stride of each dimension in which it is not single."""
    size = _ELEMENT_BYTES[tensor.type]
    dimensions = zip(tensor.shape, tensor.strides, strict=True)
    return [(count, stride * size) for count, stride in dimensions if count > 1]


def _width(tensor: _core.Tensor, pitch: int | None = None) -> int:
    """Bytes from its begin to its end; with a pitch, of all its parts that are multiples of that apart."""
    parts = ((count - 1) * stride for count, stride in _byte_strides(tensor) if not pitch or stride % pitch)
    return _ELEMENT_BYTES[tensor.type] + sum(parts)


def _overlap(x: _core.Tensor, y: _core.Tensor) -> bool:
    if x.address + _width(x) <= y.address or y.address + _width(y) <= x.address:
        return False
    # Columns of one wider matrix lie in each other's gaps.
    pitches = {stride for _, stride in _byte_strides(x)} & {stride for _, stride in _byte_strides(y)}
    return not any(
        _width(x, pitch) <= (y.address - x.address) % pitch <= pitch - _width(y, pitch)
        for pitch in pitches - {0}
    )


def _check_out(tensors: Mapping[str, _core.Tensor]) -> None:
    """That it can be written, and that nothing is read of it."""
    if tensors["out"].read_only:
        raise ValueError("out is read-only")
    for name, tensor in tensors.items():
        if name != "out" and _overlap(tensor, tensors["out"]):
            raise ValueError(f"out overlaps {name}, which is read while out is written: give another out")


def _common_device(tensors: Mapping[str, _core.Tensor]) -> int:
    """The device of all that say theirs; -1 if none does. Raises ValueError for several."""
    known = {tensor.device: name for name, tensor in tensors.items() if tensor.device != -1}
    if len(known) > 1:
        places = " and ".join(f"{name} on device {device}" for device, name in known.items())
        raise ValueError(f"the arrays have to be on one device: {places}")
    return next(iter(known), -1)


def _name_of(value: int, names: dict[Any, int]) -> Any:
    return next(name for name, known in names.items() if known == value)


def _entry(problem: _core.Problem) -> dict[str, Any]:
    """The problem as suites state it (docs/cli.md)."""
    orders = (problem.order_a, problem.order_b, problem.order_c)
    activation = _name_of(problem.activation, _ACTIVATIONS)
    parts = ["bias"] if problem.bias else []
    entry = {
        "dtype": _name_of(problem.type, _TYPES),
        "math": _name_of(problem.math, _MATHS),
        "layout": "".join("n" if order == _COLUMN_MAJOR else "t" for order in orders),
        **{name: getattr(problem, name) for name in ("m", "n", "k", "lda", "ldb", "ldc", "batch")},
        "align": problem.align_bytes,
    }
    if problem.batch > 1:
        entry.update({name: getattr(problem, name) for name in ("stride_a", "stride_b", "stride_c")})
    if problem.result_type == _RESULT_F32:
        entry["out"] = "f32"
    if epilogue := ",".join(parts + ([activation] if activation else [])):
        entry["epilogue"] = epilogue
    return entry


def _alignment(addresses: Iterable[int]) -> int:
    """The class of alignment that all of them have, in bytes."""
    common = functools.reduce(lambda known, address: known | address, addresses, 0)
    return next((align for align in (256, 16, 8, 4) if common % align == 0), 2)


def _result_shape(a: _core.Tensor, b: _core.Tensor) -> tuple[int, ...]:
    for name, tensor in (("a", a), ("b", b)):
        _Matrix.of(tensor, name)
    batches = [tensor.shape[0] for tensor in (a, b) if len(tensor.shape) == 3]
    matrix = (a.shape[-2], b.shape[-1])
    return (max(batches), *matrix) if batches else matrix


def _form(tensor: _core.Tensor) -> tuple[object, ...]:
    """All but where it is."""
    return tensor.shape, tensor.strides, tensor.type, tensor.device


class _Prepared(NamedTuple):
    """A problem of addresses of one alignment, ready to run."""

    library: _core.Library
    problem: _core.Problem
    workspace_bytes: int


class Matmul:
    """A product that is computed often: out = activation(a @ b + bias).

    plan() decides which kernel runs and loads it, execute() only enqueues it. The arrays of later calls may
    be others, of the same sizes, types and strides. The first call whose addresses have another alignment
    than the arrays that it was made with (256, 16, 8, 4 and 2 bytes are told apart) plans for that, and may
    not be captured; nor may the first call whose bias is not aligned to 16 bytes.

        product = gemmtune.Matmul(a, b, bias, activation="gelu", out=c)
        product.plan()
        product.execute()               # on the framework's current stream
        product.execute(a=x)            # with another array

    Args:
        a: m x k, or a batch of them: f32, f16, bf16 or i8, of a CUDA device; rows or columns packed. Of i8
            the rows of a and the columns of b have to be.
        b: k x n, or a batch of them, of a's type. A matrix beside a batch is used by all of it.
        bias: n values of the result's type, added to each row.
        activation: applied to the sum: "relu", "gelu" (by tanh), "gelu_erf" or "silu".
        out: the result: of a's type, or f32, and i32 for i8; may not overlap the others. None: a new array
            of a's framework (PyTorch or CuPy).
        math: how products of f32 operands are formed; docs/cli.md has the modes.

    Raises:
        TypeError: no array of a CUDA device, or a type that does not go with the others.
        ValueError: sizes or strides that do not, arrays of several devices, or an out that is read-only or
            overlaps another.
    """

    def __init__(
        self,
        a: Any,
        b: Any,
        bias: Any = None,
        activation: Activation | None = None,
        out: Any = None,
        *,
        math: Math = "ieee",
    ) -> None:
        left, right = _read(a, "a"), _read(b, "b")
        if out is None:
            if not _allocates(a):
                raise TypeError(f"a result cannot be made for {_framework(a)}: give one as out")
            out = _empty(a, _result_shape(left, right), "int32" if left.type == "i8" else None)
        self.out = out
        self._tensors = {"a": left, "b": right, "out": _read(out, "out")}
        if bias is not None:
            self._tensors["bias"] = _read(bias, "bias")
        self._device = _common_device(self._tensors)
        self._problem = _problem(
            left, right, self._tensors["out"], self._tensors.get("bias"), activation, math
        )
        _check_out(self._tensors)
        self._like = a if _allocates(a) else out
        self._keep_alive = (a, b, bias)
        self._align = _alignment(self._tensors[name].address for name in ("a", "b", "out"))
        self._prepared: dict[int, _Prepared] = {}  # by alignment
        self._library: _core.Library | None = None
        self._workspaces: dict[tuple[int, int], Any] = {}  # by stream and size; graphs may hold them

    def _own_library(self) -> _core.Library:
        if self._library is None:
            self._library = _library(self._device, _allocates(self._like))
        return self._library

    def autotune(
        self,
        *,
        seconds: float | None = None,
        candidates: int | None = None,
        progress: bool = False,
    ) -> Tuned:
        """Finds the fastest kernel for this product on its GPU, stores it, and plans anew with it.

        Candidates are measured by a process of its own, on random operands that it allocates; nothing else
        should use the GPU meanwhile. What is stored already is not tried again. Not under capture. Products
        that are planned later find the result too.

        Args:
            seconds: how long to search at the most.
            candidates: how many to try at the most.
            progress: whether warnings and progress go to stderr.

        Raises:
            Error: the search failed, or no strategy computes the problem.
        """
        entry = _entry(self._stated(self._align))
        suite = {"suite": "autotune", "about": "gemmtune.Matmul.autotune", "problems": [entry]}
        device = max(self._device, 0)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "autotune.json"
            path.write_text(json.dumps(suite))
            (tuned,) = tune(
                suite=path, device=device, seconds=seconds, candidates=candidates, progress=progress
            )
        _forget_results()
        self._library, self._prepared = None, {}
        self.plan()
        return tuned

    def plan(self) -> int:
        """Decides and loads the kernel: up to about a second the first time. Not under capture.

        Returns:
            Bytes of workspace, which execute() takes from the framework.

        Raises:
            Error: nothing computes the problem here, or there is no usable GPU.
        """
        return self._prepare(self._align).workspace_bytes

    def _stated(self, align: int) -> _core.Problem:
        """The problem of addresses that are multiples of `align` bytes."""
        problem = _core.Problem(self._problem)
        problem.align_bytes = align
        return problem

    def _prepare(self, align: int) -> _Prepared:
        known = self._prepared.get(align)
        if known is None:
            library, problem = self._own_library(), self._stated(align)
            try:
                known = _Prepared(library, problem, library.prepare(problem))
            except _core.LibraryError as error:
                raise Error(str(error)) from error
            self._prepared[align] = known
        return known

    def explain(self) -> Explanation:
        """Which kernel runs for the arrays that it was made with, and why.

        Raises:
            Error: nothing computes the problem here, or there is no usable GPU.
        """
        try:
            answer = json.loads(self._own_library().explain(self._stated(self._align)))
        except _core.LibraryError as error:
            raise Error(str(error)) from error
        alternatives = tuple(Choice.of(choice) for choice in answer["alternatives"])
        return Explanation(answer["problem"], Choice.of(answer["chosen"]), alternatives, answer)

    def _with(self, arrays: Mapping[str, Any]) -> dict[str, _core.Tensor]:
        """The operands, with those arrays that are not None in place of the ones it was made with."""
        others = {name: _read(array, name) for name, array in arrays.items() if array is not None}
        for name, tensor in others.items():
            known = self._tensors.get(name)
            if known is None or _form(tensor) != _form(known):
                raise ValueError(f"{name} is not what was planned for: make another Matmul")
        tensors = self._tensors | others
        if others:
            _check_out(tensors)
        return tensors

    def _workspace(self, size: int, stream: int, is_named: bool) -> Any:
        """From the framework's pool for the stream.

        PyTorch keeps what a graph needs that it captures itself. CuPy does not, and nobody does for a stream
        that the framework need not know: the product does.
        """
        if not is_named and _framework(self._like) == "torch":
            return _empty(self._like, (size,), "uint8")
        kept = self._workspaces.get((stream, size))
        if kept is None:
            with _on_stream(self._like, stream):
                made = _empty(self._like, (size,), "uint8")
            kept = self._workspaces.setdefault((stream, size), made)
        return kept

    def execute(
        self,
        *,
        a: Any = None,
        b: Any = None,
        bias: Any = None,
        out: Any = None,
        alpha: float = 1.0,
        beta: float = 0.0,
        stream: Any = None,
    ) -> Any:
        """Enqueues out = activation(alpha * a @ b + beta * out + bias), and waits for nothing.

        May be captured into a CUDA graph once it was planned. The graph needs the arrays and, with a
        workspace, the product as long as it is launched; torch.cuda.graph keeps the workspace itself where no
        stream is named. Other graphs of one product that were captured on one stream share a workspace:
        launch one after the other. Who captures PyTorch's current stream by other means names it.

        Args:
            a, b, bias, out: arrays in place of those it was made with, of the same sizes, types and strides.
            alpha, beta: factors; out is read only where beta is not 0.
            stream: a stream of PyTorch or CuPy, or a cudaStream_t as a number. None: the framework's current
                one; without a framework, that which arrays name by __cuda_array_interface__, else the default
                one. A framework does not know what other streams do: have the stream wait for what computes
                the arrays, and keep all arrays, the result too, until it has finished (in PyTorch
                Tensor.record_stream() does).

        Returns:
            The array that will hold the result.

        Raises:
            TypeError: an array that cannot be read, or what is given as stream is no stream.
            ValueError: an array that differs from the planned one, an out that overlaps another, or arrays
                that name several streams.
            Error: the kernel cannot be started.
        """
        tensors = self._with({"a": a, "b": b, "bias": bias, "out": out})
        left, right, result = (tensors[name].address for name in ("a", "b", "out"))
        vector = tensors["bias"].address if "bias" in tensors else 0
        library, problem, bytes_needed = self._prepare(_alignment((left, right, result)))
        is_named = stream is not None
        on = _stream_number(stream) if is_named else _common_stream(self._like, tensors.values())
        workspace = self._workspace(bytes_needed, on, is_named) if bytes_needed else None
        start = 0 if workspace is None else _read(workspace, "the workspace").address
        try:
            library.run(
                problem,
                left,
                right,
                result,
                vector,
                start,
                bytes_needed,
                alpha,
                beta,
                on,
            )
        except _core.LibraryError as error:
            raise Error(str(error)) from error
        return self.out if out is None else out


def matmul(
    a: Any,
    b: Any,
    bias: Any = None,
    activation: Activation | None = None,
    out: Any = None,
    *,
    math: Math = "ieee",
    stream: Any = None,
) -> Any:
    """activation(a @ b + bias), on the framework's current stream, without waiting for it.

    The first call of a problem decides and loads its kernel. Arguments and errors are those of Matmul and its
    execute(). Matmul is for products that are computed often, and for graphs that are captured by other means
    than torch.cuda.graph, which need it to be kept.

    Returns:
        out, or a new array of a's framework.
    """
    return Matmul(a, b, bias, activation, out, math=math).execute(stream=stream)
