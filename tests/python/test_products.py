"""gemmtune.matmul and Matmul on a fake GPU."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import threading
import types
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from arrays import DlpackArray, InterfaceArray, JaxArray
from conftest import Gpu

import gemmtune
from gemmtune import products

SIZE = 24
COUNT = SIZE * SIZE
SQUARE = (SIZE, SIZE)


@pytest.fixture(autouse=True)
def _fresh_library(gpu: Gpu) -> Any:
    products._forget_results()
    return gpu


def numbers(count: int, step: int) -> list[float]:
    return [float(i * step % 7 - 3) for i in range(count)]


def product(a: list[float], b: list[float], bias: list[float] | None = None) -> list[float]:
    rows = []
    for i in range(SIZE):
        for j in range(SIZE):
            value = sum(a[i * SIZE + k] * b[k * SIZE + j] for k in range(SIZE))
            rows.append(value if bias is None else max(value + bias[j], 0.0))
    return rows


@pytest.mark.parametrize("kind", [InterfaceArray, DlpackArray])
def test_a_product_of_matrices(kind: Any) -> None:
    a, b = numbers(COUNT, 3), numbers(COUNT, 5)
    shape = (SIZE, SIZE)
    out = kind([9.0] * COUNT, shape)
    assert gemmtune.matmul(kind(a, shape), kind(b, shape), out=out) is out
    assert out.values() == product(a, b)


def test_arrays_of_jax() -> None:
    a, b = JaxArray(numbers(COUNT, 3), SQUARE), JaxArray(numbers(COUNT, 5), SQUARE)
    out = DlpackArray([9.0] * COUNT, SQUARE)
    gemmtune.matmul(a, b, out=out)
    assert out.values() == product(numbers(COUNT, 3), numbers(COUNT, 5))
    assert a.streams == [None]


@pytest.mark.parametrize(("type_name", "out_type"), [("f16", "f16"), ("f16", "f32"), ("bf16", "bf16")])
def test_types(type_name: str, out_type: str) -> None:
    a = [float(i % 3 - 1) for i in range(COUNT)]
    b = [float(i % 2) for i in range(COUNT)]
    shape = (SIZE, SIZE)
    out = DlpackArray([9.0] * COUNT, shape, out_type)
    gemmtune.matmul(DlpackArray(a, shape, type_name), DlpackArray(b, shape, type_name), out=out)
    assert out.values() == product(a, b)


def test_bias_and_activation() -> None:
    a, b, bias = numbers(COUNT, 3), numbers(COUNT, 5), numbers(SIZE, 2)
    shape = (SIZE, SIZE)
    out = InterfaceArray([9.0] * COUNT, shape)
    gemmtune.matmul(
        InterfaceArray(a, shape), InterfaceArray(b, shape), InterfaceArray(bias, (SIZE,)), "relu", out
    )
    assert out.values() == product(a, b, bias)


def test_a_transposed_operand_is_read_where_it_lies() -> None:
    a, b = numbers(COUNT, 3), numbers(COUNT, 5)
    turned = [b[j * SIZE + i] for i in range(SIZE) for j in range(SIZE)]
    shape = (SIZE, SIZE)
    out = InterfaceArray([9.0] * COUNT, shape)
    right = InterfaceArray(turned, shape, strides=(1, SIZE))
    gemmtune.matmul(InterfaceArray(a, shape), right, out=out)
    assert out.values() == product(a, b)


def test_a_batch() -> None:
    a, b = numbers(3 * COUNT, 3), numbers(3 * COUNT, 5)
    shape = (3, SIZE, SIZE)
    out = DlpackArray([9.0] * 3 * COUNT, shape)
    gemmtune.matmul(DlpackArray(a, shape), DlpackArray(b, shape), out=out)
    for i in range(3):
        part = slice(i * COUNT, (i + 1) * COUNT)
        assert out.values()[part] == product(a[part], b[part])


def test_dlpack_is_asked_without_synchronising_and_given_back() -> None:
    shape = (SIZE, SIZE)
    arrays = [DlpackArray(numbers(COUNT, 3), shape) for _ in range(3)]
    gemmtune.matmul(arrays[0], arrays[1], out=arrays[2])
    for array in arrays:
        assert set(array.streams) == {-1}
        assert array.given_back == len(array.streams)


class Shifted(DlpackArray):
    """A view that begins some bytes into its memory."""

    def __init__(self, values: list[float], shape: tuple[int, ...], offset: int) -> None:
        super().__init__([0.0] * (offset // 4) + values, shape)
        self.offset = offset

    def __dlpack__(self, stream: int | None = None) -> Any:
        capsule = super().__dlpack__(stream)
        self._managed.array.data = self.memory.address + self.offset
        return capsule


def captured(gpu: Gpu, enqueue: Callable[[int], object]) -> None:
    """Captures what is enqueued, and launches the graph."""
    cuda, pointer = gpu.library, ctypes.c_void_p
    stream, graph, ready = pointer(gpu.stream()), pointer(), pointer()
    assert cuda.cuStreamBeginCapture_v2(stream, 1) == 0
    try:
        enqueue(int(stream.value or 0))
    finally:
        assert cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
    assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(ready), graph, ctypes.c_ulonglong(0)) == 0
    assert cuda.cuGraphLaunch(ready, stream) == 0
    assert cuda.cuStreamSynchronize(stream) == 0


@pytest.mark.parametrize("offset", [0, 16])
def test_a_planned_product_of_any_alignment_may_be_captured(gpu: Gpu, offset: int) -> None:
    a, b = numbers(COUNT, 3), numbers(COUNT, 5)
    out = DlpackArray([9.0] * COUNT, SQUARE)
    planned = gemmtune.Matmul(Shifted(a, SQUARE, offset), DlpackArray(b, SQUARE), out=out)
    planned.plan()
    captured(gpu, lambda stream: planned.execute(stream=stream))
    assert out.values() == product(a, b)


def test_the_workspace_is_that_of_the_alignment(
    gpu: Gpu, torch_stand_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel for arrays of another alignment than the planned one's may need another workspace."""
    needed = {256: 0, 16: 1024}
    given = []

    class Library:
        def prepare(self, problem: Any) -> int:
            return needed[problem.align_bytes]

        def run(self, problem: Any, *arguments: Any) -> None:
            given.append((problem.align_bytes, arguments[5]))

    torch_stand_in.uint8 = "uint8"
    torch_stand_in.cuda = types.SimpleNamespace(
        current_stream=lambda device: types.SimpleNamespace(cuda_stream=0),
        device=lambda device: nullcontext(),
    )
    monkeypatch.setattr(products, "_library", lambda device, with_workspace: Library())
    plain = Tensor(numbers(COUNT, 3), SQUARE)
    planned = gemmtune.Matmul(plain, plain)
    assert planned.plan() == 0
    planned.execute()
    planned.execute(a=Shifted(numbers(COUNT, 3), SQUARE, 16))
    assert given == [(256, 0), (16, 1024)]


