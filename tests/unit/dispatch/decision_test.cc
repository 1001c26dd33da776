// Snapshots and decisions: pure, no driver.
#include "dispatch/decision.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>

#include "codegen/strategy.h"
#include "dispatch/explain.h"
#include "gemmtune/gemmtune.h"
#include "shipped/shipped_results.h"
#include "snapshot_fixture.h"

namespace gemmtune::dispatch {
namespace {

using dispatch_test::kHere;
using dispatch_test::kOther;
using dispatch_test::kSister;
using dispatch_test::kTwin;
using dispatch_test::request_for;
using dispatch_test::Row;
using dispatch_test::snapshot_of;
using dispatch_test::target;

bool is_fallback(const Choice& choice) {
  return choice.route == Choice::Route::kernel && choice.stored == nullptr;
}

// The ways in order: "kernel 10", "vendor 20", "default"; without the fallback, which is the last
// of all.
std::string order_of(const Decision& decision) {
  std::string text;
  REQUIRE_FALSE(decision.choices.empty());
  CHECK(is_fallback(decision.choices.back()));
  for (const Choice& choice : std::span(decision.choices).first(decision.choices.size() - 1)) {
    CHECK_FALSE(is_fallback(choice));
    if (!text.empty()) text += ", ";
    if (choice.route == Choice::Route::kernel) text += "kernel";
    if (choice.route == Choice::Route::vendor_algorithm) text += "vendor";
    if (choice.route == Choice::Route::vendor_default) text += "default";
    if (choice.expected_us) text += " " + std::to_string(static_cast<int>(*choice.expected_us));
  }
  return text;
}

std::string decide(const std::vector<Row>& rows, const Target& t = target(),
                   const std::string& problem = "f32/f32/ieee/ttt/512x512x512") {
  const Snapshot snapshot = snapshot_of(rows);
  return order_of(dispatch::decide(snapshot, request_for(problem), t));
}

TEST_CASE("the fastest of what was measured here comes first") {
  CHECK(decide({{kHere, 10, 20}}) == "kernel 10, vendor 20, default");
  CHECK(decide({{kHere, 30, 20}}) == "vendor 20, kernel 30, default");
  CHECK(decide({{kHere, 30, 0}}) == "kernel 30, default");
  CHECK(decide({{kHere, 0, 20}}) == "vendor 20, default");
  CHECK(decide({}) == "default");
}

TEST_CASE("of predictions the one for this model comes first") {
  const auto predicted = store::Provenance::predicted;
  const Row other{kOther, 5, 0, "tile_m=8 tile_n=32", "sm_90", predicted};
  const Row same{kTwin, 10, 0, "tile_m=8 tile_n=32", "sm_90", predicted};
  for (const std::vector<Row>& rows : {std::vector{other, same}, {same, other}}) {
    const Snapshot snapshot = snapshot_of(rows);
    CHECK(snapshot.known.front().kernel->time_us == 10);
  }
}

TEST_CASE("a kernel's time counts as what it ranks as") {
  Row searched{kHere, 97, 100};
  searched.rank_us = 102;
  CHECK(decide({searched}) == "vendor 100, kernel 97, default");
  searched.kernel_us = 90;
  searched.rank_us = 94;
  CHECK(decide({searched}) == "kernel 90, vendor 100, default");
  Row twin{kTwin, 97, 0};
  twin.rank_us = 102;
  CHECK(decide({twin, {kTwin, 100, 0, "tile_m=16 tile_n=16"}}) == "kernel 100, default");
}

TEST_CASE("a kernel that ran at another card's power limit has to be further ahead") {
  Row row{kTwin, 200, 203};  // 687 TFLOP/s, of 989
  row.problem = "bf16/f32/ieee/tnt/4096x4096x4096";
  row.strategy = "wgmma_tma";
  row.config = "tile_m=128 tile_n=256 tile_k=64 stages=4 raster=8 consumers=2";
  CHECK(decide({row}, target(), row.problem) == "vendor 203, kernel 200, default");
  row.vendor_us = 207;
  CHECK(decide({row}, target(), row.problem) == "kernel 200, vendor 207, default");
  row.kernel_us = 400, row.vendor_us = 403;  // at full clocks
  CHECK(decide({row}, target(), row.problem) == "kernel 400, vendor 403, default");
  Row here = row;
  here.uuid = kHere, here.kernel_us = 200, here.vendor_us = 203;
  CHECK(decide({here}, target(), row.problem) == "kernel 200, vendor 203, default");
  // So it does for pointers of another alignment.
  row.kernel_us = 200, row.vendor_us = 203;
  CHECK(decide({row}, target(), "bf16/f32/ieee/tnt/4096x4096x4096/align=16") == "default, kernel");
  row.vendor_us = 207;
  CHECK(decide({row}, target(), "bf16/f32/ieee/tnt/4096x4096x4096/align=16") == "kernel, default");
}

TEST_CASE("plain f32 has no such limit") {
  CHECK(decide({{kTwin, 1, 1.001}}) == "kernel 1, vendor 1, default");
}

TEST_CASE("this device before its model, both before others; current before stale") {
  CHECK(decide({{kTwin, 5, 0}, {kHere, 10, 20}}) == "kernel 10, vendor 20, default");
  CHECK(decide({{kHere, 10, 20}, {kTwin, 5, 0}}) == "kernel 10, vendor 20, default");
  CHECK(decide({{kTwin, 5, 8}}) == "kernel 5, vendor 8, default");
  CHECK(decide({{kTwin, 5, 8}, {kTwin, 4, 9, "tile_m=16 tile_n=16", "sm_80"}}) ==
        "kernel 5, vendor 8, default");  // sm_80 code does not run on sm_90
  // Elsewhere it won, or may win: after what the vendor would do.
  CHECK(decide({{kOther, 5, 3}}) == "default, kernel 5");
  Row predicted{"", 5, 0};
  predicted.provenance = store::Provenance::predicted;
  CHECK(decide({predicted}) == "default, kernel 5");
  Row stale{kHere, 7, 20};
  stale.stale = true;
  CHECK(decide({stale}) == "kernel 7, vendor 20, default");
  CHECK(decide({stale, {kTwin, 9, 0, "tile_m=16 tile_n=16"}}) == "kernel 9, vendor 20, default");
}

TEST_CASE("another model's kernel comes first if it was far ahead there, on as many SMs") {
  CHECK(decide({{kSister, 10, 10.9}}) == "kernel 10, default");
  CHECK(decide({{kSister, 10, 10.7}}) == "default, kernel 10");
  CHECK(decide({{kSister, 10, 0}}) == "default, kernel 10");
  CHECK(decide({{kOther, 10, 20}}) == "default, kernel 10");
  Row ranked{kSister, 10, 10.9};
  ranked.rank_us = 10.5;
  CHECK(decide({ranked}) == "default, kernel 10");
  Row stale{kSister, 10, 11.4};
  stale.stale = true;
  CHECK(decide({stale}) == "default, kernel 10");
  stale.vendor_us = 11.6;
  CHECK(decide({stale}) == "kernel 10, default");
  Row predicted{kSister, 10, 20};
  predicted.provenance = store::Provenance::predicted;
  CHECK(decide({predicted}) == "default, kernel 10");
  // Whatever is known of this model decides by itself.
  CHECK(decide({{kSister, 10, 20}, {kTwin, 12, 13}}) == "kernel 12, vendor 13, default");
  CHECK(decide({{kSister, 10, 20}, {kHere, 0, 15}}) == "vendor 15, default, kernel 10");
  CHECK(decide({{kSister, 10, 20}, {kHere, 16, 15, "tile_m=16 tile_n=16"}}) ==
        "vendor 15, kernel 16, default");
}

TEST_CASE("another model's kernel may be less far ahead where memory or latency bounds it") {
  const auto first = [](const char* problem, double vendor_us, bool stale = false) {
    Row row{kSister, 10, vendor_us, "tile_m=64 tile_n=64 tile_k=64 stages=4 consumers=1"};
    row.strategy = "wgmma_tma";
    row.problem = problem;
    row.stale = stale;
    return decide(snapshot_of({row}), request_for(problem), target()).choices.at(0).route;
  };
  constexpr const char* kFewRows = "bf16/f32/ieee/tnt/64x4096x4096";   // 0.22 of the peak
  constexpr const char* kMoreRows = "bf16/f32/ieee/tnt/80x4096x4096";  // 0.27
  CHECK(first(kFewRows, 10.3) == Choice::Route::kernel);
  CHECK(first(kFewRows, 10.1) == Choice::Route::vendor_default);
  CHECK(first(kFewRows, 11.4, true) == Choice::Route::vendor_default);
  CHECK(first(kMoreRows, 10.7) == Choice::Route::vendor_default);
  CHECK(first(kMoreRows, 10.9) == Choice::Route::kernel);
}

TEST_CASE("of other alignments the nearest decides") {
  const auto at = [](const char* align, double kernel_us, double vendor_us) {
    Row row{kHere, kernel_us, vendor_us};
    row.problem = align;
    return row;
  };
  constexpr const char* k256 = "f32/f32/ieee/ttt/512x512x512";
  constexpr const char* k16 = "f32/f32/ieee/ttt/512x512x512/align=16";
  constexpr const char* k8 = "f32/f32/ieee/ttt/512x512x512/align=8";
  constexpr const char* k4 = "f32/f32/ieee/ttt/512x512x512/align=4";
  CHECK(decide({at(k16, 20, 30), at(k4, 22, 10)}) == "kernel, default");
  CHECK(decide({at(k16, 20, 10), at(k4, 22, 30)}) == "default, kernel");
  CHECK(decide({at(k8, 20, 10), at(k256, 8, 9)}, target(), k4) == "default, kernel");
}

TEST_CASE("what cannot run here is rejected by name") {
  const auto rejected = [](const Row& row, const Target& t = target()) {
    const Snapshot snapshot = snapshot_of({row});
    const Decision decision =
        dispatch::decide(snapshot, request_for("f32/f32/ieee/ttt/512x512x512"), t);
    for (const Choice& choice : decision.choices) CHECK(choice.stored == nullptr);
    REQUIRE(decision.rejections.size() == 1);
    return decision.rejections[0].why;
  };
  CHECK(rejected({kHere, 10, 20, "tile_m=9 tile_n=9"}).find("block is made of whole warps") !=
        std::string::npos);
  CHECK(rejected({kHere, 10, 20, "tile_m=8 tile_n=32 colour=3"}).find("another version") !=
        std::string::npos);
  Row unknown{kHere, 10, 20};
  unknown.strategy = "quantum";
  CHECK(rejected(unknown).find("another version") != std::string::npos);
  Row split{
      kHere, 10, 20,
      "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 copy=1 "
      "fragments=1 slices=4"};
  split.strategy = "split_k";
  Target small = target();
  small.max_workspace_bytes = 4 * 512 * 512 * 4 - 1;
  CHECK(rejected(split, small).find("workspace") != std::string::npos);
}

TEST_CASE("a kernel of more blocks than a grid can have is no way") {
  Row row{kHere, 10, 20,
          "tile_m=1 tile_n=32 thread_m=1 thread_n=4 warps=4 unroll=8 copy=2 fragments=2 slices=32 "
          "reduction=1"};
  row.strategy = "gemv";
  // 4,901,120,000 blocks, of which 32 bits hold 606,152,704.
  for (const auto& [problem, kernels] :
       {std::pair("f32/f32/ieee/ttt/70000x70000x16", 0), {"f32/f32/ieee/ttt/7000x7000x16", 1}}) {
    row.problem = problem;
    const Snapshot snapshot = snapshot_of({row});
    const Decision decision = dispatch::decide(snapshot, request_for(problem), target());
    CHECK(std::count_if(decision.choices.begin(), decision.choices.end(),
                        [](const Choice& choice) { return choice.stored != nullptr; }) == kernels);
    if (kernels > 0) continue;
    REQUIRE(decision.rejections.size() == 1);
    CHECK(decision.rejections[0].why.find("more blocks") != std::string::npos);
  }
}

// Else the library would leave to cuBLASLt what ships as faster.
TEST_CASE("no shipped kernel needs more workspace than a handle allows by default") {
  const auto entries = shipped::entries();
  REQUIRE_MESSAGE(entries.has_value(), entries.error().message);
  int64_t largest = 0;
  for (const store::Entry& entry : *entries) {
    if (entry.record.outcome != store::Outcome::ok) continue;
    const Problem problem = canonical(entry.record.job.problem);
    CAPTURE(key(problem));
    const auto spec = codegen::parse_spec(entry.record.key.strategy, entry.record.key.config,
                                          problem, entry.record.job.arch);
    REQUIRE(spec.has_value());
    const int64_t bytes = spec->strategy->launch_plan(*spec, problem).workspace_bytes;
    CHECK(bytes <= GEMMTUNE_DEFAULT_MAX_WORKSPACE_BYTES);
    largest = std::max(largest, bytes);
  }
  CHECK(largest > int64_t{256} << 20);  // bf16x6 products of 8192^3
}

TEST_CASE("rows of a newer version or another arch are passed over") {
  std::vector<Row> rows = {{kHere, 10, 0}};
  rows.push_back({kHere, 1, 0, "tile_m=8 tile_n=32", "sm_999"});
  rows.push_back({kHere, 1, 0, "tile_m=8 tile_n=32", "sm_80"});
  Row future{kHere, 1, 0};
  future.problem = "f64/f64/ieee/ttt/512x512x512";
  rows.push_back(future);
  const Snapshot snapshot = snapshot_of(rows);
  CHECK(snapshot.problems.size() == 1);
  CHECK(snapshot.skipped == 3);
  CHECK(decide(rows) == "kernel 10, default");
}

TEST_CASE("kernels are told apart by all that makes them, and stored once") {
  const Snapshot snapshot = snapshot_of({
      {kHere, 10, 20},
      {kHere, 11, 21, "tile_m=8 tile_n=32", "sm_90", store::Provenance::measured, false,
       "f32/f32/ieee/ttt/256x256x256"},
      {kHere, 12, 22, "tile_m=16 tile_n=16", "sm_90", store::Provenance::measured, false,
       "f32/f32/ieee/ttt/128x128x128", "rank=0 algo=1"},
  });
  CHECK(snapshot.problems.size() == 3);
  CHECK(snapshot.kernels.size() == 2);
  CHECK(snapshot.vendor_configs.size() == 2);
}

TEST_CASE("without the vendor similar problems' kernels stand in, nearest first") {
  Target alone = target();
  alone.vendor = false;
  const std::vector<Row> rows = {
      {kHere, 10, 20, "tile_m=8 tile_n=32", "sm_90", store::Provenance::measured, false,
       "f32/f32/ieee/ttt/1024x1024x1024"},
      {kHere, 11, 20, "tile_m=16 tile_n=16", "sm_90", store::Provenance::measured, false,
       "f32/f32/ieee/ttt/500x512x512"},
      {kHere, 12, 20, "tile_m=32 tile_n=32", "sm_90", store::Provenance::measured, false,
       "f32/f32/ieee/tnt/512x512x512"},
      {kHere, 13, 20, "tile_m=8 tile_n=8", "sm_90", store::Provenance::measured, false,
       "f32/f32/tf32/ttt/512x512x512"},
  };
  const Snapshot snapshot = snapshot_of(rows);
  const Decision decision =
      dispatch::decide(snapshot, request_for("f32/f32/ieee/ttt/512x512x512"), alone);
  REQUIRE(decision.choices.size() == 4);  // not the one of another math mode
  CHECK(is_fallback(decision.choices[3]));
  CHECK(key(*decision.choices[0].neighbour) == "f32/f32/ieee/ttt/500x512x512");
  CHECK(key(*decision.choices[1].neighbour) == "f32/f32/ieee/ttt/1024x1024x1024");
  CHECK(key(*decision.choices[2].neighbour) == "f32/f32/ieee/tnt/512x512x512");
  // Specialised for what is asked, not for what it won.
  CHECK(decision.choices[2].spec.traits.b_row_major);
  for (const Choice& choice : decision.choices) CHECK_FALSE(choice.expected_us);
}

TEST_CASE(
    "a kernel that won with pointers of another alignment is borrowed if it beat the vendor") {
  const auto row = [](double kernel_us, double vendor_us, const char* problem,
                      const char* uuid = kHere) {
    return Row{
        uuid,  kernel_us, vendor_us, "tile_m=8 tile_n=32", "sm_90", store::Provenance::measured,
        false, problem};
  };
  constexpr const char* kAt16 = "f32/f32/ieee/ttt/512x512x512/align=16";
  constexpr const char* kAt4 = "f32/f32/ieee/ttt/512x512x512/align=4";
  CHECK(decide({row(10, 20, kAt16)}) == "kernel, default");
  CHECK(decide({row(10, 20, kAt16, kTwin)}) == "kernel, default");
  CHECK(decide({row(10, 20, kAt16, kOther)}) == "default, kernel");
  CHECK(decide({row(30, 20, kAt16)}) == "default, kernel");
  // What was measured for the problem itself stays first, also if it was the vendor.
  CHECK(decide({row(10, 20, kAt16), {kHere, 9, 20, "tile_m=16 tile_n=16"}}) ==
        "kernel 9, vendor 20, default, kernel");
  CHECK(decide({row(10, 20, kAt16), {kHere, 0, 15}}) == "vendor 15, default, kernel");
  // The nearest class that has one, specialised for what is asked.
  const Snapshot snapshot = snapshot_of({row(10, 20, kAt4), row(11, 20, kAt16)});
  const Decision decision =
      dispatch::decide(snapshot, request_for("f32/f32/ieee/ttt/512x512x512"), target());
  CHECK(key(*decision.choices[0].neighbour) == kAt16);
  CHECK(decision.choices[0].spec.traits.vector_a == 4);
  CHECK_FALSE(decision.choices[0].expected_us);
  const Decision less = dispatch::decide(snapshot_of({row(11, 20, "f32/f32/ieee/ttt/512x512x512")}),
                                         request_for(kAt4), target());
  CHECK(less.choices[0].route == Choice::Route::kernel);
  CHECK(less.choices[0].spec.traits.vector_a == 1);
}

// Any problem of a type, sums and math mode: layouts, sizes, leading dimensions, batches,
// alignment.
Problem any_problem(std::mt19937& random, DataType type, DataType accumulator, MathMode math) {
  const auto size = [&] { return int64_t{1} << random() % 14; };
  const auto order = [&] { return random() % 2 == 0 ? Order::row_major : Order::column_major; };
  const auto more = [&] { return static_cast<int64_t>(random() % 3 * (random() % 9)); };
  const Shape shape{size() + more(), size() + more(), size() + more()};
  Problem p = make_problem(shape, type, {order(), order(), Order::row_major});
  p.accumulator = accumulator;
  p.math = math;
  p.lda += more();
  p.ldb += more();
  p.ldc += more();
  if (random() % 3 == 0) {
    p.batch = 1 + static_cast<int64_t>(random() % 5);
    p.stride_a = p.stride_b = p.stride_c = 0;
    pack(p);
  }
  p.align_bytes = std::max(size_bytes(type), alignment_class(1 << random() % 9));
  return p;
}

TEST_CASE("without the vendor and any result there is a kernel for every problem") {
  struct Kind {
    DataType type;
    DataType accumulator;
    MathMode math;
  };
  constexpr Kind kKinds[] = {{DataType::f32, DataType::f32, MathMode::ieee},
                             {DataType::f32, DataType::f32, MathMode::tf32},
                             {DataType::f32, DataType::f32, MathMode::tf32x3},
                             {DataType::f32, DataType::f32, MathMode::f16},
                             {DataType::f16, DataType::f32, MathMode::ieee},
                             {DataType::f16, DataType::f16, MathMode::ieee},
                             {DataType::bf16, DataType::f32, MathMode::ieee}};
  const Snapshot empty = snapshot_of({});
  std::mt19937 random(15);
  for (const Arch arch : known_archs()) {
    Target alone;
    alone.arch = arch;
    alone.limits = representative_device(arch);
    alone.vendor = false;
    alone.deterministic = true;  // and without a workspace
    for (const Kind& kind : kKinds) {
      const bool has_instructions = kind.type != DataType::bf16 || arch.number() >= 80;
      for (int round = 0; round < 300; ++round) {
        Request request;
        request.problem = comparable(any_problem(random, kind.type, kind.accumulator, kind.math));
        request.device_scalars = round % 2 == 0;
        REQUIRE(validate(request.problem));
        CAPTURE(key(request.problem));
        CAPTURE(to_string(arch));
        const Decision decision = dispatch::decide(empty, request, alone);
        REQUIRE(decision.choices.size() == (has_instructions ? 1 : 0));
        if (has_instructions) {
          const Choice& choice = decision.choices[0];
          CHECK(choice.spec.device_scalars == request.device_scalars);
          CHECK(runs_on(choice.spec.arch, arch));
          // As exactly as was asked for, or more so.
          CHECK((choice.spec.math == kind.math || choice.spec.math == MathMode::ieee));
        } else {
          CHECK(decision.rejections.back().why.find("none computes this type") !=
                std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("a neighbour of another epilogue lends its tile, one of another result type nothing") {
  Target alone = target();
  alone.vendor = false;
  const auto row = [](const char* problem) {
    Row row{kHere, 10, 20,
            "tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=3 order=1 copy=1 fragments=1 "
            "raster=4 promotion=1"};
    row.strategy = "mma_multistage";
    row.problem = problem;
    return row;
  };
  const std::vector<Row> rows = {row("f16/f32/ieee/ttt/512x512x512"),
                                 row("f16/f32/ieee/ttt/256x256x256/out=f32"),
                                 row("f16/f32/ieee/ttt/128x128x128/epilogue=bias,relu")};
  for (const auto& pair :
       {std::pair{"f16/f32/ieee/ttt/500x512x512", "f16/f32/ieee/ttt/512x512x512"},
        std::pair{"f16/f32/ieee/ttt/500x512x512/out=f32", "f16/f32/ieee/ttt/256x256x256/out=f32"},
        std::pair{"f16/f32/ieee/ttt/150x150x150/epilogue=bias,relu",
                  "f16/f32/ieee/ttt/128x128x128/epilogue=bias,relu"},
        std::pair{"f16/f32/ieee/ttt/512x512x512/epilogue=bias,relu",
                  "f16/f32/ieee/ttt/512x512x512"},
        std::pair{"f16/f32/ieee/ttt/512x512x512/epilogue=silu", "f16/f32/ieee/ttt/512x512x512"},
        std::pair{"f16/f32/ieee/ttt/512x512x512/out=f32/epilogue=silu",
                  "f16/f32/ieee/ttt/256x256x256/out=f32"},
        std::pair{"bf16/f32/ieee/ttt/500x512x512/epilogue=silu", ""}}) {
    CAPTURE(pair.first);
    const Snapshot snapshot = snapshot_of(rows);
    const Decision decision = dispatch::decide(snapshot, request_for(pair.first), alone);
    std::string found;
    int neighbours = 0;
    for (const Choice& choice : decision.choices) {
      if (!choice.neighbour) continue;
      found = key(*choice.neighbour);
      ++neighbours;
      CHECK(choice.spec.traits.epilogue == request_for(pair.first).problem.epilogue);
      CHECK(choice.spec.result == request_for(pair.first).problem.result);
    }
    CHECK(found == pair.second);
    CHECK(neighbours <= 1);
  }
}

TEST_CASE("what cuBLASLt and a second kernel took is no way for the library") {
  const auto row = [](double kernel_us, const char* problem) {
    Row made{kHere, kernel_us, 5};
    made.problem = problem;
    made.vendor = "rank=1 algo=2 + epilogue kernel";
    return made;
  };
  constexpr const char* kSilu = "f32/f32/ieee/ttt/512x512x512/epilogue=bias,silu";
  constexpr const char* kSiluAt16 = "f32/f32/ieee/ttt/512x512x512/align=16/epilogue=bias,silu";
  CHECK(decide({row(10, kSilu)}, target(), kSilu) == "kernel 10");
  CHECK(decide({row(10, kSiluAt16)}, target(), kSilu) == "kernel");
  CHECK(decide({row(0, kSilu)}, target(), kSilu).empty());
}

TEST_CASE("a bias of any address rules out the vendor and workspaces") {
  Row split{
      kHere, 10, 5,
      "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 copy=1 "
      "fragments=1 slices=4"};
  split.strategy = "split_k";
  split.problem = "f32/f32/ieee/ttt/512x512x512/epilogue=bias";
  const Snapshot snapshot = snapshot_of({split});
  Request request = request_for(split.problem);
  CHECK(order_of(dispatch::decide(snapshot, request, target())) == "vendor 5, kernel 10, default");
  request.any_bias_address = true;
  const Decision decision = dispatch::decide(snapshot, request, target());
  REQUIRE(decision.choices.size() == 1);
  CHECK(is_fallback(decision.choices[0]));
  CHECK(decision.rejections[0].why.find("workspace") != std::string::npos);
  CHECK(decision.rejections[1].why.find("16 bytes") != std::string::npos);
}

TEST_CASE("device scalars ask for the kernel that reads them") {
  const Snapshot snapshot = snapshot_of({{kHere, 10, 20}});
  Request request = request_for("f32/f32/ieee/ttt/512x512x512");
  request.device_scalars = true;
  CHECK(dispatch::decide(snapshot, request, target()).choices[0].spec.device_scalars);
}

TEST_CASE("explanations stay one object, or some lines, whatever the store holds") {
  Row odd{kHere, 10, 20};
  odd.vendor = "rank=0 \"quoted\" \xff\n line";
  const Snapshot snapshot = snapshot_of({odd});
  Explanation explanation;
  const Request request = request_for("f32/f32/ieee/ttt/512x512x512");
  explanation.problem = request.problem;
  explanation.decision = dispatch::decide(snapshot, request, target());
  CHECK(to_json(explanation).find('\n') == std::string::npos);
  explanation.decision = {};
  CHECK(to_text(explanation).find("nothing is known") != std::string::npos);
  CHECK(to_json(explanation).find("\"chosen\":null") != std::string::npos);
}

}  // namespace
}  // namespace gemmtune::dispatch
