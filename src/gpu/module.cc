#include "gpu/module.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gemmtune::gpu {
namespace {

constexpr uint32_t kElfMagic = 0x464c457f;
constexpr uint32_t kFatbinMagic = 0xba55ed50;
constexpr size_t kLogBytes = 8192;

// Binary images carry their own length; PTX is text that ends in a zero.
bool is_binary(std::span<const std::byte> image) {
  uint32_t magic = 0;
  if (image.size() < sizeof(magic)) return false;
  std::memcpy(&magic, image.data(), sizeof(magic));
  return magic == kElfMagic || magic == kFatbinMagic;
}

// The log's text on one line.
std::string one_line(std::string_view log) {
  std::string text(log.substr(0, log.find('\0')));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Result<Module> Module::load(std::shared_ptr<const Context> context,
                            std::span<const std::byte> image) {
  if (image.empty()) return cuda_error(ErrorKind::usage, "an empty image cannot be loaded");
  std::string text;
  const void* data = image.data();
  if (!is_binary(image)) {
    text.assign(reinterpret_cast<const char*>(image.data()), image.size());
    data = text.c_str();
  }
  std::array<char, kLogBytes> log{};
  std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER,
                                         CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver takes the size as a pointer's value
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  auto loaded = context->call_inside("loading a module", [&](const DriverApi& api) {
    return api.module_load_data_ex(&module, data, options.size(), options.data(), values.data());
  });
  if (!loaded) {
    CudaError failure = loaded.error();
    if (log.front() != '\0') failure.message += ": " + one_line({log.data(), log.size()});
    return tl::unexpected(std::move(failure));
  }
  return Module({std::move(context), module});
}

Result<Function> Module::function(const std::string& name) const {
  CUfunction function = nullptr;
  if (auto found = handle_.context().call_inside("finding kernel '" + name + "'",
                                                 [&](const DriverApi& api) {
                                                   return api.module_get_function(
                                                       &function, handle_.get(), name.c_str());
                                                 });
      !found) {
    return tl::unexpected(found.error());
  }
  return Function(handle_.shared_context(), function);
}

}  // namespace gemmtune::gpu