def part(of: DlpackArray, shape: tuple[int, ...], strides: tuple[int, ...], first: int) -> Any:
    """A view of an array, from one of its elements on."""

    class View(DlpackArray):
        def __dlpack__(self, stream: int | None = None) -> Any:
            capsule = super().__dlpack__(stream)
            self._managed.array.data = of.memory.address + 4 * first
            return capsule

    return View([0.0], shape, strides=strides)


def test_a_result_that_overlaps_an_operand_is_refused(gpu: Gpu) -> None:
    a, b = DlpackArray(numbers(COUNT, 3), SQUARE), DlpackArray(numbers(COUNT, 5), SQUARE)
    out = DlpackArray([9.0] * COUNT, SQUARE)
    last_row = part(out, (SIZE,), (1,), COUNT - SIZE)
    for name, others in {"a": (a, b, None), "b": (b, a, None), "bias": (b, b, last_row)}.items():
        result = out if name == "bias" else a
        with pytest.raises(ValueError, match=f"out overlaps {name}"):
            gemmtune.matmul(*others, out=result)
    planned = gemmtune.Matmul(a, b, out=out)
    launches = gpu.launches()
    with pytest.raises(ValueError, match="out overlaps a"):
        planned.execute(a=out)
    assert gpu.launches() == launches
    planned.execute(a=out, out=a)
    assert gpu.launches() == launches + 1


