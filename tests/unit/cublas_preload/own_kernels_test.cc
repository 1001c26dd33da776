// Which calls run on own kernels, and which go to cuBLAS.
#include "cublas_preload/own/own_kernels.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include "../rounds.h"
#include "cublas_preload/own/slower_here.h"
#include "cublas_preload/product_problem.h"
#include "cublas_preload/recorder.h"
#include "own_process.h"
#include "product_records.h"

namespace gemmtune::cublas_preload {
namespace {

TEST_CASE_FIXTURE(Process, "a problem whose kernel won runs on it") {
  CHECK(is_own(f32_call()));
  CHECK(c.floats()[0] == 2 * 3 * kSize);
  CHECK(run().ran == Ran::own);
  CHECK(run().own_calls == 1);
  CHECK(run().tuned_us == 10);
  CHECK(run().tuned_vendor_us == 17);
  CHECK(text() == "naive tile_m=8 tile_n=32, measured on this device");
}

TEST_CASE("a kernel that is hardly ahead does not run where C is read, which was not measured") {
  dispatch_test::Tuned close = won_by(f32_problem());
  close.vendor_us = 10.2;
  Process process({close});
  CHECK(process.is_own(f32_call()));
  Asked reading = f32_call();
  reading.product.beta = Beta::other;
  reading.pointers.beta = &kTwo;
  CHECK_FALSE(process.is_own(reading));
  CHECK(process.text(1) == "not ahead by enough where C is read");
  reading.product.beta = Beta::on_device;
  CHECK_FALSE(process.is_own(reading));
  CHECK(process.is_own(f32_call()));
}

TEST_CASE_FIXTURE(Process, "a kernel that is far ahead runs also where C is read") {
  Asked reading = f32_call();
  reading.product.beta = Beta::other;
  reading.pointers.beta = &kTwo;
  CHECK(is_own(reading));
  CHECK(c.floats()[0] == 2 * 3 * kSize + 2 * 5);
}

TEST_CASE("a problem that was not tuned runs on the kernel of one with other leading dimensions") {
  Problem wider = f32_problem();
  wider.lda = kSize + 16;  // rows begin on multiples of 32 bytes, as they do in the call
  Process process({won_by(wider)});
  CHECK(process.is_own(f32_call()));
  CHECK(process.c.floats()[0] == 2 * 3 * kSize);
  CHECK(process.run().ran == Ran::own);
  CHECK(process.run().tuned_us == 10);
  CHECK(process.run().tuned_vendor_us == 17);
  CHECK(process.text() ==
        "naive tile_m=8 tile_n=32, 1.70 times as fast as cuBLASLt for "
        "f32/f32/ieee/ttt/24x24x24/ld=24,40,24, measured on this device");
}

TEST_CASE("a problem runs on cuBLAS where no kernel won") {
  dispatch_test::Tuned lost = won_by(f32_problem(8));
  lost.vendor_us = 5;
  dispatch_test::Tuned alone = won_by(f32_problem(16));
  alone.vendor.reset();
  dispatch_test::Tuned vendor_only = won_by(f32_problem(32));
  vendor_only.kernel.reset();
  Process process({lost, alone, vendor_only, won_by(f32_problem())});
  for (const auto& [m, why] :
       {std::pair(8, "cuBLASLt is faster"), std::pair(16, "never compared with cuBLASLt"),
        std::pair(32, "no own kernel was measured"), std::pair(25, "not tuned")}) {
    CHECK_FALSE(process.is_own(f32_call(m)));
    const auto records = read_records(process.library.folder.file("products")).records;
    CHECK(records.back().run.text.data() == std::string(why));
    CHECK(records.back().run.ran == Ran::cublas);
  }
}

// --- Algorithms of cuBLASLt's
// ----------------------------------------------------------------------

// The second of those that the fake library's heuristic names, by its own number, is the fastest.
constexpr int kFastest = 2;

dispatch_test::Tuned won_by_algorithm() {
  dispatch_test::Tuned tuned = won_by(f32_problem());
  tuned.time_us = 11;
  tuned.vendor_us = 10;
  tuned.first_us = 12;
  return tuned;
}

// The same of another product, of which no kernel is known.
dispatch_test::Tuned won_by_algorithm(const Product& product) {
  dispatch_test::Tuned tuned = won_by_algorithm();
  tuned.problem = canonical(problem_of(product).value());
  tuned.kernel.reset();
  return tuned;
}

// A call of types whose k is contiguous in both operands.
Asked k_major_call(lt::ElementType type, lt::ElementType result) {
  Asked asked = f32_call();
  Product& product = asked.product;
  product.transpose_a = lt::Transpose::yes;
  product.a.ld = kSize;
  product.a.type = product.b.type = type;
  product.d.type = result;
  return asked;
}

TEST_CASE("a problem runs on cuBLASLt's fastest algorithm where that is not the first one") {
  Process process({won_by_algorithm()});
  CHECK(process.is_by_algorithm(f32_call(), kFastest));
  CHECK(process.c.floats()[0] == 2 * 3 * kSize);
  CHECK(process.library.blas.last.workspace_bytes >= 1024);
  CHECK(process.run().ran == Ran::algorithm);
  CHECK(process.run().own_calls == 1);
  CHECK(process.run().tuned_us == 10);
  CHECK(process.run().tuned_vendor_us == 12);
  CHECK(process.text() ==
        "cuBLASLt " + dispatch_test::vendor_config(1) + ", measured on this device");
  {
    const Capturing capturing(process);
    CHECK(process.is_by_algorithm(f32_call(), kFastest));
  }
  CHECK(process.run().own_graph_calls == 1);
}

TEST_CASE("where this cuBLASLt lacks the algorithm, a kernel runs that is ahead of the first one") {
  dispatch_test::Tuned tuned = won_by_algorithm();
  SUBCASE("ahead") {
    Process process({tuned});
    process.library.blas.offered = 1;
    CHECK(process.is_own(f32_call()));
    CHECK(process.run().ran == Ran::own);
    CHECK(process.run().tuned_us == 11);
  }
  SUBCASE("not ahead") {
    tuned.time_us = 12;
    Process process({tuned});
    process.library.blas.offered = 1;
    CHECK_FALSE(process.is_own(f32_call()));
    CHECK(process.run().ran == Ran::cublas);
    CHECK(process.text() == "this cuBLASLt does not have its fastest algorithm, or names it first");
  }
  SUBCASE("no cuBLASLt at all") {
    Process process({tuned});
    process.settings.cublaslt_names = {"libnowhere.so"};
    CHECK(process.is_own(f32_call()));
  }
}

TEST_CASE(
    "a kernel that is level with cuBLASLt runs where the program's workspace is too small for "
    "that") {
  dispatch_test::Tuned tuned = won_by(f32_problem());
  tuned.vendor_us = tuned.time_us;
  Asked asked = f32_call();
  asked.product.workspace_bytes = 1024;
  SUBCASE("the heuristic's choice goes by the workspace") {
    Process process({tuned});
    process.library.blas.first_wants_bytes = 4096;
    CHECK(process.is_own(asked));
    CHECK(process.run().ran == Ran::own);
    asked.product.workspace_bytes = 8192;
    CHECK_FALSE(process.is_own(asked));
    asked.product.workspace_bytes = Product::kOwnWorkspace;  // the handle's
    CHECK_FALSE(process.is_own(asked));
  }
  SUBCASE("it does not") {
    Process process({tuned});
    CHECK_FALSE(process.is_own(asked));
    CHECK(process.text() == "cuBLASLt is as fast");
  }
  SUBCASE("cuBLASLt is ahead") {
    tuned.vendor_us = tuned.time_us / 1.02;
    Process process({tuned});
    process.library.blas.first_wants_bytes = 4096;
    CHECK_FALSE(process.is_own(asked));
    CHECK(process.text() == "cuBLASLt is faster");
  }
}

TEST_CASE("an algorithm that fails is not tried again") {
  Process process({won_by_algorithm()});
  CHECK(process.is_by_algorithm(f32_call(), kFastest));
  process.library.blas.fail = "cublasLtMatmul";
  CHECK_FALSE(process.is_own(f32_call()));
  CHECK_FALSE(process.is_own(f32_call()));
  CHECK(process.run().detours[static_cast<size_t>(Detour::failure)] == 2);
  CHECK(process.run().ran == Ran::algorithm);
  CHECK(process.text().find("an algorithm of cuBLASLt's that failed: ") == 0);
}

TEST_CASE("an algorithm of cuBLASLt's reads biases by 16 bytes: others are left to the program's") {
  Asked asked = f32_call();
  asked.product.epilogue = lt::Epilogue::bias;
  Process process({won_by_algorithm(asked.product)});
  const Memory bias(7);
  asked.pointers.bias = bias.floats() + 1;
  CHECK_FALSE(process.is_own(asked));
  asked.pointers.bias = bias.floats() + 4;
  CHECK(process.is_by_algorithm(asked, kFastest));
  CHECK(process.c.floats()[0] == 2 * 3 * kSize + 7);
}

// A product of 8-bit operands with those scales, A's at `scales`.
Asked scaled_call(ProductScales kind, const Memory& scales) {
  Asked asked = k_major_call(lt::ElementType::e4m3, lt::ElementType::bf16);
  asked.product.scales = kind;
  asked.pointers.scale_a = scales.floats();
  return asked;
}

TEST_CASE("scales of 8-bit operands go along, if they are aligned to their elements") {
  const Memory scales(1);
  Asked asked = scaled_call(ProductScales::outer_vector, scales);
  Process process({won_by_algorithm(asked.product)});
  asked.pointers.scale_b =
      reinterpret_cast<const float*>(reinterpret_cast<const char*>(scales.floats()) + 2);
  CHECK_FALSE(process.is_own(asked));
  asked.pointers.scale_b = scales.floats() + kSize;
  CHECK(process.is_by_algorithm(asked, kFastest));
  CHECK(process.library.blas.last.a_scale == asked.pointers.scale_a);
  CHECK(process.library.blas.last.b_scale == asked.pointers.scale_b);
}

TEST_CASE("scales of blocks are copied by TMA: others than aligned ones are left to cuBLASLt") {
  const Memory scales(1);
  Asked asked = scaled_call(ProductScales::block_by_vec128, scales);
  Process process({won_by_algorithm(asked.product)});
  asked.pointers.scale_b = scales.floats() + 1;
  CHECK_FALSE(process.is_own(asked));
  asked.pointers.scale_b = scales.floats() + 4;
  CHECK(process.is_by_algorithm(asked, kFastest));
  CHECK(process.library.blas.last.a_scale_mode == lt::ScaleMode::blk128x128);
  CHECK(process.library.blas.last.b_scale_mode == lt::ScaleMode::vec128);
}

TEST_CASE("integers run with integer scalars, unless f32 has not those") {
  Asked asked = k_major_call(lt::ElementType::i8, lt::ElementType::i32);
  Product& product = asked.product;
  product.scale_type = lt::ElementType::i32;
  product.compute = lt::ComputeType::i32;
  const int32_t zero = 0;
  int32_t alpha = -3;
  asked.pointers.alpha = &alpha;
  asked.pointers.beta = &zero;
  Process process({won_by_algorithm(product)});
  CHECK(process.is_by_algorithm(asked, kFastest));
  CHECK(std::memcmp(process.library.blas.last.alpha, &alpha, sizeof(alpha)) == 0);
  alpha = (1 << 24) + 1;
  CHECK_FALSE(process.is_own(asked));
  alpha = 1 << 24;
  CHECK(process.is_by_algorithm(asked, kFastest));
  product.beta = Beta::on_device;
  CHECK_FALSE(process.is_own(asked));
}

TEST_CASE("an algorithm computes nothing where C is read") {
  dispatch_test::Tuned tuned = won_by_algorithm();
  tuned.kernel.reset();
  Process process({tuned});
  CHECK(process.is_by_algorithm(f32_call(), kFastest));
  Asked reading = f32_call();
  reading.product.beta = Beta::other;
  reading.pointers.beta = &kTwo;
  CHECK_FALSE(process.is_own(reading));
}

// --- Calls that are handed on, of a problem that has a kernel
// --------------------------------------

using Change = std::function<void(Asked&)>;

void check_detour(Process& process, Detour detour, const Change& change) {
  Asked asked = f32_call();
  change(asked);
  REQUIRE(process.is_own(f32_call()));
  CHECK_FALSE(process.is_own(asked));
  CHECK(process.run().detours[static_cast<size_t>(detour)] == 1);
  CHECK(process.is_own(f32_call()));
}

TEST_CASE_FIXTURE(Process, "where alpha is 0, operands may be anything, and cuBLAS knows best") {
  check_detour(*this, Detour::operands, [](Asked& asked) { asked.pointers.alpha = &kZero; });
}

TEST_CASE_FIXTURE(Process, "a handle that is not known is not ours") {
  check_detour(*this, Detour::operands, [](Asked& asked) { asked.handle_known = false; });
}

TEST_CASE("the caller's algorithm is replaced as the user says") {
  using Override = RunSettings::Override;
  const lt::Algorithm first = {{1, 2, 3}};
  const lt::Algorithm other = {{1, 2, 4}};
  for (const Override override : {Override::never, Override::first, Override::always}) {
    Process process;
    process.settings.override = override;
    CHECK(process.is_own(f32_call()));
    Product asked_for = f32_call().product;
    asked_for.align_bytes = 1;
    process.recorder->own_kernels()->note_choice(asked_for, first, true);
    process.recorder->own_kernels()->note_choice(asked_for, other, false);
    const auto is_own = [&](AlgorithmChoice choice, const lt::Algorithm* algorithm) {
      Asked asked = f32_call();
      asked.choice = choice;
      asked.algorithm = algorithm;
      return process.is_own(asked);
    };
    CHECK(is_own(AlgorithmChoice::caller, &first) == (override != Override::never));
    CHECK(is_own(AlgorithmChoice::caller, &other) == (override == Override::always));
    CHECK(is_own(AlgorithmChoice::hint, nullptr) == (override != Override::never));
    // A function of cuBLAS with an algorithm of a later version.
    CHECK_FALSE(is_own(AlgorithmChoice::caller, nullptr));
  }
}

TEST_CASE("what changes f32 for cuBLAS leaves f32 to it") {
  Process process;
  process.settings.f32_is_cublas = true;
  CHECK_FALSE(process.is_own(f32_call()));
}

TEST_CASE("f32 products are computed by tf32 products where the user asks for it") {
  const auto in_mode = [](int m, MathMode math) {
    Problem problem = f32_problem(m);
    problem.math = math;
    return won_by(problem);
  };
  const std::vector<dispatch_test::Tuned> results = {in_mode(8, MathMode::tf32x3),
                                                     in_mode(16, MathMode::ieee)};
  {
    Process plain(results);
    CHECK_FALSE(plain.is_own(f32_call(8)));
    CHECK(plain.text() == "not tuned");
  }
  {
    Process other(results);
    other.settings.f32_math = MathMode::bf16x6;
    CHECK_FALSE(other.is_own(f32_call(8)));
  }
  Process split(results);
  split.settings.f32_math = MathMode::tf32x3;
  CHECK(split.is_own(f32_call(8)));
  CHECK(split.c.floats()[0] == 2 * 3 * kSize);
  CHECK(split.text().ends_with(", measured on this device, by 3xtf32"));
  CHECK(split.is_own(f32_call(16)));  // as f32: there is no kernel in that mode
  CHECK(split.text(1) == "naive tile_m=8 tile_n=32, measured on this device");
  CHECK_FALSE(split.is_own(f32_call(24)));
  // Other modes are what the program asks for.
  Asked tf32 = f32_call(8);
  tf32.product.math_mode = static_cast<int>(vendor::blas::MathMode::tf32);
  CHECK_FALSE(split.is_own(tf32));
  Asked pedantic = f32_call(8);
  pedantic.product.math_mode = static_cast<int>(vendor::blas::MathMode::pedantic);
  CHECK_FALSE(split.is_own(pedantic));
}

TEST_CASE("what is no mode that is as exact as f32 changes no setting") {
  for (const auto& [text, mode] :
       {std::pair("", std::optional<MathMode>()), std::pair("tf32", std::optional<MathMode>()),
        std::pair("nonsense", std::optional<MathMode>()),
        std::pair("3xtf32", std::optional(MathMode::tf32x3)),
        std::pair("bf16x9", std::optional(MathMode::bf16x9))}) {
    const auto settings = RunSettings::from([&, text = text](const char* name) {
      return std::string(name) == kF32Variable ? text : "";
    });
    CHECK(settings.f32_math == mode);
  }
}

TEST_CASE("products that are no problem of ours, or in pedantic math, are handed on") {
  const std::vector<std::pair<Change, std::string>> changes = {
      {[](Asked& x) { x.product.math_mode = 2; }, "pedantic math"},
      {[](Asked& x) { x.product.compute = static_cast<lt::ComputeType>(69); }, "pedantic math"},
      {[](Asked& x) { x.product.math_mode = 4; }, "math mode 4 (emulation)"},
      {[](Asked& x) { x.product.compute = static_cast<lt::ComputeType>(78); }, "compute type 78"},
      {[](Asked& x) { add(x.product, Oddity::sm_count); }, "a limit on multiprocessors"},
      {[](Asked& x) { add(x.product, Oddity::attribute); },
       "scales of results or of one operand alone, amax or another attribute"},
      {[](Asked& x) { add(x.product, Oddity::separate_c); },
       "a C that is read and a D that is another matrix"},
      {[](Asked& x) { add(x.product, Oddity::grouped); }, "products of several sizes in one call"},
      {[](Asked& x) { x.product.epilogue = static_cast<lt::Epilogue>(128); }, "epilogue 128"},
      {[](Asked& x) { x.product.transpose_a = static_cast<lt::Transpose>(3); },
       "an operation that is not known"},
      {[](Asked& x) { x.product.k = 0; }, "an empty matrix"},
      {[](Asked& x) { x.product.a.type = static_cast<lt::ElementType>(1); }, "f64 f32 -> f32"},
      {[](Asked& x) { x.product.a.ld = 3; },
       "types, sizes or an alignment that no kernel computes"},
      {[](Asked& x) {
         x.product.compute = lt::ComputeType::f16;
         x.product.scale_type = x.product.a.type = x.product.b.type = x.product.d.type = kF16;
         x.product.beta = Beta::on_device;
       },
       "f16 or i32 scalars in device memory"}};
  for (const auto& [change, why] : changes) {
    Process process;
    Asked asked = f32_call();
    change(asked);
    CHECK_FALSE(process.is_own(asked));
    CHECK_FALSE(process.is_own(asked));
    CHECK(process.text() == why);
  }
}

TEST_CASE_FIXTURE(Process, "a bias that is missing or not aligned is left to cuBLAS") {
  Problem with_bias = f32_problem();
  with_bias.epilogue.bias = kBiasPerRow;
  Asked asked = f32_call();
  asked.product.epilogue = lt::Epilogue::bias;
  recorder.reset();
  dispatch_test::write_database(library.database, {won_by(with_bias)});
  dispatch_test::write_cache(library.cache, {legal_kernel(with_bias)});
  define_any_kernel(library.fake, legal_kernel(with_bias));
  CHECK_FALSE(is_own(asked));
  const Memory bias(7);
  asked.pointers.bias = reinterpret_cast<const char*>(bias.floats()) + 2;
  CHECK_FALSE(is_own(asked));
  asked.pointers.bias = bias.floats() + 1;
  CHECK(is_own(asked));
  CHECK(c.floats()[0] == 2 * 3 * kSize + 7);
}

// --- Failures
// --------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Process, "a launch that fails ends in cuBLAS's call, and so do later ones") {
  CHECK(is_own(f32_call()));
  library.fake.fail("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  CHECK_FALSE(is_own(f32_call()));
  CHECK_FALSE(is_own(f32_call()));
  CHECK(run().detours[static_cast<size_t>(Detour::failure)] == 2);
  CHECK(text().find("a kernel that failed: ") == 0);
}

TEST_CASE("without a database, a cache or a driver everything is handed on") {
  Process process;
  SUBCASE("database") {
    process.settings.database = "/nowhere/tuned.db";
  }
  SUBCASE("cache") {
    process.settings.cache_dir = "";
  }
  SUBCASE("loading") {
    process.library.fake.fail("cuModuleLoadDataEx", CUDA_ERROR_OUT_OF_MEMORY);
  }
  SUBCASE("context") {
    process.library.fake.fail("cuCtxGetId", CUDA_ERROR_INVALID_CONTEXT);
  }
  CHECK_FALSE(process.is_own(f32_call()));
}

TEST_CASE_FIXTURE(Process, "a pack serves without a database, a cache and a compiler") {
  settings.pack = library.folder.file("app.pack");
  dispatch_test::write_pack(settings.pack, {won_by(f32_problem())});
  settings.database = settings.cache_dir = "";
  CHECK(is_own(f32_call()));
  CHECK(run().ran == Ran::own);
}

TEST_CASE_FIXTURE(Process, "cuBLAS's status is the caller's") {
  answer = lt::Status::execution_failed;
  CHECK(serve(f32_call(25)) == lt::Status::execution_failed);
  CHECK(handed_on == 1);
}

// --- Capture
// ---------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Process, "nothing is decided under capture, and what was decided before runs") {
  {
    const Capturing capturing(*this);
    CHECK(serve(f32_call()) == lt::Status::success);
    CHECK(handed_on == 1);
  }
  const auto calls = library.fake.calls();
  CHECK(std::count(calls.begin(), calls.end(), "cuModuleLoadDataEx") == 0);
  CHECK(is_own(f32_call()));
  {
    const Capturing capturing(*this);
    CHECK(serve(f32_call()) == lt::Status::success);
    CHECK(handed_on == 1);
  }
  CHECK(run().own_graph_calls == 1);
  CHECK(run().detours[static_cast<size_t>(Detour::capture)] == 1);
}

// --- Times
// -----------------------------------------------------------------------------------------

TEST_CASE("some calls of a problem go to cuBLAS, and both are timed") {
  Process process;
  process.settings.compare_times = true;
  for (int i = 0; i < 32; ++i) CHECK(process.serve(f32_call()) == lt::Status::success);
  process.recorder.reset();
  const auto record = read_records(process.library.folder.file("products")).records.front();
  CHECK(process.handed_on == 8);
  CHECK(record.run.detours[static_cast<size_t>(Detour::timed)] == 8);
  CHECK(record.run.own_calls == 24);
  CHECK(record.calls == 32);
  CHECK(record.run.own.taken >= 7);
  CHECK(record.cublas.taken >= 7);
  CHECK(record.run.own.us[0] == 10);
  CHECK(record.cublas.us[0] == 0);
}

TEST_CASE("where cuBLAS is faster in this process it computes") {
  Process process;
  process.settings.compare_times = true;
  const auto serve = [&](int calls) {
    const int before = process.handed_on;
    for (int i = 0; i < calls; ++i) CHECK(process.serve(f32_call()) == lt::Status::success);
    return process.handed_on - before;
  };
  CHECK(serve(32) == 8);  // too few samples to say
  CHECK(serve(8) >= 4);
  CHECK(serve(100) == 100);
  CHECK(process.run().detours[static_cast<size_t>(Detour::slower)] >= 100);
  CHECK(process.run().ran == Ran::own);
}

TEST_CASE("cuBLAS is faster if eight samples say so by more than a hundredth") {
  const auto times = [](int count, float us) {
    Samples samples;
    for (int i = 0; i < count; ++i) ProductTable::add_sample(samples, us);
    return samples;
  };
  CHECK(is_slower_here(times(8, 102), times(8, 100)));
  CHECK_FALSE(is_slower_here(times(8, 101), times(8, 100)));
  CHECK_FALSE(is_slower_here(times(7, 200), times(8, 100)));
  CHECK_FALSE(is_slower_here(times(8, 200), times(7, 100)));
  // A first call that loads is one sample; of many the last are kept.
  Samples own = times(7, 99);
  ProductTable::add_sample(own, 50000);
  CHECK_FALSE(is_slower_here(own, times(100, 100)));
  for (int i = 0; i < 32; ++i) ProductTable::add_sample(own, 103);
  CHECK(is_slower_here(own, times(100, 100)));
}

// The GPU waits for the host in some calls, and a kernel's time is not the same twice.
TEST_CASE("a kernel as fast as cuBLAS stays, whatever the host does; a slower one goes") {
  std::mt19937 random(1);
  const auto sample = [&](double us) {
    const double noise = std::normal_distribution<>(1, 0.03)(random);
    const bool waits = random() % 3 == 0;
    return static_cast<float>(us * noise +
                              (waits ? std::exponential_distribution<>(0.25)(random) : 0));
  };
  // Programs of 64 samples of each, asked after each pair; how many leave the own kernel.
  const auto leave = [&](double own_us) {
    constexpr int kPrograms = 400;
    int left = 0;
    for (int program = 0; program < kPrograms; ++program) {
      Samples own;
      Samples cublas;
      for (int i = 0; i < 64; ++i) {
        ProductTable::add_sample(own, sample(own_us));
        ProductTable::add_sample(cublas, sample(15));
        if (!is_slower_here(own, cublas)) continue;
        ++left;
        break;
      }
    }
    return static_cast<double>(left) / kPrograms;
  };
  CHECK(leave(14) <= 0.01);
  CHECK(leave(15) <= 0.02);
  CHECK(leave(17) >= 0.98);
}

// --- Threads
// ---------------------------------------------------------------------------------------

TEST_CASE("threads decide and run together") {
  std::vector<dispatch_test::Tuned> results;
  for (int m = 8; m < 16; m += 2) results.push_back(won_by(f32_problem(m)));
  Process process(results);
  CHECK(process.is_own(f32_call(8)));
  std::vector<std::thread> threads;
  std::atomic<int> handed = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto inside = process.context->enter();
      const Memory own_c(0);
      const auto own_stream = gpu::Stream::create(process.context).value();
      for (int i = 0; i < rounds(200); ++i) {
        Asked asked = f32_call(8 + i % 8);
        asked.pointers = {process.a.floats(),
                          process.b.floats(),
                          own_c.floats(),
                          own_c.floats(),
                          &kZero,
                          &kTwo,
                          nullptr};
        asked.stream = own_stream.handle();
        process.recorder->serve(asked, [&] {
          ++handed;
          return lt::Status::success;
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(handed == 4 * rounds(200) / 2);
}

}  // namespace
}  // namespace gemmtune::cublas_preload
