#pragma once

#include <cstdint>

// DLPack's structures, as https://dmlc.github.io/dlpack/latest/c_api.html states them: what a
// capsule named "dltensor" holds.
namespace gemmtune::python::dlpack {

enum class DeviceType : int32_t { cuda = 2, cuda_managed = 13 };

struct Device {
  DeviceType type;
  int32_t id;
};

enum class TypeCode : uint8_t { integer = 0, unsigned_integer = 1, floating = 2, bfloat = 4 };

struct DataType {
  TypeCode code;
  uint8_t bits;
  uint16_t lanes;
};

struct Array {
  void* data;
  Device device;
  int32_t dimensions;
  DataType type;
  int64_t* shape;
  int64_t* strides;  // elements; null: packed, row-major
  uint64_t byte_offset;
};

struct ManagedArray {
  Array array;
  void* context;
  void (*deleter)(ManagedArray*);
};

}  // namespace gemmtune::python::dlpack
