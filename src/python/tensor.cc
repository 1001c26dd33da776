#include "python/tensor.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <utility>

#include "python/dlpack.h"

namespace nb = nanobind;

namespace gemmtune::python {
namespace {

constexpr char kCapsule[] = "dltensor";
constexpr char kTakenCapsule[] = "used_dltensor";
constexpr int kNoSynchronisation = -1;

[[noreturn]] void refuse(nb::handle array, const std::string& why) {
  const std::string type = nb::cast<std::string>(nb::str(nb::handle(array.type())));
  throw nb::type_error((why + ": " + type).c_str());
}

std::vector<int64_t> packed_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * shape[i - 1];
  return strides;
}

std::string type_name(const dlpack::DataType& type) {
  using dlpack::TypeCode;
  const char* letters = type.code == TypeCode::integer            ? "i"
                        : type.code == TypeCode::unsigned_integer ? "u"
                        : type.code == TypeCode::floating         ? "f"
                        : type.code == TypeCode::bfloat           ? "bf"
                                                                  : "other";
  return letters + std::to_string(type.bits) +
         (type.lanes == 1 ? "" : "x" + std::to_string(type.lanes));
}

Tensor of_dlpack(const dlpack::Array& array) {
  Tensor tensor;
  tensor.address = reinterpret_cast<uintptr_t>(array.data) + array.byte_offset;
  tensor.shape.assign(array.shape, array.shape + array.dimensions);
  tensor.strides = array.strides == nullptr
                       ? packed_strides(tensor.shape)
                       : std::vector<int64_t>(array.strides, array.strides + array.dimensions);
  tensor.type = type_name(array.type);
  tensor.device = array.device.id;
  return tensor;
}

bool is_cuda(dlpack::DeviceType type) {
  return type == dlpack::DeviceType::cuda || type == dlpack::DeviceType::cuda_managed;
}

nb::object capsule_of(nb::handle array, bool is_ready) {
  const nb::object export_array = array.attr("__dlpack__");
  return is_ready ? export_array() : export_array(nb::arg("stream") = kNoSynchronisation);
}

Tensor read_dlpack(nb::handle array, bool is_ready) {
  const auto device = nb::cast<std::pair<int32_t, int32_t>>(array.attr("__dlpack_device__")());
  if (!is_cuda(static_cast<dlpack::DeviceType>(device.first)))
    refuse(array, "not an array of a CUDA device");
  const nb::object capsule = capsule_of(array, is_ready);
  auto* const managed =
      static_cast<dlpack::ManagedArray*>(PyCapsule_GetPointer(capsule.ptr(), kCapsule));
  if (managed == nullptr) throw nb::python_error();
  const Tensor tensor = of_dlpack(managed->array);
  // The array itself stays, its owner has it: only the view is given back.
  PyCapsule_SetName(capsule.ptr(), kTakenCapsule);
  if (managed->deleter != nullptr) managed->deleter(managed);
  return tensor;
}

// "<f4" as f32.
std::string type_of_typestr(const std::string& text) {
  if (text.size() < 3) return text;
  const char kind = text[1];
  const int bits = 8 * std::stoi(text.substr(2));
  return std::string(1, kind) + std::to_string(bits);
}

int64_t bytes_of_typestr(const std::string& text) {
  return text.size() < 3 ? 1 : std::stoll(text.substr(2));
}

Tensor read_cuda_interface(nb::handle array) {
  const auto interface = nb::cast<nb::dict>(array.attr("__cuda_array_interface__"));
  Tensor tensor;
  tensor.address = nb::cast<uintptr_t>(nb::cast<nb::tuple>(interface["data"])[0]);
  const auto typestr = nb::cast<std::string>(interface["typestr"]);
  tensor.type = type_of_typestr(typestr);
  for (const nb::handle size : nb::cast<nb::tuple>(interface["shape"]))
    tensor.shape.push_back(nb::cast<int64_t>(size));
  if (!interface.contains("strides") || interface["strides"].is_none()) {
    tensor.strides = packed_strides(tensor.shape);
    return tensor;
  }
  for (const nb::handle stride : nb::cast<nb::tuple>(interface["strides"])) {
    const auto bytes = nb::cast<int64_t>(stride);
    if (bytes % bytes_of_typestr(typestr) != 0)
      refuse(array, "strides that are no multiple of an element");
    tensor.strides.push_back(bytes / bytes_of_typestr(typestr));
  }
  return tensor;
}

}  // namespace

Tensor read_tensor(nb::handle array, bool is_ready) {
  if (nb::hasattr(array, "__dlpack__") && nb::hasattr(array, "__dlpack_device__"))
    return read_dlpack(array, is_ready);
  if (nb::hasattr(array, "__cuda_array_interface__")) return read_cuda_interface(array);
  refuse(array, "neither DLPack nor __cuda_array_interface__");
}

}  // namespace gemmtune::python
