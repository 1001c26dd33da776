// libgemmtune_cublas.so attached to a process that runs: this program is linked to fakes of cuBLAS
// and opens the library as Python does.
#include "cublas_preload/attach/interface.h"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "../contains.h"
#include "../rounds.h"
#include "../test_folder.h"
#include "fake_calls.h"
#include "handle_calls.h"
#include "product_records.h"
#include "random_calls.h"
#include "run_calls.h"

namespace {

std::atomic<bool>& protection_is_refused() {
  static std::atomic<bool> refused = false;
  return refused;
}

}  // namespace

// In front of libc's.
extern "C" int mprotect(void* address, size_t bytes, int access) noexcept {
  if (protection_is_refused()) {
    errno = EACCES;
    return -1;
  }
  return static_cast<int>(syscall(SYS_mprotect, address, bytes, access));
}

namespace gemmtune::cublas_preload {
namespace {

using Settings = std::map<std::string, std::string>;

fake_cublas::Calls& fake() {
  return *gemmtune_fake_cublas();
}

// The library, opened; all tests use one.
class Interface {
 public:
  Interface() {
    void* const library = dlopen(GEMMTUNE_CUBLAS, RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE((library != nullptr), dlerror());
    resolve(library, "gemmtune_cublas_attach", attach_);
    resolve(library, "gemmtune_cublas_detach", detach_);
    resolve(library, "gemmtune_cublas_state", state_);
  }

  gemmtune_cublas_status attach(const Settings& settings) {
    std::vector<std::string> texts;
    for (const auto& [name, value] : settings) texts.push_back(name + "=" + value);
    std::vector<const char*> pointers;
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    pointers.push_back(nullptr);
    return attach_(pointers.data(), message_.data(), message_.size());
  }
  gemmtune_cublas_status detach() { return detach_(message_.data(), message_.size()); }
  gemmtune_cublas_attached state() const { return state_(); }
  std::string message() const { return message_.data(); }

 private:
  template <class Function>
  static void resolve(void* library, const char* name, Function& to) {
    to = reinterpret_cast<Function>(dlsym(library, name));
    REQUIRE((to != nullptr));
  }

  decltype(&gemmtune_cublas_attach) attach_ = nullptr;
  decltype(&gemmtune_cublas_detach) detach_ = nullptr;
  decltype(&gemmtune_cublas_state) state_ = nullptr;
  std::array<char, 512> message_ = {};
};

Interface& interface() {
  static Interface& opened = *new Interface;
  return opened;
}

// A folder to count into, and what is counted there; detached at the end.
struct Counting {
  TestFolder folder;
  Settings settings = {{kFolderVariable, folder.path().string()}};

  ~Counting() { interface().detach(); }
  void attach() const {
    REQUIRE_MESSAGE(interface().attach(settings) == GEMMTUNE_CUBLAS_DONE, interface().message());
  }
  std::vector<ProductRecord> records() const {
    return read_records(only_file(folder.path())).records;
  }
  uint64_t calls() const { return read_records(only_file(folder.path())).calls(); }
};

const float kOne = 1;
const float kZero = 0;

Handle handle_of(uintptr_t number) {
  return reinterpret_cast<Handle>(number << 12);  // NOLINT(performance-no-int-to-ptr)
}

lt::Status sgemm(Handle handle, int m) {
  return cublasSgemm_v2(handle, lt::Transpose::no, lt::Transpose::no, m, 8, 8, &kOne, nullptr, m,
                        nullptr, 8, &kZero, nullptr, m);
}

// The library that a call of cublasSgemm_v2 goes to.
std::string library_called() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&cublasSgemm_v2), &info);
  return info.dli_fname;
}

// The calls that the fakes have seen meanwhile.
template <class Work>
std::vector<fake_cublas::Call> seen(const Work& work) {
  fake().calls.clear();
  fake().keep = true;
  work();
  fake().keep = false;
  return fake().calls;
}

