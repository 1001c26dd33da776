#include "cublas_preload/attach/called_functions.h"

#include <algorithm>
#include <new>

namespace gemmtune::cublas_preload {

CalledFunctions& CalledFunctions::of_process() {
  alignas(CalledFunctions) static unsigned char storage[sizeof(CalledFunctions)];
  static CalledFunctions* const made = new (storage) CalledFunctions;
  return *made;
}

void CalledFunctions::remember(uintptr_t object, const char* name, void* function) {
  const std::lock_guard lock(mutex_);
  for (Called& known : called_) {
    if (known.object != object || known.name != name) continue;
    known.function = function;
    return;
  }
  called_.push_back({object, name, function});
}

bool CalledFunctions::remember_first(uintptr_t object, const char* name, void* function) {
  const std::lock_guard lock(mutex_);
  for (const Called& known : called_) {
    if (known.object == object && known.name == name) return known.function == function;
  }
  called_.push_back({object, name, function});
  return true;
}

void CalledFunctions::forget_all_but(const LoadedAddresses& loaded) {
  const std::lock_guard lock(mutex_);
  std::erase_if(called_, [&](const Called& known) {
    return !loaded.contain(known.object) ||
           !loaded.contain(reinterpret_cast<uintptr_t>(known.function));
  });
}

void* CalledFunctions::find(uintptr_t object, std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(called_.begin(), called_.end(), [&](const Called& candidate) {
    return candidate.object == object && candidate.name == name;
  });
  return known == called_.end() ? nullptr : known->function;
}

void* CalledFunctions::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  void* common = nullptr;
  for (const Called& known : called_) {
    if (known.name != name) continue;
    if (common != nullptr && common != known.function) return nullptr;
    common = known.function;
  }
  return common;
}

}  // namespace gemmtune::cublas_preload
