#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gemmtune::python {

// Where an array of a framework is, and how it lies there. Values only: it does not keep the array.
struct Tensor {
  uintptr_t address = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // elements
  std::string type;              // f32, f16, bf16, or what else it is, such as "f64" or "i8"
  int device = -1;               // ordinal; -1: not said
  bool read_only = false;
  std::optional<uintptr_t> stream;  // that its work is on, if it says so; 0: the legacy default one
};

// Reads a CUDA array by DLPack, else by __cuda_array_interface__. Nothing is copied, and nothing is
// waited for: DLPack's stream is -1. Of an array that is ready none is named, since JAX refuses -1.
// TypeError for what is no array of a CUDA device, or one that says something else than the
// protocol has.
Tensor read_tensor(nanobind::handle array, bool is_ready);

}  // namespace gemmtune::python
