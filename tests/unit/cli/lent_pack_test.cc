// Packs of problems that were not tuned and are lent kernels, from the results that come with
// gemm-tune.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../contains.h"
#include "app/query/explain.h"
#include "codegen/emitter.h"
#include "dispatch/decision.h"
#include "dispatch/request.h"
#include "dispatch/snapshot_source.h"
#include "process.h"

namespace gemmtune::cli_test {
namespace {

using nlohmann::json;

// With a database of its own, which begins with what comes with gemm-tune.
struct ShippedPlace {
  TestFolder folder;
  Variables variables = compiler_variables();

  ShippedPlace() {
    variables["GEMM_TUNE_DB"] = "";
    variables["XDG_DATA_HOME"] = folder.file("data");
    variables["GEMM_TUNE_CACHE_DIR"] = folder.file("cache");
  }
  json read(const Arguments& arguments) const {
    const Finished finished = run(folder, arguments, variables);
    CAPTURE(finished.err);
    REQUIRE(finished.code == 0);
    return json::parse(finished.out);
  }
};

// Another one of that model than those that measured.
Device h100(const dispatch::Pack& pack) {
  REQUIRE(pack.devices().size() == 1);
  Device device = pack.devices().front();
  CHECK(contains(device.name, "H100"));
  device.uuid = "GPU-of-a-user";
  return device;
}

// A layer in f16, of which nothing is measured, and numbers of rows between those that are; one of
// them with a bias.
struct LentProblem {
  std::string key;
  Arguments options;
};
std::vector<LentProblem> lent_problems() {
  return {{"f16/f32/ieee/tnt/64x4096x4096", {"--type", "f16", "--shape", "64x4096x4096"}},
          {"bf16/f32/ieee/tnt/48x4096x4096", {"--type", "bf16", "--shape", "48x4096x4096"}},
          {"f16/f32/ieee/tnt/48x4096x4096/epilogue=bias",
           {"--type", "f16", "--shape", "48x4096x4096", "--epilogue", "bias"}}};
}
constexpr const char* kSuite = R"({"problems": [
  {"dtype": "f16", "layout": "tnt", "m": 64, "n": 4096, "k": 4096},
  {"dtype": "bf16", "layout": "tnt", "m": 48, "n": 4096, "k": 4096},
  {"dtype": "f16", "layout": "tnt", "m": 48, "n": 4096, "k": 4096, "epilogue": "bias"}]})";

// Whether the pack has the kernel, for scalars of the host and of the device.
void check_images(const dispatch::Pack& pack, codegen::KernelSpec spec) {
  for (const bool device_scalars : {false, true}) {
    spec.device_scalars = device_scalars;
    const auto image = pack.image(codegen::emit(spec), spec.arch);
    CHECK_MESSAGE(image.has_value(), (image ? "" : image.error().message));
  }
}

}  // namespace

TEST_CASE("a pack holds the kernels that its problems are lent, and what says so") {
  require_compiler();
  const ShippedPlace place;
  const std::string suite = place.folder.write("lent.json", kSuite);
  const std::string file = place.folder.file("lent.pack");
  const json report =
      place.read({"db", "pack", file, "--suite", suite, "--device", "H100", "--json", "-q"});
  CHECK(report["lent"] == lent_problems().size());
  CHECK(report["missing"].empty());
  const auto pack = dispatch::Pack::open(file);
  if (!pack) FAIL(pack.error().message);
  const Device device = h100(**pack);
  const dispatch::Snapshot snapshot = dispatch::read_pack(**pack, device);
  for (const LentProblem& problem : lent_problems()) {
    CAPTURE(problem.key);
    dispatch::Request request{dispatch::comparable(*parse_key(problem.key))};
    const auto first = [&] {
      return dispatch::decide(snapshot, request, app::library_target(device)).choices.at(0);
    };
    const dispatch::Choice lent = first();
    REQUIRE(lent.route == dispatch::Choice::Route::kernel);
    check_images(**pack, lent.spec);
    // The same as with all that is known.
    Arguments explain = {"explain", "--json", "--device", "H100", "--layout", "tnt"};
    explain.insert(explain.end(), problem.options.begin(), problem.options.end());
    const json chosen = place.read(explain)["chosen"];
    CHECK(chosen["config"] == to_string(lent.spec.tile));
    REQUIRE(lent.neighbour);
    CHECK(chosen["neighbour"] == key(*lent.neighbour));
    // Where C is read, the kernel may be ahead by too little.
    request.reads_c = true;
    const dispatch::Choice reading = first();
    if (reading.route == dispatch::Choice::Route::kernel) check_images(**pack, reading.spec);
  }
}

}  // namespace gemmtune::cli_test
