// gemmtune._core: libgemmtune and arrays, for Python. python/gemmtune/_core.pyi documents it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/library.h"
#include "python/tensor.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): that is what they are for

namespace gemmtune::python {
namespace {

gemmtune_problem new_problem() {
  return GEMMTUNE_PROBLEM_INIT;
}

void add_tensor(nb::module_& module) {
  nb::class_<Tensor>(module, "Tensor")
      .def_ro("address", &Tensor::address)
      .def_ro("shape", &Tensor::shape)
      .def_ro("strides", &Tensor::strides)
      .def_ro("type", &Tensor::type)
      .def_ro("device", &Tensor::device)
      .def_ro("read_only", &Tensor::read_only)
      .def_ro("stream", &Tensor::stream);
  module.def("read_tensor", &read_tensor, "array"_a.none(), "is_ready"_a = false);
}

void add_problem(nb::module_& module) {
  using P = gemmtune_problem;
  nb::class_<P>(module, "Problem")
      .def("__init__", [](P* self) { new (self) P(new_problem()); })
      .def(nb::init<const P&>(), "problem"_a)
      .def_rw("type", &P::type)
      .def_rw("accumulator", &P::accumulator)
      .def_rw("math", &P::math)
      .def_rw("order_a", &P::order_a)
      .def_rw("order_b", &P::order_b)
      .def_rw("order_c", &P::order_c)
      .def_rw("m", &P::m)
      .def_rw("n", &P::n)
      .def_rw("k", &P::k)
      .def_rw("lda", &P::lda)
      .def_rw("ldb", &P::ldb)
      .def_rw("ldc", &P::ldc)
      .def_rw("batch", &P::batch)
      .def_rw("stride_a", &P::stride_a)
      .def_rw("stride_b", &P::stride_b)
      .def_rw("stride_c", &P::stride_c)
      .def_rw("align_bytes", &P::align_bytes)
      .def_rw("result_type", &P::result_type)
      .def_rw("bias", &P::bias)
      .def_rw("activation", &P::activation);
}

void add_library(nb::module_& module) {
  using O = LibraryOptions;
  nb::class_<O>(module, "Options")
      .def(nb::init<>())
      .def_rw("database", &O::database)
      .def_rw("pack", &O::pack)
      .def_rw("cache_dir", &O::cache_dir)
      .def_rw("nvrtc", &O::nvrtc)
      .def_rw("driver", &O::driver)
      .def_rw("cublaslt", &O::cublaslt)
      .def_rw("device", &O::device)
      .def_rw("flags", &O::flags)
      .def_rw("max_workspace_bytes", &O::max_workspace_bytes);
  nb::class_<Library>(module, "Library")
      .def(nb::init<const LibraryOptions&>(), "options"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("prepare", &Library::prepare, "problem"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "run",
          [](Library& library, const gemmtune_problem& problem, uintptr_t a, uintptr_t b,
             uintptr_t c, uintptr_t bias, uintptr_t workspace, size_t workspace_bytes, float alpha,
             float beta, uintptr_t stream) {
            library.run(problem, {a, b, c, bias, workspace, workspace_bytes}, alpha, beta, stream);
          },
          "problem"_a, "a"_a, "b"_a, "c"_a, "bias"_a, "workspace"_a, "workspace_bytes"_a, "alpha"_a,
          "beta"_a, "stream"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("explain", &Library::explain, "problem"_a, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace
}  // namespace gemmtune::python

NB_MODULE(_core, module) {
  using gemmtune::python::LibraryError;
  gemmtune::python::add_tensor(module);
  gemmtune::python::add_problem(module);
  gemmtune::python::add_library(module);
  nb::exception<LibraryError>(module, "LibraryError", PyExc_RuntimeError);
}