def test_a_result_between_the_columns_of_an_operand_is_none_that_overlaps() -> None:
    wide = DlpackArray(numbers(2 * COUNT, 3), (SIZE, 2 * SIZE))
    b = DlpackArray(numbers(COUNT, 5), SQUARE)
    pitch = (2 * SIZE, 1)
    gemmtune.Matmul(part(wide, SQUARE, pitch, 0), b, out=part(wide, SQUARE, pitch, SIZE))
    gemmtune.Matmul(part(wide, SQUARE, pitch, SIZE), b, out=part(wide, SQUARE, pitch, 0))
    with pytest.raises(ValueError, match="out overlaps a"):
        gemmtune.Matmul(part(wide, SQUARE, pitch, 0), b, out=part(wide, SQUARE, pitch, SIZE - 1))
    # Beside a batch whose matrices lie beside each other, as heads do.
    pitch = (4 * SIZE, 1)
    heads = DlpackArray(numbers(4 * COUNT, 3), (SIZE, 4 * SIZE))
    two = products._read(part(heads, (2, SIZE, SIZE), (SIZE, *pitch), 0), "a")
    places = [products._read(part(heads, SQUARE, pitch, i * SIZE), "out") for i in range(4)]
    assert [products._overlap(two, out) for out in places] == [True, True, False, False]