TEST_CASE("calls are counted while attached, and handed on as they are") {
  Counting counting;
  const auto plain = seen([] { sgemm(handle_of(1), 5); });
  const std::string before = library_called();
  REQUIRE(plain.size() == 1);
  counting.attach();
  CHECK(contains(library_called(), "libgemmtune_cublas.so"));
  CHECK(seen([] { sgemm(handle_of(1), 5); }) == plain);
  CHECK(counting.calls() == 1);
  fake().status = 7;
  CHECK(static_cast<int>(sgemm(handle_of(1), 5)) == 7);
  fake().status = 0;
  CHECK(counting.calls() == 1);
  CHECK(interface().detach() == GEMMTUNE_CUBLAS_DONE);
  CHECK(library_called() == before);
  CHECK(seen([] { sgemm(handle_of(1), 5); }) == plain);
  CHECK(counting.calls() == 1);
}

TEST_CASE("every entry point is handed on with its arguments") {
  Counting counting;
  counting.attach();
  CHECK(interface().state().slots >= 34);
  RandomArguments random;
  fake().keep = true;
  for (int round = 0; round < rounds(200); ++round) {
    fake().status = round % 10 == 9 ? 7 : 0;
#define GEMMTUNE_CHECK_ENTRY(name, signature) Caller<signature>::check(&name, #name, random);
    GEMMTUNE_CUBLAS_PRODUCTS(GEMMTUNE_CHECK_ENTRY)
    GEMMTUNE_CUBLAS_SETTINGS(GEMMTUNE_CHECK_ENTRY)
    GEMMTUNE_CUBLASLT_TAKEN(GEMMTUNE_CHECK_ENTRY)
  }
  fake().keep = false;
  fake().status = 0;
  CHECK(counting.calls() > 0);
}

TEST_CASE(
    "attaching again changes nothing, other settings are refused, detaching may be repeated") {
  Counting counting;
  counting.attach();
  const auto state = interface().state();
  CHECK(state.attached == 1);
  CHECK(state.objects >= 1);
  counting.attach();
  CHECK(interface().state().slots == state.slots);
  sgemm(handle_of(1), 5);
  CHECK(counting.calls() == 1);
  const Counting other;
  CHECK(interface().attach(other.settings) == GEMMTUNE_CUBLAS_REFUSED);
  CHECK(contains(interface().message(), "detach first"));
  CHECK(interface().attach({}) == GEMMTUNE_CUBLAS_REFUSED);
  CHECK(interface().detach() == GEMMTUNE_CUBLAS_DONE);
  CHECK(interface().detach() == GEMMTUNE_CUBLAS_DONE);
  CHECK(interface().state().attached == 0);
  CHECK(interface().attach({}) == GEMMTUNE_CUBLAS_REFUSED);
  CHECK(contains(interface().message(), "GEMM_TUNE_CAPTURE_DIR"));
  CHECK(interface().attach({{kFolderVariable, "/nowhere"}}) == GEMMTUNE_CUBLAS_REFUSED);
  CHECK(contains(interface().message(), "/nowhere"));
  CHECK_FALSE(contains(library_called(), "libgemmtune_cublas.so"));
  // The counts of the same settings go on.
  counting.attach();
  sgemm(handle_of(1), 5);
  CHECK(counting.calls() == 2);
}

TEST_CASE("what a handle was told before, or between, is asked of cuBLAS") {
  Counting counting;
  const Handle handle = handle_of(2);
  cublasSetMathMode(handle, MathMode::tf32);
  cublasSetPointerMode_v2(handle, lt::PointerMode::device);
  cublasSetSmCountTarget(handle, 7);
  counting.attach();
  sgemm(handle, 6);
  sgemm(handle, 6);
  REQUIRE(counting.records().size() == 1);
  const Product product = counting.records()[0].product;
  CHECK(product.math_mode == 3);
  CHECK(product.beta == Beta::on_device);
  CHECK(has(product, Oddity::sm_count));
  cublasSetMathMode(handle, MathMode::pedantic);
  sgemm(handle, 6);
  CHECK(counting.records().at(1).product.math_mode == 2);
  interface().detach();
  cublasSetMathMode(handle, MathMode::standard);
  cublasSetPointerMode_v2(handle, lt::PointerMode::host);
  counting.attach();
  cublasSetSmCountTarget(handle, 0);
  sgemm(handle, 6);
  const Product after = counting.records().at(2).product;
  CHECK(after.math_mode == 0);
  CHECK(after.beta == Beta::zero);
  CHECK_FALSE(has(after, Oddity::sm_count));
}

