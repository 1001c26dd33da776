"""With PyTorch and a GPU: skipped where one of them is missing."""

from __future__ import annotations

import pytest

import gemmtune
import gemmtune.torch

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not torch.cuda.is_available():
    pytest.skip("PyTorch sees no GPU", allow_module_level=True)


def test_outputs_are_those_of_plain_pytorch_within_rounding() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(768, 3072), torch.nn.GELU(approximate="tanh"), torch.nn.Linear(3072, 768)
    ).to("cuda", torch.bfloat16)
    x = torch.randn(4096, 768, device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        plain = model(x)  # the handles and descriptors of PyTorch are older than the hooks
        with gemmtune.torch.enable(compare=False) as enabled:
            tuned = model(x)
            torch.cuda.synchronize()
            report = enabled.report()
        after = model(x)
    assert report.calls == 2
    assert torch.equal(after, plain)
    torch.testing.assert_close(tuned, plain, rtol=2e-2, atol=2e-2)


def test_streams_and_graphs() -> None:
    x = torch.randn(512, 512, device="cuda")
    y = torch.randn(512, 512, device="cuda")
    expected = x @ y
    out = torch.empty_like(expected)
    with gemmtune.torch.enable(compare=False):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            torch.mm(x, y, out=out)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            torch.mm(x, y, out=out)
        out.zero_()
        graph.replay()
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-3)


def test_capture(tmp_path) -> None:  # type: ignore[no-untyped-def]
    x = torch.randn(64, 768, device="cuda", dtype=torch.float16)
    with gemmtune.capture(tmp_path / "app.json") as captured:
        for _ in range(5):
            x @ x.T
        torch.cuda.synchronize()
    assert captured.result.calls == 5


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_matmul(dtype: str) -> None:
    torch.manual_seed(0)
    a = torch.randn(256, 512, device="cuda", dtype=getattr(torch, dtype))
    b = torch.randn(768, 512, device="cuda", dtype=getattr(torch, dtype)).T
    bias = torch.randn(768, device="cuda", dtype=getattr(torch, dtype))
    tolerance = {"rtol": 2e-2, "atol": 2e-1} if dtype != "float32" else {"rtol": 1e-4, "atol": 1e-3}
    torch.testing.assert_close(gemmtune.matmul(a, b), a @ b, **tolerance)
    expected = torch.relu(a @ b + bias)
    torch.testing.assert_close(gemmtune.matmul(a, b, bias, "relu"), expected, **tolerance)
    product = gemmtune.Matmul(a, b, bias, "relu")
    product.plan()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        product.execute()
    product.out.zero_()
    graph.replay()
    torch.testing.assert_close(product.out, expected, **tolerance)
