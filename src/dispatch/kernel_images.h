#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codegen/kernel_spec.h"
#include "core/arch.h"
#include "core/error.h"
#include "dispatch/pack_file.h"
#include "jit/compiler.h"

namespace gemmtune::dispatch {

// Where machine code comes from: a pack, else the compiler behind its cache, else the cache alone.
// Thread-safe. NVRTC is opened when it is first needed.
class KernelImages {
 public:
  struct Sources {
    std::shared_ptr<const Pack> pack;        // null: none
    std::shared_ptr<jit::CubinCache> cache;  // null: none
    bool may_compile = true;
    std::vector<std::string> nvrtc_candidates;  // see jit::Nvrtc::load
  };

  explicit KernelImages(Sources sources);

  // The machine code of codegen::emit(spec), for spec.arch. The error says why there is none.
  Expected<std::vector<std::byte>> find(const codegen::KernelSpec& spec);

 private:
  Expected<std::shared_ptr<const jit::Compiler>> compiler();

  Sources sources_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::shared_ptr<const jit::Compiler> compiler_;
  std::string why_no_compiler_;
};

}  // namespace gemmtune::dispatch