// A product by cublasLtMatmul.
struct Matmul {
  lt::Operation operation = nullptr;
  lt::Layout layout = nullptr;

  Matmul() {
    cublasLtMatmulDescCreate(&operation, lt::ComputeType::f32, lt::ElementType::f32);
    cublasLtMatrixLayoutCreate(&layout, lt::ElementType::f32, 24, 24, 24);
  }
  ~Matmul() {
    cublasLtMatmulDescDestroy(operation);
    cublasLtMatrixLayoutDestroy(layout);
  }
  void call() const {
    cublasLtMatmul(nullptr, operation, &kOne, nullptr, layout, nullptr, layout, &kZero, nullptr,
                   layout, nullptr, layout, nullptr, nullptr, 0, nullptr);
  }
};

TEST_CASE("descriptors say the same whenever they were made") {
  Counting counting;
  const Matmul before;
  const auto plain = seen([&] { before.call(); });
  counting.attach();
  CHECK(seen([&] { before.call(); }) == plain);
  const Matmul made;
  made.call();
  interface().detach();
  counting.attach();
  made.call();
  REQUIRE(counting.records().size() == 1);
  CHECK(counting.records()[0].calls == 3);
  CHECK(counting.records()[0].product.m == 24);
  CHECK(counting.records()[0].product.oddities == 0);
}

// --- Libraries that come and go ------------------------------------------------------------------

struct Plugin {
  void* library;
  int (*multiply)() = nullptr;

  explicit Plugin(const char* path) : library(dlopen(path, RTLD_LAZY | RTLD_LOCAL)) {
    REQUIRE_MESSAGE((library != nullptr), dlerror());
    multiply = reinterpret_cast<int (*)()>(dlsym(library, "multiply"));
  }
  void close() { dlclose(std::exchange(library, nullptr)); }
  ~Plugin() {
    if (library != nullptr) close();
  }
};

TEST_CASE("a library that is loaded later is found by attaching again, each with its own cuBLAS") {
  Counting counting;
  counting.attach();
  Plugin later(GEMMTUNE_PLUGIN_12);
  const int calls = later.multiply();
  CHECK(counting.calls() == 0);
  const auto state = interface().state();
  counting.attach();
  CHECK(interface().state().slots == state.slots + 1);
  CHECK(interface().state().objects == state.objects + 1);
  CHECK(later.multiply() == calls + 1);  // of version 12
  CHECK(counting.calls() == 1);
  Plugin third(GEMMTUNE_PLUGIN_13);
  counting.attach();
  const uint64_t products = fake().products;
  third.multiply();
  CHECK(fake().products == products + 1);  // of version 13, which is the program's
  CHECK(counting.calls() == 2);
  interface().detach();
  CHECK(later.multiply() == calls + 2);
  third.multiply();
  CHECK(counting.calls() == 2);
}

TEST_CASE("a library that is gone when it is detached from is left alone") {
  Counting counting;
  Plugin plugin(GEMMTUNE_PLUGIN_12);
  counting.attach();
  const auto state = interface().state();
  plugin.multiply();
  plugin.close();
  CHECK(interface().detach() == GEMMTUNE_CUBLAS_DONE);
  counting.attach();
  CHECK(interface().state().slots < state.slots);
  CHECK(counting.calls() == 1);
}