class Tensor(DlpackArray):
    """What is used of a torch.Tensor."""

    dtype = "float32"
    device = "cuda:0"
    is_cuda = True

    def new_empty(self, shape: tuple[int, ...], dtype: str) -> Tensor:
        count = 1
        for size in shape:
            count *= size
        assert dtype in ("float32", "uint8", "int32")
        if dtype == "int32":
            return Tensor([9] * count, shape, "i32")
        return Tensor([9.0] * (count if dtype == "float32" else count // 4 + 1), shape)


Tensor.__module__ = "torch"


def test_pytorch_allocates_the_result_and_names_the_stream(
    gpu: Gpu, torch_stand_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    stream = gpu.stream()

    def current_stream(device: str) -> types.SimpleNamespace:
        asked.append(device)
        return types.SimpleNamespace(cuda_stream=stream)

    torch_stand_in.uint8 = "uint8"
    torch_stand_in.cuda = types.SimpleNamespace(
        current_stream=current_stream, device=lambda device: nullcontext()
    )
    a, b = numbers(COUNT, 3), numbers(COUNT, 5)
    out = gemmtune.matmul(Tensor(a, SQUARE), Tensor(b, SQUARE))
    assert isinstance(out, Tensor)
    assert out.values() == product(a, b)
    assert asked == ["cuda:0"]
    torch_stand_in.int32 = "int32"
    turned = Tensor([1] * COUNT, SQUARE, "i8", strides=(1, SIZE))
    planned = gemmtune.Matmul(Tensor([1] * COUNT, SQUARE, "i8"), turned)
    assert planned.out.memory.type == "i32"
    planned = gemmtune.Matmul(Tensor(a, SQUARE), Tensor(b, SQUARE))
    planned.execute(stream=stream)
    assert planned.out.values() == product(a, b)
    # A stream that the GPU does not have: the kernel cannot be started on it.
    with pytest.raises(gemmtune.Error):
        planned.execute(stream=stream + 4096)
    batch = gemmtune.Matmul(Tensor(a * 3, (3, SIZE, SIZE)), Tensor(b, SQUARE))
    assert batch.out.shape == (3, SIZE, SIZE)


class Streams:
    """The streams of a framework that allocates for the current one, and kernels that need a workspace."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, framework: str) -> None:
        self.current = 7
        self.device = 0
        self.asked: list[int] = []  # the device whose stream was asked for
        self.libraries: list[int] = []
        self.allocated: list[int] = []  # the stream that each workspace was allocated for
        self.living: weakref.WeakSet[Any] = weakref.WeakSet()
        self.runs: list[tuple[int, int]] = []  # streams and workspaces
        streams = self

        class Library:
            def __init__(self, workspace_bytes: int) -> None:
                self.workspace_bytes = workspace_bytes

            def prepare(self, problem: Any) -> int:
                return self.workspace_bytes

            def run(self, problem: Any, *arguments: Any) -> None:
                streams.runs.append((arguments[-1], arguments[4]))

        class ExternalStream:
            def __init__(self, stream: int, device: Any = None) -> None:
                assert stream or framework == "cupy", "PyTorch makes a new stream for 0"
                self.stream, self.before = stream, 0

            def __enter__(self) -> None:
                self.before, streams.current = streams.current, self.stream

            def __exit__(self, *what: object) -> None:
                streams.current = self.before

        class DefaultStream(ExternalStream):
            def __init__(self) -> None:
                self.stream, self.before = 0, 0

        class Device:
            """As cupy.cuda.Device, and in the place of torch.device."""

            def __init__(self, index: int) -> None:
                self.index, self.before = index, 0

            def __enter__(self) -> None:
                self.before, streams.device = streams.device, self.index

            def __exit__(self, *what: object) -> None:
                streams.device = self.before

        def current_stream(device: Device | None = None) -> types.SimpleNamespace:
            streams.asked.append(streams.device if device is None else device.index)
            return types.SimpleNamespace(cuda_stream=self.current, ptr=self.current)

        module = types.ModuleType(framework)
        module.uint8 = "uint8"  # type: ignore[attr-defined]
        module.empty = lambda shape, dtype: self.empty(shape)  # type: ignore[attr-defined]
        module.cuda = types.SimpleNamespace(  # type: ignore[attr-defined]
            current_stream=current_stream,
            get_current_stream=current_stream,
            ExternalStream=ExternalStream,
            default_stream=lambda device: DefaultStream(),
            stream=lambda stream: stream,
            device=lambda device: device,
        )
        monkeypatch.setitem(sys.modules, framework, module)

        def library(device: int, with_workspace: bool) -> Library:
            streams.libraries.append(device)
            return Library(1024 if with_workspace else 0)

        class Array(DlpackArray):
            dtype = "float32"
            is_cuda = True

            @property
            def device(self) -> Device:
                return Device(self.dlpack_device[1])

            def __dlpack__(self, stream: int | None = None) -> Any:
                if streams.device != self.dlpack_device[1]:
                    raise BufferError("Can't export tensors on a different CUDA device index")
                return super().__dlpack__(stream)

            def new_empty(self, shape: tuple[int, ...], dtype: str) -> Any:
                with self.device:
                    return streams.empty(shape)

        monkeypatch.setattr(products, "_library", library)
        Array.__module__ = framework
        self.kind = Array

    def empty(self, shape: tuple[int, ...]) -> Any:
        self.allocated.append(self.current)
        array = self.kind([0.0] * (shape[0] // 4), shape, device=(2, self.device))
        self.living.add(array)
        return array

    def array(self, device: int = 0) -> Any:
        return self.kind(numbers(COUNT, 3), SQUARE, device=(2, device))

    def product(self) -> gemmtune.Matmul:
        return gemmtune.Matmul(self.array(), self.array(), out=self.array())


@pytest.mark.parametrize("framework", ["torch", "cupy"])
def test_the_workspace_is_allocated_for_the_stream_that_it_is_used_on(
    monkeypatch: pytest.MonkeyPatch, framework: str
) -> None:
    streams = Streams(monkeypatch, framework)
    planned = streams.product()
    for stream in (5, 5, 6):
        planned.execute(stream=stream)
    assert streams.allocated == [5, 6]  # for as long as the product is there: graphs may hold them
    assert [stream for stream, _ in streams.runs] == [5, 5, 6]
    assert streams.runs[0] == streams.runs[1]
    assert streams.runs[1][1] != streams.runs[2][1]
    assert len(streams.living) == 2
    planned.execute()
    assert streams.allocated == [5, 6, 7]
    assert streams.current == 7
    gc.collect()
    assert len(streams.living) == (2 if framework == "torch" else 3)  # PyTorch's graphs have pools
    del planned
    gc.collect()
    assert not streams.living


@pytest.mark.parametrize("framework", ["torch", "cupy"])
def test_the_default_stream_may_be_named(monkeypatch: pytest.MonkeyPatch, framework: str) -> None:
    streams = Streams(monkeypatch, framework)
    streams.product().execute(stream=0)
    assert streams.allocated == [0]
    assert [stream for stream, _ in streams.runs] == [0]


@pytest.mark.parametrize("framework", ["torch", "cupy"])
def test_arrays_of_derived_types_are_of_the_framework(
    monkeypatch: pytest.MonkeyPatch, framework: str
) -> None:
    streams = Streams(monkeypatch, framework)
    streams.kind = type("Derived", (streams.kind,), {"__module__": "somewhere.arrays"})
    streams.product().execute()
    assert [stream for stream, _ in streams.runs] == [streams.current]


@pytest.mark.parametrize("framework", ["torch", "cupy"])
def test_arrays_of_another_gpu_than_the_current_one(
    monkeypatch: pytest.MonkeyPatch, framework: str
) -> None:
    streams = Streams(monkeypatch, framework)
    unknown = InterfaceArray(numbers(COUNT, 3), SQUARE)  # does not say its device
    planned = gemmtune.Matmul(unknown, unknown, out=streams.array(device=1))
    planned.execute()
    planned.execute(stream=5)
    assert (streams.libraries, streams.asked, streams.device) == ([1], [1], 0)
    assert [array.dlpack_device for array in streams.living] == [(2, 1)] * len(streams.living)
    assert len(streams.runs) == 2


@pytest.mark.parametrize("name", ["b", "out", "bias"])
def test_arrays_of_several_gpus_are_refused(name: str) -> None:
    arrays = {name: DlpackArray([0.0] * COUNT, SQUARE) for name in ("b", "out")}
    shape = (SIZE,) if name == "bias" else SQUARE
    arrays[name] = DlpackArray([0.0] * COUNT, shape, device=(2, 1))
    for a in (DlpackArray([0.0] * COUNT, SQUARE), InterfaceArray([0.0] * COUNT, SQUARE)):
        with pytest.raises(ValueError, match=f"{name} on device 1|{name} on device 0 and"):
            gemmtune.Matmul(a, **arrays)


def test_a_planned_product_is_only_enqueued(gpu: Gpu) -> None:
    a, b = numbers(COUNT, 3), numbers(COUNT, 5)
    shape = (SIZE, SIZE)
    out = InterfaceArray([9.0] * COUNT, shape)
    planned = gemmtune.Matmul(InterfaceArray(a, shape), InterfaceArray(b, shape), out=out)
    launches = gpu.launches()
    assert planned.plan() == 0
    assert gpu.launches() == launches
    assert planned.explain().chosen.strategy == "naive"
    assert planned.execute() is out
    assert gpu.launches() == launches + 1
    assert out.values() == product(a, b)
    other, other_out = InterfaceArray(b, shape), InterfaceArray([9.0] * COUNT, shape)
    assert planned.execute(a=other, out=other_out) is other_out
    assert other_out.values() == product(b, b)
    planned.execute(alpha=2.0, beta=1.0)
    assert out.values() == [3 * value for value in product(a, b)]
    with pytest.raises(ValueError, match="not what was planned for"):
        planned.execute(a=InterfaceArray(a, shape, strides=(1, SIZE)))


def test_autotune_tunes_this_problem_and_plans_with_what_was_found(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    a, b = numbers(COUNT, 3), numbers(COUNT, 5)
    out = InterfaceArray([9.0] * COUNT, SQUARE)
    found_db = os.environ["GEMM_TUNE_DB"]
    monkeypatch.delenv("GEMM_TUNE_DB")  # what is shipped
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    planned = gemmtune.Matmul(InterfaceArray(a, SQUARE), InterfaceArray(b, SQUARE), out=out)
    other = gemmtune.Matmul(InterfaceArray(a, SQUARE), InterfaceArray(b, SQUARE), out=out)
    libraries = [product._own_library() for product in (planned, other)]  # know nothing of it
    asked = []
    result = object()

    def tune(*, suite: Path, **arguments: Any) -> list[object]:
        asked.append((json.loads(suite.read_text())["problems"], arguments))
        monkeypatch.setenv("GEMM_TUNE_DB", found_db)
        return [result]

    monkeypatch.setattr(products, "tune", tune)
    assert planned.autotune(seconds=2) is result
    sizes = {name: SIZE for name in ("m", "n", "k", "lda", "ldb", "ldc")}
    ((problem,), arguments) = asked[0]
    assert problem.pop("align") in (256, 16, 8, 4)
    assert problem == {"dtype": "f32", "math": "ieee", "layout": "ttt", "batch": 1, **sizes}
    assert arguments == {"device": 0, "seconds": 2, "candidates": None, "progress": False}
    assert planned.explain().chosen.strategy == "naive"
    planned.execute()
    assert out.values() == product(a, b)
    assert libraries == [other._own_library()] * 2  # what may be in a graph stays as it is


def test_a_library_that_graphs_may_hold_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    class Watched(products._core.Library):
        pass

    monkeypatch.setattr(products._core, "Library", Watched)
    monkeypatch.setattr(products, "tune", lambda **arguments: [object()])
    array = InterfaceArray(numbers(COUNT, 3), SQUARE)
    planned = gemmtune.Matmul(array, array, out=InterfaceArray([9.0] * COUNT, SQUARE))
    planned.plan()
    library = weakref.ref(planned._own_library())
    planned.autotune()
    assert planned._own_library() is not library()
    gc.collect()
    assert library() is not None


def test_threads_that_come_first_share_a_library() -> None:
    arrays = [InterfaceArray(numbers(COUNT, 3), SQUARE) for _ in range(8)]
    together = threading.Barrier(4)
    libraries = []

    def first(left: InterfaceArray, out: InterfaceArray) -> None:
        planned = gemmtune.Matmul(left, left, out=out)
        together.wait()
        planned.execute()
        libraries.append(planned._own_library())

    threads = [threading.Thread(target=first, args=arrays[2 * i : 2 * i + 2]) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert libraries == [libraries[0]] * 4


def test_other_threads_go_on_while_a_kernel_is_prepared(gpu: Gpu, tmp_path: Path) -> None:
    """By run(), which does that for some biases. Opening a pipe waits for who writes into it."""
    pipe = tmp_path / "libnvrtc.so"
    os.mkfifo(pipe)
    options = products._core.Options()
    options.database, options.nvrtc = os.environ["GEMM_TUNE_DB"], str(pipe)
    library = products._core.Library(options)
    a, b, out = (DlpackArray([0.0] * 1600, (40, 40)) for _ in range(3))
    problem = gemmtune.Matmul(a, b, activation="silu", out=out)._problem
    write = "import sys, time\ntime.sleep(1)\nwhile True: open(sys.argv[1], 'w').write('no library')"
    writer = subprocess.Popen([sys.executable, "-c", write, pipe], stderr=subprocess.DEVNULL)
    ended, ticks = threading.Event(), []

    def tick() -> None:
        while not ended.wait(0.01):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        with pytest.raises(products._core.LibraryError, match="libnvrtc"):
            addresses = [array.memory.address for array in (a, b, out)]
            library.run(problem, *addresses, 0, 0, 0, 1.0, 0.0, 0)
        assert len(ticks) > 20
    finally:
        ended.set()
        writer.kill()
        writer.wait()
        thread.join()


def test_a_suite_states_all_of_a_problem() -> None:
    wide = DlpackArray([0.0] * 3 * COUNT, (3, SIZE, SIZE), "bf16")
    turned = DlpackArray([0.0] * COUNT, SQUARE, "bf16", strides=(1, SIZE))
    bias = DlpackArray([0.0] * SIZE, (SIZE,), "f32")
    out = DlpackArray([0.0] * 3 * COUNT, (3, SIZE, SIZE), "f32")
    planned = gemmtune.Matmul(wide, turned, bias, "gelu", out)
    entry = products._entry(planned._stated(16))
    sizes = {name: SIZE for name in ("m", "n", "k", "lda", "ldb", "ldc")}
    strides = {"stride_a": COUNT, "stride_b": 0, "stride_c": COUNT}
    types = {"dtype": "bf16", "out": "f32", "math": "ieee", "layout": "tnt"}
    assert entry == {**types, **sizes, **strides, "batch": 3, "align": 16, "epilogue": "bias,gelu"}
    assert [products._alignment([n, 512]) for n in (256, 272, 8, 4, 6)] == [256, 16, 8, 4, 2]


def test_integers_have_sums_and_a_result_of_i32() -> None:
    turned = DlpackArray([0] * COUNT, SQUARE, "i8", strides=(1, SIZE))
    out = DlpackArray([0] * COUNT, SQUARE, "i32")
    planned = gemmtune.Matmul(DlpackArray([0] * COUNT, SQUARE, "i8"), turned, out=out)
    assert planned._problem.accumulator == products._I32
    assert planned._problem.result_type == products._RESULT_OF_OPERANDS
    entry = products._entry(planned._stated(256))
    assert (entry["dtype"], entry["layout"], "out" in entry) == ("i8", "tnt", False)


@pytest.mark.parametrize(
    ("a", "b", "arguments", "error", "words"),
    [
        (object(), (SQUARE, "f32"), {}, TypeError, "a cannot be read as a CUDA array"),
        (None, (SQUARE, "f32"), {}, TypeError, "neither DLPack nor __cuda_array_interface__"),
        ((SQUARE, "f64"), (SQUARE, "f64"), {}, TypeError, "a is f64"),
        ((SQUARE, "f16"), (SQUARE, "f32"), {}, TypeError, "of one type"),
        (((SIZE, 8), "f32"), (SQUARE, "f32"), {}, ValueError, "8 columns and b has 24 rows"),
        (((SIZE,), "f32"), (SQUARE, "f32"), {}, ValueError, "2 or 3 dimensions"),
        ((SQUARE, "f32"), (SQUARE, "f32"), {"activation": "tanh"}, ValueError, "not known: relu"),
        ((SQUARE, "f32"), (SQUARE, "f32"), {"math": "fp8"}, ValueError, "not known: ieee"),
        ((SQUARE, "f16"), (SQUARE, "f16"), {"math": "tf32"}, ValueError, "for f32 operands"),
        ((SQUARE, "f32"), (SQUARE, "f32"), {"out": None}, TypeError, "give one as out"),
        ((SQUARE, "f32"), (SQUARE, "f32"), {"out": ((8, 8), "f32")}, ValueError, "hold 24 x 24"),
        ((SQUARE, "f32"), (SQUARE, "f32"), {"out": (SQUARE, "f16")}, TypeError, "has to be f32"),
        ((SQUARE, "i8"), (SQUARE, "i8"), {}, TypeError, "out is f32; it has to be i32"),
        ((SQUARE, "f32"), (SQUARE, "f32"), {"bias": ((8,), "f32")}, ValueError, "vector of 24"),
        ((SQUARE, "f32"), (SQUARE, "f32"), {"bias": ((SIZE,), "f16")}, TypeError, "bias is f16"),
    ],
)
def test_what_is_no_product_is_refused(
    gpu: Gpu, a: Any, b: Any, arguments: Any, error: type[Exception], words: str
) -> None:
    def array(what: Any) -> Any:
        if not isinstance(what, tuple):
            return what
        shape, type_name = what
        count = 1
        for size in shape:
            count *= size
        return DlpackArray([0.0] * count, shape, type_name)

    options = {name: array(value) for name, value in arguments.items()}
    options.setdefault("out", array((SQUARE, "f32")))
    launches = gpu.launches()
    with pytest.raises(error, match=words):
        gemmtune.matmul(array(a), array(b), **options)
    assert gpu.launches() == launches


class Stating(InterfaceArray):
    """States something else in its __cuda_array_interface__; None: a field that is missing."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(numbers(COUNT, 3), SQUARE)
        self.fields = fields

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        stated = super().__cuda_array_interface__ | self.fields
        return {name: value for name, value in stated.items() if value is not None}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"mask": object()}, "mask is not supported"),
        ({"typestr": ">f4"}, "typestr is of another byte order"),
        ({"typestr": "f4"}, "typestr is not known: f4"),
        ({"typestr": "<f"}, "typestr is not known: <f"),
        ({"typestr": "<f0"}, "typestr is not known: <f0"),
        ({"typestr": "<M8[ns]"}, r"typestr is not known: <M8\[ns\]"),
        ({"typestr": None}, "typestr is missing"),
        ({"typestr": 4}, "typestr has to be a text"),
        ({"data": None}, "data is missing"),
        ({"data": 256}, "data has to be an address and"),
        ({"shape": 24}, "shape has to be a tuple of numbers"),
        ({"strides": (4,)}, "strides are of another number of dimensions"),
        ({"strides": (96, 3)}, "strides are no multiples of an element"),
        ({"stream": "main"}, "stream has to be a number"),
    ],
)
def test_a_malformed_interface_is_refused_by_the_field(fields: dict[str, Any], words: str) -> None:
    out = InterfaceArray([9.0] * COUNT, SQUARE)
    with pytest.raises(TypeError, match=f"a cannot be read as a CUDA array: .*{words}"):
        gemmtune.matmul(Stating(**fields), InterfaceArray(numbers(COUNT, 5), SQUARE), out=out)


