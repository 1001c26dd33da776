"""libgemmtune's C interface (include/gemmtune/gemmtune.h), and the reading of CUDA arrays."""

from typing import overload

class LibraryError(RuntimeError):
    """A call of libgemmtune that failed, with what it says."""

class Tensor:
    """Where an array is, and how it lies there."""

    @property
    def address(self) -> int: ...
    @property
    def shape(self) -> list[int]: ...
    @property
    def strides(self) -> list[int]:
        """Elements."""
    @property
    def type(self) -> str:
        """f32, f16, bf16, or another such as f64 or i8."""
    @property
    def device(self) -> int:
        """Ordinal; -1 where the array does not say."""
    @property
    def read_only(self) -> bool: ...
    @property
    def stream(self) -> int | None:
        """That its work is on, where it says so; 0 for the legacy default stream."""

def read_tensor(array: object, is_ready: bool = False) -> Tensor:
    """Reads a CUDA array by DLPack (stream=-1: nothing is waited for), else by __cuda_array_interface__.

    DLPack is told no stream for an array that is ready: JAX refuses -1. Raises TypeError for what is no array of a CUDA device.
    """

class Problem:
    """gemmtune_problem; a new one is GEMMTUNE_PROBLEM_INIT, or a copy."""

    type: int
    accumulator: int
    math: int
    order_a: int
    order_b: int
    order_c: int
    m: int
    n: int
    k: int
    lda: int
    ldb: int
    ldc: int
    batch: int
    stride_a: int
    stride_b: int
    stride_c: int
    align_bytes: int
    result_type: int
    bias: int
    activation: int

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, problem: Problem) -> None: ...

class Options:
    """gemmtune_options; an empty text is one that is not given."""

    database: str
    pack: str
    cache_dir: str
    nvrtc: str
    driver: str
    cublaslt: str
    device: int
    flags: int
    max_workspace_bytes: int

    def __init__(self) -> None: ...

class Library:
    """A handle of libgemmtune. Thread-safe. Failures are LibraryError."""

    def __init__(self, options: Options) -> None: ...
    def prepare(self, problem: Problem) -> int:
        """Gets the problem ready to run; bytes of workspace that it takes."""
    def run(
        self,
        problem: Problem,
        a: int,
        b: int,
        c: int,
        bias: int,
        workspace: int,
        workspace_bytes: int,
        alpha: float,
        beta: float,
        stream: int,
    ) -> None:
        """Enqueues a product; addresses and the stream are numbers, 0 for none."""
    def explain(self, problem: Problem) -> str:
        """What is run for the problem, and why, as JSON."""