TEST_CASE("a child has what its parent had, and counts nothing") {
  Counting counting;
  counting.attach();
  sgemm(handle_of(1), 5);
  const pid_t child = fork();
  if (child == 0) {
    const bool handed_on = sgemm(handle_of(1), 5) == lt::Status::success;
    const bool detached = interface().detach() == GEMMTUNE_CUBLAS_DONE;
    _exit(handed_on && detached && !contains(library_called(), "gemmtune") ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(counting.calls() == 1);
  sgemm(handle_of(1), 5);
  CHECK(counting.calls() == 2);
}

TEST_CASE("where an address cannot be changed, none is") {
  Counting counting;
  const std::string before = library_called();
  protection_is_refused() = true;
  CHECK(interface().attach(counting.settings) == GEMMTUNE_CUBLAS_FAILED);
  protection_is_refused() = false;
  CHECK(contains(interface().message(), "nothing was changed"));
  CHECK(interface().state().attached == 0);
  CHECK(library_called() == before);
  sgemm(handle_of(1), 5);
  CHECK(counting.calls() == 0);
  counting.attach();
  protection_is_refused() = true;
  CHECK(interface().detach() == GEMMTUNE_CUBLAS_FAILED);
  protection_is_refused() = false;
  CHECK(interface().state().attached == 1);
  sgemm(handle_of(1), 5);
  CHECK(counting.calls() == 1);
}

TEST_CASE("threads call all the while, and every call reaches cuBLAS once") {
  const Counting counting;
  const uint64_t before = fake().products;
  std::atomic<bool> ended = false;
  std::atomic<uint64_t> calls = 0;
  std::vector<std::thread> threads;
  for (uintptr_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      while (!ended) {
        cublasSetMathMode(handle_of(t + 10), MathMode::tf32);
        sgemm(handle_of(t + 10), 9);
        const Matmul matmul;
        matmul.call();
        calls += 3;
      }
    });
  }
  for (int i = 0; i < rounds(200); ++i) {
    counting.attach();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    REQUIRE(interface().detach() == GEMMTUNE_CUBLAS_DONE);
  }
  ended = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(fake().products - before == calls);
  for (const ProductRecord& record : counting.records()) {
    if (record.product.m == 9) CHECK(record.product.math_mode == 3);
    if (record.product.m == 24) CHECK(record.product.oddities == 0);
  }
  CHECK(counting.calls() > 0);
}

// --- Own kernels ---------------------------------------------------------------------------------

TEST_CASE("own kernels compute for a handle that is older, on the stream that it was given") {
  Call call;
  call.way = Way::gemm;
  call.m = call.n = call.k = 24;
  // For good: the kernels that were loaded stay.
  static Process& process = *new Process({won_by(problem_of_call(call))}, /*in_environment=*/false);
  std::mt19937 random(3);
  const Arguments plain(call, random);
  const std::vector<float> untouched = plain.c.values();
  REQUIRE(process.call(call, plain) == lt::Status::success);
  CHECK(plain.c.values() == untouched);
  REQUIRE_MESSAGE(interface().attach(process.settings()) == GEMMTUNE_CUBLAS_DONE,
                  interface().message());
  const Arguments own(call, random);
  CHECK(process.call(call, own) == lt::Status::success);
  CHECK(own.c.values() == own.expected);
  // Under capture of that stream the kernel is added to the graph, and nothing is computed.
  CUgraph graph = nullptr;
  REQUIRE(cuStreamBeginCapture(process.stream(), CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  const Arguments captured(call, random);
  const std::vector<float> before = captured.c.values();
  CHECK(process.call(call, captured) == lt::Status::success);
  CHECK(captured.c.values() == before);
  REQUIRE(cuStreamEndCapture(process.stream(), &graph) == CUDA_SUCCESS);
  cuGraphDestroy(graph);
  CHECK(process.gpu().misuses().empty());
  CHECK(interface().detach() == GEMMTUNE_CUBLAS_DONE);
  const Arguments after(call, random);
  REQUIRE(process.call(call, after) == lt::Status::success);
  CHECK(after.c.values() != after.expected);
}

}  // namespace
}  // namespace gemmtune::cublas_preload
