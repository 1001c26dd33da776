// gemmtune.hpp: the C interface of libgemmtune (gemmtune.h, which says what everything means) for
// C++20: handles that free themselves, failures as exceptions, spans.
//
//     gemmtune::Handle handle = gemmtune::Handle::from_database("tuned.db");
//     gemmtune::Problem problem(4096, 4096, 4096);
//     handle.prewarm({&problem, 1});
//     handle.gemm(problem, 1.0F, a, b, 0.0F, c, workspace, bytes, stream);
#ifndef GEMMTUNE_GEMMTUNE_HPP_
#define GEMMTUNE_GEMMTUNE_HPP_

#include <gemmtune/gemmtune.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#ifndef __cpp_lib_span
#error "gemmtune.hpp needs C++20 (-std=c++20); gemmtune.h serves every C and C++"
#endif

namespace gemmtune {
// One namespace an ABI: parts of a program that were compiled with different headers do not mix.
inline namespace abi0 {
static_assert(GEMMTUNE_ABI_VERSION == 0, "the namespace has the ABI version's name");

// What a call that failed said. what() is gemmtune_last_error's text.
class Error : public std::runtime_error {
 public:
  Error(gemmtune_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}

  gemmtune_status status() const noexcept { return status_; }

 private:
  gemmtune_status status_;
};

// gemmtune_options with its defaults. Texts that it points to must live until the handle is made.
struct Options : gemmtune_options {
  Options() : gemmtune_options(GEMMTUNE_OPTIONS_INIT) {}
};

// gemmtune_problem with its defaults: row-major f32, densely packed, one product without a bias or
// an activation.
struct Problem : gemmtune_problem {
  Problem(int64_t m_, int64_t n_, int64_t k_) : gemmtune_problem(GEMMTUNE_PROBLEM_INIT) {
    m = m_;
    n = n_;
    k = k_;
  }
};
static_assert(sizeof(Problem) == sizeof(gemmtune_problem), "an array of one is one of the other");

// gemmtune_operands with its defaults: no bias, no workspace.
struct Operands : gemmtune_operands {
  Operands() : gemmtune_operands(GEMMTUNE_OPERANDS_INIT) {}
};

// Owns a gemmtune_handle. Moved from, it is empty and may only be assigned to or destroyed.
// Every function but the destructor throws Error where the C function fails.
class Handle {
 public:
  explicit Handle(const gemmtune_options& options) {
    const gemmtune_status status = gemmtune_create(&handle_, &options);
    if (status != GEMMTUNE_STATUS_SUCCESS) throw Error(status, gemmtune_last_error(nullptr));
  }
  static Handle from_database(const std::string& path, Options options = {}) {
    options.database = path.c_str();
    return Handle(options);
  }
  static Handle from_pack(const std::string& path, Options options = {}) {
    options.pack = path.c_str();
    return Handle(options);
  }
  ~Handle() { gemmtune_destroy(handle_); }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    Handle taken(std::move(other));
    std::swap(handle_, taken.handle_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  // For calls of the C interface; stays owned.
  gemmtune_handle get() const noexcept { return handle_; }

  // Problems of which the database or pack has a result that counts on the handle's GPU.
  std::size_t tuned_problems() {
    std::size_t count = 0;
    check(gemmtune_tuned_problems(handle_, &count));
    return count;
  }

  // Gets all problems ready to run.
  void prewarm(std::span<const Problem> problems) {
    check(gemmtune_prewarm(handle_, problems.data(), problems.size(), nullptr));
  }

  // The same, with a status for each problem instead of an exception for the first that failed.
  std::vector<gemmtune_status> try_prewarm(std::span<const Problem> problems) {
    std::vector<gemmtune_status> each(problems.size(), GEMMTUNE_STATUS_SUCCESS);
    const gemmtune_status first =
        gemmtune_prewarm(handle_, problems.data(), problems.size(), each.data());
    // It failed before it came to the problems.
    if (std::all_of(each.begin(), each.end(),
                    [](gemmtune_status status) { return status == GEMMTUNE_STATUS_SUCCESS; }))
      check(first);
    return each;
  }

  // Bytes of device memory, aligned to 256, that gemm() needs for the problem; may be 0.
  std::size_t workspace_bytes(const gemmtune_problem& problem) {
    std::size_t bytes = 0;
    check(gemmtune_workspace_bytes(handle_, &problem, &bytes));
    return bytes;
  }

  // Enqueues C = activation(alpha * op(A) * op(B) + beta * C), for a problem without a bias. All
  // addresses but the scalars' are the device's.
  void gemm(const gemmtune_problem& problem, float alpha, const void* a, const void* b, float beta,
            void* c, void* workspace = nullptr, std::size_t workspace_bytes = 0,
            gemmtune_stream stream = nullptr) {
    gemm(problem, &alpha, a, b, &beta, c, workspace, workspace_bytes, stream);
  }

  // The same with alpha and beta where problem.scalars says.
  void gemm(const gemmtune_problem& problem, const float* alpha, const void* a, const void* b,
            const float* beta, void* c, void* workspace = nullptr, std::size_t workspace_bytes = 0,
            gemmtune_stream stream = nullptr) {
    check(
        gemmtune_gemm(handle_, &problem, alpha, a, b, beta, c, workspace, workspace_bytes, stream));
  }

  // Enqueues C = activation(alpha * op(A) * op(B) + beta * C + bias).
  void run(const gemmtune_problem& problem, const gemmtune_operands& operands,
           gemmtune_stream stream = nullptr) {
    check(gemmtune_run(handle_, &problem, &operands, stream));
  }

  // How the problem is computed, and why.
  std::string explain(const gemmtune_problem& problem,
                      gemmtune_format format = GEMMTUNE_TEXT) const {
    std::size_t bytes = 0;
    check(gemmtune_explain(handle_, &problem, format, nullptr, 0, &bytes));
    std::string text(bytes, '\0');
    check(gemmtune_explain(handle_, &problem, format, text.data(), text.size(), &bytes));
    // Another thread may have prepared the problem in between, and the text be another.
    text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
    return text;
  }

 private:
  void check(gemmtune_status status) const {
    if (status != GEMMTUNE_STATUS_SUCCESS) throw Error(status, gemmtune_last_error(handle_));
  }

  gemmtune_handle handle_ = nullptr;
};

}  // namespace abi0
}  // namespace gemmtune

#endif  // GEMMTUNE_GEMMTUNE_HPP_