def test_a_read_only_result_is_refused() -> None:
    a, out = Stating(), Stating()
    out.fields = {"data": (out.memory.address, True)}
    gemmtune.Matmul(out, a, out=InterfaceArray([9.0] * COUNT, SQUARE))
    with pytest.raises(ValueError, match="out is read-only"):
        gemmtune.Matmul(a, a, out=out)


def test_arrays_run_on_the_stream_that_they_name(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = Streams(monkeypatch, "torch")
    plain, out = Stating(), Stating(stream=1)
    gemmtune.matmul(plain, plain, out=out)
    gemmtune.matmul(Stating(stream=5), plain, out=Stating(stream=5))
    gemmtune.matmul(Stating(stream=7), plain, out=streams.array())
    with pytest.raises(ValueError, match="of several streams"):
        gemmtune.matmul(Stating(stream=5), plain, out=out)
    with pytest.raises(ValueError, match="of several streams"):
        gemmtune.matmul(Stating(stream=5), plain, out=streams.array())
    gemmtune.matmul(Stating(stream=5), plain, out=out, stream=6)
    assert [stream for stream, _ in streams.runs] == [0, 5, 7, 6]


def test_a_stream_is_a_number_or_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = Streams(monkeypatch, "torch")
    planned = streams.product()
    for stream in (5, types.SimpleNamespace(cuda_stream=6), types.SimpleNamespace(ptr=8)):
        planned.execute(stream=stream)
    assert [stream for stream, _ in streams.runs] == [5, 6, 8]
    assert streams.allocated == [5, 6, 8]
    for other in ("main", 5.0, object()):
        with pytest.raises(TypeError, match="it has to be a cudaStream_t as a number, or a stream"):
            planned.execute(stream=other)


def test_tracers_of_jax_are_refused() -> None:
    tracer = type("Tracer", (), {"__module__": "jax._src.core"})
    derived = type("DynamicJaxprTracer", (tracer,), {"__module__": "jax._src.interpreters.partial_eval"})
    plain = DlpackArray([0.0] * COUNT, SQUARE)
    with pytest.raises(TypeError, match="b is a tracer of JAX"):
        gemmtune.matmul(plain, derived(), out=plain)
    unlike = type("Array", (), {"__module__": "jax"})  # no block_until_ready()
    with pytest.raises(TypeError, match="a cannot be read as a CUDA array"):
        gemmtune.matmul(unlike(), plain, out=plain)


def test_what_cannot_be_explained_is_an_error() -> None:
    plain = DlpackArray(numbers(COUNT, 5), SQUARE)
    between = Shifted(numbers(COUNT, 3), SQUARE, 2)  # a multiple of half an element
    planned = gemmtune.Matmul(between, plain, out=DlpackArray([9.0] * COUNT, SQUARE))
    for ask in (planned.explain, planned.plan):
        with pytest.raises(gemmtune.Error, match="alignment is 2 bytes"):
            ask()


@pytest.mark.parametrize("strides", [(0, SIZE, 1), (SIZE, SIZE, 1), (SIZE, 3 * SIZE, 1), (-COUNT, SIZE, 1)])
def test_matrices_of_a_result_lie_one_after_the_other(strides: tuple[int, ...]) -> None:
    shape = (3, SIZE, SIZE)
    a, b, out = (DlpackArray([0.0] * 3 * COUNT, shape) for _ in range(3))
    with pytest.raises(ValueError, match="strides"):
        gemmtune.Matmul(a, b, out=DlpackArray([0.0] * 3 * COUNT, shape, strides=strides))
    wide = DlpackArray([0.0] * 3 * COUNT, shape, strides=(SIZE, 3 * SIZE, 1))
    gemmtune.Matmul(wide, b, out=out)  # of what is only read they need not


def test_strides_that_are_no_matrix_are_refused() -> None:
    plain = InterfaceArray([0.0] * COUNT, SQUARE)
    every_second = InterfaceArray([0.0] * 2 * COUNT, SQUARE, strides=(2 * SIZE, 2))
    with pytest.raises(ValueError, match=r"copy it first"):
        gemmtune.matmul(every_second, plain, out=plain)


def test_arrays_of_the_host_are_refused() -> None:
    plain = DlpackArray([0.0] * COUNT, SQUARE)
    host = DlpackArray([0.0] * COUNT, SQUARE, device=(1, 0))
    with pytest.raises(TypeError, match="not an array of a CUDA device"):
        gemmtune.matmul(host, plain, out=plain)
