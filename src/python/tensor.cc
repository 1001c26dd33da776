#include "python/tensor.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <charconv>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "python/dlpack.h"

namespace nb = nanobind;

namespace gemmtune::python {
namespace {

constexpr char kCapsule[] = "dltensor";
constexpr char kTakenCapsule[] = "used_dltensor";
constexpr int kNoSynchronisation = -1;
constexpr uintptr_t kLegacyDefaultStream = 1;  // of __cuda_array_interface__

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

// --- __cuda_array_interface__
// ----------------------------------------------------------------------

[[noreturn]] void refuse_field(const char* name, const std::string& why) {
  throw nb::type_error((std::string("__cuda_array_interface__: ") + name + " " + why).c_str());
}

bool has_field(const nb::dict& interface, const char* name) {
  return interface.contains(name) && !interface[name].is_none();
}

template <class T>
T field(const nb::dict& interface, const char* name, const char* what) {
  T value;
  if (!interface.contains(name)) refuse_field(name, "is missing");
  if (!nb::try_cast(interface[name], value)) refuse_field(name, std::string("has to be ") + what);
  return value;
}

struct ElementType {
  char kind;
  int64_t bytes;
};

// Of "<f4", for instance.
ElementType element_type(const std::string& typestr) {
  ElementType type{};
  const char* const end = typestr.data() + typestr.size();
  if (typestr.size() >= 3) {
    type.kind = typestr[1];
    const auto [rest, error] = std::from_chars(typestr.data() + 2, end, type.bytes);
    if (error != std::errc() || rest != end) type.bytes = 0;
  }
  if (type.bytes < 1 || type.bytes > 64) refuse_field("typestr", "is not known: " + typestr);
  if (typestr[0] != '<' && typestr[0] != '|')
    refuse_field("typestr", "is of another byte order than this machine's: " + typestr);
  return type;
}

std::vector<int64_t> element_strides(const std::vector<int64_t>& byte_strides, int64_t bytes) {
  std::vector<int64_t> strides;
  for (const int64_t stride : byte_strides) {
    if (stride % bytes != 0) refuse_field("strides", "are no multiples of an element");
    strides.push_back(stride / bytes);
  }
  return strides;
}

Tensor read_cuda_interface(nb::handle array) {
  nb::dict interface;
  if (!nb::try_cast(array.attr("__cuda_array_interface__"), interface))
    refuse(array, "__cuda_array_interface__ is no dict");
  if (has_field(interface, "mask")) refuse_field("mask", "is not supported: fill the array first");
  const auto [address, read_only] = field<std::pair<uintptr_t, nb::object>>(
      interface, "data", "an address and whether it is read-only");
  const auto typestr = field<std::string>(interface, "typestr", "a text");
  const ElementType type = element_type(typestr);
  Tensor tensor;
  tensor.address = address;
  tensor.read_only = nb::cast<bool>(nb::bool_(read_only));
  tensor.type = type.kind + std::to_string(8 * type.bytes);
  tensor.shape = field<std::vector<int64_t>>(interface, "shape", "a tuple of numbers");
  tensor.strides = packed_strides(tensor.shape);
  if (has_field(interface, "strides")) {
    tensor.strides = element_strides(
        field<std::vector<int64_t>>(interface, "strides", "a tuple of numbers"), type.bytes);
    if (tensor.strides.size() != tensor.shape.size())
      refuse_field("strides", "are of another number of dimensions than the shape");
  }
  if (has_field(interface, "stream")) {
    const auto stream = field<uintptr_t>(interface, "stream", "a number");
    tensor.stream = stream == kLegacyDefaultStream ? 0 : stream;
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
