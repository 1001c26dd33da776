#include "cublas_preload/own/heuristic.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cublas_preload/real_functions.h"

namespace gemmtune::cublas_preload {
namespace {

using F = lt::Functions;
using Attribute = lt::PreferenceAttribute;

template <class Signature>
Signature* find(const MatmulCall& call, const char* name) {
  return reinterpret_cast<Signature*>(
      look_up_beside(reinterpret_cast<const void*>(call.function), name));
}

// What the heuristic is asked for, made by the functions of the library that was called.
class Preference {
 public:
  explicit Preference(const MatmulCall& call)
      : set_(find<F::preference_set>(call, "cublasLtMatmulPreferenceSetAttribute")),
        destroy_(find<F::preference_destroy>(call, "cublasLtMatmulPreferenceDestroy")) {
    auto* const create = find<F::preference_create>(call, "cublasLtMatmulPreferenceCreate");
    if (create == nullptr || set_ == nullptr || destroy_ == nullptr ||
        create(&made_) != lt::Status::success)
      made_ = nullptr;
  }
  ~Preference() {
    if (made_ != nullptr) destroy_(made_);
  }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;

  // Null if it could not be made.
  lt::Preference made() const { return made_; }

  template <class Value>
  bool set(Attribute attribute, const Value& value) const {
    return set_(made_, attribute, &value, sizeof(value)) == lt::Status::success;
  }

 private:
  lt::Preference made_ = nullptr;
  F::preference_set* set_;
  F::preference_destroy* destroy_;
};

// The largest power of two up to 256 that an address is a multiple of.
uint32_t alignment(const void* address) {
  const auto bits = reinterpret_cast<uintptr_t>(address) | 256;
  return static_cast<uint32_t>(bits & ~(bits - 1));
}

bool set_alignments(const Preference& preference, const CallPointers& pointers) {
  // PyTorch states that of a bias as D's.
  const uint32_t of_bias = alignment(pointers.bias);
  return preference.set(Attribute::min_alignment_a, alignment(pointers.a)) &&
         preference.set(Attribute::min_alignment_b, alignment(pointers.b)) &&
         preference.set(Attribute::min_alignment_c, alignment(pointers.c)) &&
         preference.set(Attribute::min_alignment_d, std::min(alignment(pointers.d), of_bias));
}

bool names_first(F::get_heuristic* heuristic, const MatmulCall& call, const Preference& preference,
                 const lt::Algorithm& algorithm) {
  lt::Choice choice = {};
  int returned = 0;
  const lt::Status status = heuristic(call.handle, call.operation, call.a_layout, call.b_layout,
                                      call.c_layout, call.d_layout, preference.made(),
                                      /*requested=*/1, &choice, &returned);
  return status == lt::Status::success && returned >= 1 &&
         std::memcmp(&choice.algorithm, &algorithm, sizeof(algorithm)) == 0;
}

}  // namespace

bool names_first(const MatmulCall& call, const CallPointers& pointers,
                 const lt::Algorithm& algorithm) {
  auto* const heuristic = find<F::get_heuristic>(call, "cublasLtMatmulAlgoGetHeuristic");
  const Preference preference(call);
  if (heuristic == nullptr || preference.made() == nullptr ||
      !preference.set(Attribute::max_workspace_bytes, uint64_t{call.workspace_bytes}))
    return false;
  return names_first(heuristic, call, preference, algorithm) ||
         (set_alignments(preference, pointers) &&
          names_first(heuristic, call, preference, algorithm));
}

}  // namespace gemmtune::cublas_preload
