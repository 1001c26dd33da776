// The built binary on a machine without a GPU: a predicted tune, and everything that reads it back.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "../contains.h"
#include "codegen/emitter.h"
#include "codegen/kernel_spec.h"
#include "codegen/strategy.h"
#include "core/tile_config.h"
#include "dispatch/pack_file.h"
#include "jit/compile.h"
#include "process.h"

namespace gemmtune::cli_test {
namespace {

using nlohmann::json;

// Few enough points that listing the legal ones takes no time.
// Two candidates at least are to be tried where one has to work: in a process out of some hundreds
// NVRTC 13 compiles a kernel otherwise than usual (docs/performance.md), and it spills.
constexpr const char* kSmallSpace =
    R"({"strategy": "double_buffer", "about": "for tests", "values": {
  "tile_m": [32, 64], "tile_n": [64], "tile_k": [8, 16], "warp_m": [32], "warp_n": [32, 64],
  "thread_m": [4, 8], "thread_n": [8], "lanes": [0], "order": [0], "copy": [0], "fragments": [1, 2],
  "min_blocks": [0], "raster": [1]}})";

struct Workplace {
  TestFolder folder;
  std::string space = folder.write("space.json", kSmallSpace);
  Variables variables = compiler_variables();

  Workplace() {
    variables["GEMM_TUNE_DB"] = folder.file("tuned.db");
    variables["GEMM_TUNE_CACHE_DIR"] = folder.file("cache");
  }
  Finished run(const Arguments& arguments) const {
    return cli_test::run(folder, arguments, variables);
  }
  // A predicted tune that has to work.
  json tune(Arguments arguments) const {
    arguments.insert(arguments.end(), {"--arch", "sm_80", "--space", space, "--json"});
    const Finished finished = run(arguments);
    CAPTURE(finished.err);
    REQUIRE(finished.code == 0);
    return json::parse(finished.out);
  }
  json read(Arguments arguments) const {
    arguments.emplace_back("--json");
    const Finished finished = run(arguments);
    CAPTURE(finished.err);
    REQUIRE(finished.code == 0);
    CHECK(finished.err.empty());
    return json::parse(finished.out);
  }
};

}  // namespace

TEST_CASE("tune, query, list, show and emit tell one story") {
  require_compiler();
  const Workplace place;
  const Arguments problem = {"--shape", "512x384x256", "--layout", "tnt"};
  Arguments tune = problem;
  tune.insert(tune.end(), {"--candidates", "6"});
  const json tuned = place.tune(tune);
  CHECK(tuned["provenance"] == "predicted");
  CHECK(contains(tuned["note"], "no sm_80 device is present; nothing was measured"));
  REQUIRE(tuned["results"].size() == 1);
  const json& result = tuned["results"][0];
  CHECK(result["evaluated"] == 6);
  CHECK(result["compiled"] == 6);
  REQUIRE(!result["ranking"].empty());
  const json& best = result["ranking"][0];
  CHECK(best["provenance"] == "predicted");
  CHECK(best["measurement"].is_null());
  CHECK(best["time_us"] > 0);

  Arguments query = {"query", "--arch", "sm_80", "--all", "--nearest"};
  query.insert(query.end(), problem.begin(), problem.end());
  const json answer = place.read(query);
  REQUIRE(answer["results"].size() == 1);
  CHECK(answer["results"][0]["best"]["id"] == best["id"]);
  CHECK(answer["results"][0]["best"]["config"] == best["config"]);
  CHECK(answer["results"][0]["vendor_best"].is_null());
  CHECK(answer["candidates"].size() == 6);
  double last = 0;
  for (const json& candidate : answer["candidates"]) {
    if (candidate["outcome"] == "ok" || candidate["outcome"] == "not_run") {
      CHECK(candidate["time_us"] >= best["time_us"]);
      last = candidate["time_us"];
    }
  }
  CHECK(last > 0);

  const json list = place.read({"list"});
  REQUIRE(list["problems"].size() == 1);
  CHECK(list["problems"][0]["id"] == best["id"]);
  CHECK(place.read({"list", "--arch", "sm_90"})["problems"].empty());
  CHECK(place.read({"list", "--type", "f16"})["problems"].empty());
  CHECK(place.read({"list", "--provenance", "predicted"})["problems"].size() == 1);

  const json shown = place.read({"show", best["id"].dump()});
  CHECK(shown["config"] == best["config"]);
  CHECK(shown["history"].empty());
  CHECK(place.run({"show", "999"}).code == 1);

  Arguments emit = {"emit", "--arch", "sm_80"};
  emit.insert(emit.end(), problem.begin(), problem.end());
  const json emitted = place.read(emit);
  CHECK(emitted["config"] == best["config"]);
  const Finished text = place.run(emit);
  CHECK(text.out == emitted["source"].get<std::string>());
  const json of_id = place.read({"emit", best["id"].dump()});
  CHECK(of_id["source"] == emitted["source"]);
  CHECK(of_id["source_hash"] == shown["source_hash"]);
  CHECK(place.run({"emit", "999"}).code == 1);
}

TEST_CASE("the text output begins with whether anything was measured") {
  require_compiler();
  const Workplace place;
  const Arguments tune = {"--shape", "128x128x128", "--arch",       "sm_80",
                          "--space", place.space,   "--candidates", "2"};
  const Finished finished = place.run(tune);
  CHECK(finished.code == 0);
  CHECK(
      finished.out.starts_with("predicted for sm_80 as an A100-SXM4-80GB: no sm_80 device is "
                               "present; nothing was measured\n"));
  CHECK(contains(finished.out, "double_buffer"));
  CHECK(contains(finished.err, "128x128x128"));  // progress
  CHECK_FALSE(contains(finished.err, "\r"));     // no bar where there is no terminal
  const Finished query = place.run({"query", "--shape", "128x128x128"});
  CHECK(query.code == 0);
  CHECK(contains(query.out, "predicted for sm_80 as an A100-SXM4-80GB; nothing was measured"));
}

TEST_CASE("a prediction says for which GPU model it holds, and two models are two results") {
  require_compiler();
  const Workplace place;
  const auto tuned_for = [&](const Arguments& more) {
    Arguments tune = {"--shape", "128x128x128", "--space", place.space, "--candidates", "2", "-q"};
    tune.insert(tune.end(), more.begin(), more.end());
    return place.read(tune);
  };
  const json desktop = tuned_for({"--arch", "sm_89"});
  CHECK(desktop["note"] ==
        "predicted for sm_89 as an RTX 4090: no sm_89 device is present; nothing was measured");
  CHECK(desktop["model"] == "NVIDIA GeForce RTX 4090");
  const json server = tuned_for({"--model", "L4"});
  CHECK(server["note"] == "predicted for sm_89 as an L4; nothing was measured");
  CHECK(server["arch"] == "sm_89");
  CHECK(server["device"].is_null());
  const json a = desktop["results"][0]["ranking"][0];
  const json b = server["results"][0]["ranking"][0];
  CHECK(a["id"] != b["id"]);
  CHECK(b["time_us"] > a["time_us"]);
  CHECK(b["device_uuid"] == "model-l4");

  const json both = place.read({"query", "--shape", "128x128x128"});
  CHECK(both["results"].size() == 2);
  const json one = place.read({"query", "--shape", "128x128x128", "--device", "l4"});
  REQUIRE(one["results"].size() == 1);
  CHECK(one["results"][0]["best"]["id"] == b["id"]);
  CHECK(one["results"][0]["device"] == "NVIDIA L4");
  CHECK(one["results"][0]["best"]["provenance"] == "predicted");
  // A second run goes on with its own model's.
  CHECK(tuned_for({"--model", "l4", "--arch", "sm_89"})["results"][0]["resumed"] == 2);
  const Finished explained =
      place.run({"explain", "--shape", "128x128x128", "--device", "RTX 4090", "--no-vendor"});
  CHECK(contains(explained.out, "on NVIDIA GeForce RTX 4090 model-rtx4090"));
}

TEST_CASE("on a terminal a bar, unless no escape sequences are wanted") {
  require_compiler();
  const Workplace place;
  const Arguments tune = {"--shape", "128x128x128", "--arch",       "sm_80",
                          "--space", place.space,   "--candidates", "2"};
  Variables variables = place.variables;
  variables["TERM"] = "xterm";
  CHECK(contains(err_on_terminal(place.folder, tune, variables), "\r\033[K["));
  for (const auto& [name, value] : {std::pair{"NO_COLOR", "1"}, std::pair{"TERM", "dumb"}}) {
    Variables plain = variables;
    plain[name] = value;
    const std::string text = err_on_terminal(place.folder, tune, plain);
    CHECK(contains(text, "128x128x128: "));
    CHECK_FALSE(contains(text, "\033"));
  }
}

TEST_CASE("the command that query advises finds what query asked for") {
  require_compiler();
  const Workplace place;
  const std::string db = place.folder.file("other.db");
  place.tune({"--shape", "32x32x32", "--candidates", "1", "--db", db});
  const Arguments query = {"query",   "--shape", "64x96x64", "--layout", "tnt",  "--lda", "72",
                           "--batch", "2",       "--arch",   "sm_80",    "--db", db};
  const Finished before = place.run(query);
  REQUIRE(before.code == 1);
  const std::string begin = "find one with: gemm-tune ";
  const size_t at = before.err.find(begin);
  REQUIRE(at != std::string::npos);
  std::istringstream words(before.err.substr(at + begin.size()));
  Arguments advised(std::istream_iterator<std::string>(words), {});
  advised.insert(advised.end(), {"--candidates", "2", "--space", place.space});
  CHECK(place.run(advised).code == 0);
  CHECK(place.run(query).code == 0);
}

TEST_CASE("a second run takes everything over, --fresh nothing") {
  require_compiler();
  const Workplace place;
  const Arguments tune = {"--shape", "256x256x256", "--candidates", "5"};
  const json first = place.tune(tune)["results"][0];
  CHECK(first["evaluated"] == 5);
  const json second = place.tune(tune)["results"][0];
  CHECK(second["resumed"] == 5);
  CHECK(second["evaluated"] == 0);
  CHECK(second["ranking"][0]["config"] == first["ranking"][0]["config"]);
  Arguments fresh = tune;
  fresh.emplace_back("--fresh");
  const json third = place.tune(fresh)["results"][0];
  CHECK(third["resumed"] == 0);
  CHECK(third["evaluated"] == 5);
  CHECK(third["cached"] == 5);
  CHECK(third["compiled"] == 0);
}

TEST_CASE("another shape costs no compilation") {
  require_compiler();
  const Workplace place;
  place.tune({"--shape", "256x256x256", "--candidates", "64"});
  const json other = place.tune({"--shape", "512x256x128", "--candidates", "8"})["results"][0];
  CHECK(other["evaluated"] == 8);
  CHECK(other["compiled"] == 0);
}

TEST_CASE("suites: what is not supported is reported and skipped") {
  require_compiler();
  const Workplace place;
  const std::string suite = place.folder.write("suite.json", R"({"suite": "mixed", "problems": [
    {"m": 64, "n": 64, "k": 64},
    {"m": 64, "n": 64, "k": 64, "dtype": "f64"},
    {"m": 64, "n": 64, "k": 64, "dtype": "f16"},
    {"m": 300000, "n": 300000, "k": 300000},
    {"m": 64, "n": 64, "k": 128, "layout": "nnt"}]})");
  const json tuned = place.tune({"--suite", suite, "--candidates", "2"});
  CHECK(tuned["results"].size() == 2);
  REQUIRE(tuned["skipped"].size() == 3);
  CHECK(contains(tuned["skipped"][0]["reason"], "f64"));
  CHECK(contains(tuned["skipped"][1]["reason"], "no strategy"));
  CHECK(contains(tuned["skipped"][2]["reason"], "GiB"));
}

TEST_CASE("several suites at once, as a shell's *.json gives them") {
  require_compiler();
  const Workplace place;
  const std::string first =
      place.folder.write("a.json", R"({"suite": "a", "problems": [{"m": 64, "n": 64, "k": 64}]})");
  const std::string second = place.folder.write(
      "b.json", R"({"suite": "b", "problems": [{"m": 64, "n": 64, "k": 128, "layout": "nnt"}]})");
  const json tuned = place.tune({"--suite", first, second, "--candidates", "2"});
  CHECK(tuned["results"].size() == 2);
}

TEST_CASE("several problems: the ones that matter first, and one table at the end") {
  require_compiler();
  const Workplace place;
  const std::string suite = place.folder.write("suite.json", R"({"suite": "step", "problems": [
    {"m": 64, "n": 64, "k": 64},
    {"m": 64, "n": 64, "k": 256, "dtype": "f64"},
    {"m": 128, "n": 128, "k": 128, "count": 3},
    {"m": 256, "n": 256, "k": 256}]})");
  const Arguments options = {"--suite", suite, "--candidates", "2"};
  const std::vector<std::string> asked = {"64x64x64", "128x128x128", "256x256x256"};
  const std::vector<std::string> ordered = {"256x256x256", "128x128x128", "64x64x64"};
  const auto sizes_of = [](const json& entries) {
    std::vector<std::string> sizes;
    for (const json& entry : entries) {
      const auto key = entry["key"].get<std::string>();
      sizes.push_back(key.substr(key.rfind('/') + 1));
    }
    return sizes;
  };
  Arguments dry = {"tune", "--arch", "sm_80", "--dry-run"};
  dry.insert(dry.end(), options.begin(), options.end());
  const json plan = place.read(dry);
  CHECK(sizes_of(plan["problems"]) == ordered);
  CHECK(plan["problems"][1]["count"] == 3);
  CHECK(plan["problems"][0]["candidates"] == 2);
  CHECK(plan["problems"][0]["floor_us"] > 0);
  CHECK(plan["skipped"].size() == 1);
  CHECK(contains(place.run(dry).out, "3 problems would be tuned, in this order"));
  CHECK_FALSE(std::filesystem::exists(place.folder.file("tuned.db")));

  CHECK(sizes_of(place.tune(options)["results"]) == asked);
  Arguments tune = {"tune", "--arch", "sm_80"};
  tune.insert(tune.end(), options.begin(), options.end());
  const Finished text = place.run(tune);
  CHECK(contains(text.err, "[1/3] f32/f32/ieee/ttt/256x256x256"));
  CHECK(contains(text.err, "[3/3, 0 s left] f32/f32/ieee/ttt/64x64x64"));
  const std::string table = text.out.substr(text.out.rfind("calls"));
  CHECK(table.find("64x64x64") < table.find("128x128x128"));
  CHECK(contains(table, "    3  f32/f32/ieee/ttt/128x128x128"));
}

TEST_CASE("of many numbers of rows some are tuned, where that was asked for") {
  const Workplace place;
  Arguments dry = {"tune", "--arch", "sm_80", "--m", "1:64", "--n", "64", "--k", "64", "--dry-run"};
  CHECK(place.read(dry)["problems"].size() == 64);
  dry.push_back("--thin-rows");
  CHECK(contains(place.run(dry).err, "--thin-rows leaves out 56 of 64 problems"));
  dry.push_back("-q");
  CHECK(place.read(dry)["problems"].size() == 8);
}

TEST_CASE("a page of what was found") {
  require_compiler();
  const Workplace place;
  const std::string page = place.folder.file("report.html");
  const json tuned = place.tune(
      {"--m", "64:128:64", "--n", "64", "--k", "64", "--candidates", "2", "--report", page});
  std::ifstream file(page);
  const std::string html{std::istreambuf_iterator<char>(file), {}};
  CHECK(html.starts_with("<!doctype html>"));
  CHECK(html.ends_with("</html>\n"));
  for (const json& result : tuned["results"]) CHECK(contains(html, result["key"]));
  CHECK(contains(html, "predicted for sm_80"));
  CHECK(contains(html, "aria-label=\"Roofline\""));
  CHECK(contains(html, "aria-label=\"Trace of the search\""));
  CHECK(contains(html, "__global__"));  // the sources
  // It loads nothing.
  for (const char* loads : {"src=", "href=\"http", "@import", "url("})
    CHECK(!contains(html, loads));
}

TEST_CASE("files are written even where what reads stdout has gone") {
  require_compiler();
  const Workplace place;
  const auto into_head = [&](const std::string& command) {
    const std::string text = "CUDA_VISIBLE_DEVICES=-1 " GEMMTUNE_BINARY_DIR "/bin/gemm-tune " +
                             command + " --arch sm_80 --candidates 2 --db " +
                             place.folder.file("tuned.db") + " --cache-dir " +
                             place.folder.file("cache") + " 2>/dev/null | head -n 1 >/dev/null";
    static_cast<void>(std::system(text.c_str()));
  };
  const std::string page = place.folder.file("page.html");
  into_head("tune --m 64:128:64 --n 64 --k 64 --space " + place.space + " --report " + page);
  CHECK(std::filesystem::exists(page));
  const std::string plot = place.folder.file("ladder.svg");
  into_head("ladder --shape 64x64x64 --strategy naive --plot " + plot);
  CHECK(std::filesystem::exists(plot));
}

TEST_CASE("a tuning goes on where stderr cannot be written") {
  require_compiler();
  const Workplace place;
  Process process(place.folder,
                  {"--shape", "64x64x64", "--arch", "sm_80", "--space", place.space, "--candidates",
                   "2", "--json"},
                  place.variables, "/dev/full");
  const Finished finished = process.wait();
  REQUIRE(finished.code == 0);
  CHECK(json::parse(finished.out)["results"][0]["evaluated"] == 2);
}

TEST_CASE("ranges") {
  require_compiler();
  const Workplace place;
  const json tuned =
      place.tune({"--m", "64:192:64", "--n", "64", "--k", "32:64:32", "--candidates", "2"});
  CHECK(tuned["results"].size() == 6);
  std::set<std::string> keys;
  for (const json& result : tuned["results"]) keys.insert(result["key"]);
  CHECK(keys.size() == 6);
}

TEST_CASE("shards of a list tune it together") {
  require_compiler();
  const Workplace place;
  const auto keys = [&](const char* shard) {
    const json tuned = place.tune(
        {"--m", "64:320:64", "--n", "64", "--k", "64", "--candidates", "1", "--shard", shard});
    std::vector<std::string> found;
    for (const json& result : tuned["results"]) found.push_back(result["key"]);
    return found;
  };
  using Keys = std::vector<std::string>;
  CHECK(keys("1/2") == Keys{"f32/f32/ieee/ttt/64x64x64", "f32/f32/ieee/ttt/192x64x64",
                            "f32/f32/ieee/ttt/320x64x64"});
  CHECK(keys("2/2") == Keys{"f32/f32/ieee/ttt/128x64x64", "f32/f32/ieee/ttt/256x64x64"});
}

TEST_CASE("what emit prints compiles alone") {
  require_compiler();
  const Workplace place;
  Variables variables = place.variables;
  auto nvrtc = jit::Nvrtc::load(jit::nvrtc_candidates([&] {
    jit::NvrtcLocations locations;
    locations.library = variables["GEMM_TUNE_NVRTC"];
    locations.cuda_homes = {variables["CUDA_HOME"], variables["CUDA_PATH"]};
    locations.bundled = {std::string(GEMMTUNE_SOURCE_DIR) + "/.deps/cuda"};
    return locations;
  }()));
  REQUIRE(nvrtc);
  place.tune({"--shape", "256x256x256", "--candidates", "2"});
  const json emitted = place.read({"emit", "--shape", "256x256x256"});
  codegen::KernelSource source;
  source.name = "emitted";
  source.text = emitted["source"];
  source.entries = {emitted["name"]};
  const auto compiled = jit::compile(*nvrtc, {source, {8, 0, false}, {}});
  if (!compiled) MESSAGE(compiled.error().log);
  REQUIRE(compiled);
  CHECK(compiled->entries.size() == 1);

  // A kernel that was never tuned, by its tile.
  const json named = place.read({"emit", "--shape", "256x256x256", "--arch", "sm_80", "--strategy",
                                 "double_buffer", "--tile", emitted["config"]});
  CHECK(named["source"] == emitted["source"]);
  CHECK(named["record"].is_null());

  // As machine code and as PTX.
  const std::string cubin = place.folder.file("kernel.cubin");
  CHECK(place.run({"emit", "--shape", "256x256x256", "--cubin", "-o", cubin}).code == 0);
  std::ifstream file(cubin, std::ios::binary);
  std::string magic(4, ' ');
  file.read(magic.data(), 4);
  CHECK(magic ==
        "\x7f"
        "ELF");
  const Finished ptx = place.run({"emit", "--shape", "256x256x256", "--ptx"});
  CHECK(contains(ptx.out, ".target sm_80"));
  CHECK(contains(ptx.out, emitted["name"]));
}

TEST_CASE("a cache that cannot be written is one warning") {
  require_compiler();
  const Workplace place;
  place.folder.write("file", "not a folder");
  Variables variables = place.variables;
  variables["GEMM_TUNE_CACHE_DIR"] = place.folder.file("file/cache");
  const Finished finished = run(place.folder,
                                {"--shape", "64x64x64", "--arch", "sm_80", "--space", place.space,
                                 "--candidates", "4", "--json"},
                                variables);
  CAPTURE(finished.err);
  REQUIRE(finished.code == 0);
  CHECK(json::parse(finished.out)["results"][0]["evaluated"] == 4);
  size_t warnings = 0;
  for (size_t at = 0; (at = finished.err.find("warning", at)) != std::string::npos; ++at)
    ++warnings;
  CHECK(warnings == 1);
}

TEST_CASE("a tune leaves the cache within its size: what was used least recently goes") {
  require_compiler();
  const Workplace place;
  const std::filesystem::path cache = place.folder.file("cache");
  std::filesystem::create_directories(cache / "ab");
  const auto make = [&](const std::string& name, std::uintmax_t bytes, int age_hours) {
    const std::filesystem::path file = cache / "ab" / name;
    std::ofstream(file).put('x');
    std::filesystem::resize_file(file, bytes);  // sparse: takes no room
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(age_hours));
    return file;
  };
  const std::string key = "ab" + std::string(29, '0');  // but for its last digit
  const auto oldest = make(key + "1.kernel", std::uintmax_t{3} << 30, 48);
  const auto recent = make(key + "2.kernel", std::uintmax_t{1} << 30, 1);
  const std::vector<std::filesystem::path> others = {
      make("notes.txt", std::uintmax_t{3} << 30, 48), make("linux.kernel", 1, 48),
      make("chapter.source", 1, 48), make("results.tmp-final", 1, 48)};
  place.tune({"--shape", "64x64x64", "--candidates", "2"});
  CHECK_FALSE(std::filesystem::exists(oldest));
  CHECK(std::filesystem::exists(recent));
  for (const auto& other : others) CHECK(std::filesystem::exists(other));  // not ours
}

TEST_CASE("verify on the simulator says correct, and of what") {
  require_compiler();
  const Workplace place;
  const json report = place.read({"verify", "--strategy", "double_buffer", "--backend", "sim",
                                  "--arch", "sm_80", "--tiles", "2", "--layout", "nnt", "-q"});
  CHECK(report["correct"] == true);
  REQUIRE(report["kernels"].size() == 2);
  for (const json& kernel : report["kernels"]) {
    CHECK(kernel["verdict"] == "correct");
    CHECK(kernel["max_error"] > 0);
    CHECK(parse_tile(kernel["config"].get<std::string>()));
  }
  CHECK_FALSE(std::filesystem::exists(place.folder.file("tuned.db")));
}

TEST_CASE("random cases of every strategy") {
  require_compiler();
  const Workplace place;
  const json report = place.read(
      {"verify", "--random", "3", "--backend", "sim", "--arch", "sm_90", "--seed", "9", "-q"});
  CHECK(report["correct"] == true);
  CHECK(report["seed"] == 9);
  CHECK(report["strategies"].size() == codegen::strategies().size());
  for (const json& one : report["strategies"]) {
    CHECK(one["kernels"] == 1);
    CHECK(one["cases"] == 3);
    CHECK(one["wrong"].empty());
  }
  const json named = place.read({"verify", "--random", "11", "--strategy", "naive", "--backend",
                                 "sim", "--arch", "sm_80", "-q"});
  REQUIRE(named["strategies"].size() == 1);
  CHECK(named["strategies"][0]["kernels"] == 2);
  CHECK(named["strategies"][0]["cases"] == 11);
}

TEST_CASE("the kernels that come with the program") {
  require_compiler();
  const Workplace place;
  const Arguments verify = {"verify", "--shipped", "--backend", "sim", "--arch", "sm_90", "-q"};
  Arguments of_one = verify;
  of_one.insert(of_one.end(), {"--strategy", "double_buffer"});
  const json report = place.read(of_one);
  CHECK(report["correct"] == true);
  CHECK(report["shipped"] == true);
  REQUIRE(report["strategies"].size() == 1);
  const auto kernels = report["strategies"][0]["kernels"].get<int>();
  CHECK(kernels > 0);
  CHECK(report["strategies"][0]["cases"].get<int>() > 20 * kernels);
  Arguments of_none = verify;
  of_none.insert(of_none.end(), {"--strategy", "naive"});
  const Finished none = place.run(of_none);
  CHECK(none.code != 0);
  CHECK(contains(none.err, "no kernel of naive runs on sm_90"));
}

TEST_CASE("asynchronous copies are verified as they arrive early and late, or as asked") {
  require_compiler();
  const Workplace place;
  const Arguments verify = {"verify", "--strategy", "multistage", "--backend", "sim",
                            "--arch", "sm_80",      "--tiles",    "1",         "-q"};
  const json both = place.read(verify);
  CHECK(both["async"] == "both");
  CHECK(both["correct"] == true);
  Arguments early = verify;
  early.insert(early.end(), {"--async", "early"});
  CHECK(place.read(early)["async"] == "early");
}

TEST_CASE("a profile counts what one product executes and moves") {
  require_compiler();
  const Workplace place;
  const Arguments verify = {"verify",   "--strategy", "naive",  "--backend",          "sim",
                            "--arch",   "sm_80",      "--tile", "tile_m=8 tile_n=32", "--shape",
                            "64x64x32", "--profile",  "-q"};
  const json report = place.read(verify);
  CHECK(report["correct"] == true);
  CHECK(contains(report["profiled"], "64x64x32"));
  REQUIRE(report["kernels"].size() == 1);
  REQUIRE(report["kernels"][0]["launches"].size() == 1);
  const json& launch = report["kernels"][0]["launches"][0];
  const int64_t products = 64 * 64 * 32;
  const int64_t elements = 64 * 64;

  // A fused multiply-add a product, and at most a few for alpha and beta.
  const json& counts = launch["instructions"];
  CHECK(counts["float32"]["lane"] >= products);
  CHECK(counts["float32"]["lane"] <= products + 4 * elements);
  int64_t lanes = 0;
  for (const auto& [name, count] : counts.items()) {
    if (name != "total") lanes += count["lane"].get<int64_t>();
  }
  CHECK(lanes == counts["total"]["lane"]);

  // Both operands of every product from memory, every element of C once.
  CHECK(launch["bytes"]["global"]["read"] == 2 * 4 * products);
  CHECK(launch["bytes"]["global"]["written"] == 4 * elements);
  int stores = 0;
  for (const json& access : launch["accesses"]) {
    CHECK(access["ptx_line"] > 0);
    if (access["space"] != "global") continue;
    const std::string source = access["source"];
    CHECK_MESSAGE((source.starts_with("naive.cuh:") || source.starts_with("parts/")), source);
    CHECK(access["wavefronts"].is_null());
    if (access["class"] != "store") continue;
    ++stores;
    CHECK(access["lanes"] == elements);
    CHECK(access["sectors"] == elements * 4 / 32);
    CHECK(access["coalescing"] == 1.0);
  }
  CHECK(stores == 1);

  const Finished text = place.run(verify);
  CHECK(text.code == 0);
  CHECK(contains(text.out, "coalesced"));
  CHECK(contains(text.out, ".cuh:"));
}

TEST_CASE("a profile has every launch, and the bank conflicts of shared memory") {
  require_compiler();
  const Workplace place;
  const json report = place.read({"verify", "--strategy", "split_k", "--backend", "sim", "--arch",
                                  "sm_80", "--tile",
                                  "tile_m=64 tile_n=64 tile_k=16 warp_m=32 warp_n=32 thread_m=8 "
                                  "thread_n=4 stages=3 copy=1 slices=4",
                                  "--shape", "64x64x256", "--profile", "-q"});
  REQUIRE(report["kernels"].size() == 1);
  const json& launches = report["kernels"][0]["launches"];
  REQUIRE(launches.size() == 2);  // the products and their sum
  int shared = 0;
  for (const json& access : launches[0]["accesses"]) {
    if (access["space"] != "shared") continue;
    ++shared;
    CHECK(access["wavefronts"] > 0);
    CHECK(access["bank_conflicts"] >= 0);
    CHECK(access["sectors"].is_null());
  }
  CHECK(shared > 0);
}

TEST_CASE("a predicted winner was verified on the simulator") {
  require_compiler();
  const Workplace place;
  const json tuned = place.tune({"--shape", "100x90x80", "--candidates", "2"});
  CHECK(tuned["results"][0]["ranking"][0]["max_error"] > 0);
  const Finished text = place.run(
      {"--shape", "100x90x80", "--arch", "sm_80", "--space", place.space, "--candidates", "2"});
  CHECK(contains(text.out, "rank 1 gave right results on the PTX simulator"));
}

TEST_CASE("a problem of 16-bit types is tuned, verified and found again like any other") {
  require_compiler();
  const Workplace place;
  const Arguments problem = {"--shape", "256x192x96", "--type", "f16",    "--acc",
                             "f16",     "--layout",   "tnn",    "--arch", "sm_80"};
  Arguments tune = {"--strategy", "mma_multistage", "--candidates", "3"};
  tune.insert(tune.end(), problem.begin(), problem.end());
  tune.emplace_back("--json");
  const Finished tuned = place.run(tune);
  REQUIRE(tuned.code == 0);
  const json best = json::parse(tuned.out)["results"][0]["ranking"][0];
  CHECK(best["provenance"] == "predicted");
  CHECK(best["max_error"] > 0);
  CHECK(best["spill_bytes"] == 0);
  Arguments query = {"query"};
  query.insert(query.end(), problem.begin(), problem.end());
  CHECK(place.read(query)["results"][0]["best"]["config"] == best["config"]);
  Arguments emit = {"emit"};
  emit.insert(emit.end(), problem.begin(), problem.end());
  CHECK(contains(place.read(emit)["source"].get<std::string>(), "with f16 sums"));
}

TEST_CASE("several shapes, in the order given") {
  require_compiler();
  const Workplace place;
  const json tuned = place.tune(
      {"--shape", "64x64x64", "--shape", "32x64x64", "--candidates", "2", "--layout", "ttn"});
  REQUIRE(tuned["results"].size() == 2);
  CHECK(tuned["results"][1]["problem"]["m"] == 32);
  CHECK(tuned["results"][1]["problem"]["layout"] == "ttn");
}

TEST_CASE("ladder: every rung from one search each, and from the database after that") {
  require_compiler();
  const Workplace place;
  const std::string plot = place.folder.file("ladder.svg");
  const Arguments ladder = {
      "ladder",         "--shape",      "200x200x200", "--arch",    "sm_80",
      "--strategy",     "naive",        "--strategy",  "smem_tile", "--strategy",
      "thread_tile_1d", "--candidates", "2",           "--plot",    plot};
  const Finished text = place.run(ladder);
  CAPTURE(text.err);
  REQUIRE(text.code == 0);
  CHECK(
      text.out.starts_with("predicted for sm_80 as an A100-SXM4-80GB: no sm_80 device is "
                           "present; nothing was measured\n"));
  CHECK(contains(text.err, "smem_tile: 0/2"));
  const json first = place.read([&] {
    Arguments quiet = ladder;
    quiet.emplace_back("-q");
    return quiet;
  }());
  CHECK(first["provenance"] == "predicted");
  REQUIRE(first["rungs"].size() == 3);
  CHECK(first["vendor_best"].is_null());
  double below_us = 0;
  for (const json& rung : first["rungs"]) {
    CAPTURE(rung.dump());
    const json& record = rung["record"];
    CHECK(record["strategy"] == rung["strategy"]);
    CHECK(record["provenance"] == "predicted");
    CHECK(record["max_error"] > 0);  // verified on the simulator
    CHECK(contains(text.out, record["strategy"].get<std::string>()));
    CHECK(rung["tried"] == 2);
    CHECK(rung["percent_of_cublaslt"].is_null());
    const double us = record["time_us"];
    CHECK(rung["gflops"].get<double>() == doctest::Approx(2.0 * 200 * 200 * 200 / us * 1e-3));
    if (below_us > 0) CHECK(rung["gain"].get<double>() == doctest::Approx(below_us / us));
    below_us = us;
  }
  CHECK(first["rungs"][0]["flops_per_global_byte"] == 0.25);
  CHECK(first["rungs"][0]["flops_per_shared_byte"].is_null());
  CHECK(first["seconds"] < 5);  // nothing was compiled again
  CHECK(place.read({"list"})["problems"].size() == 1);
  std::ifstream file(plot);
  std::string begin(4, ' ');
  file.read(begin.data(), 4);
  CHECK(begin == "<svg");
  for (const std::string& name : place.folder.content()) CHECK_FALSE(contains(name, ".tmp-"));
}

TEST_CASE("a pack holds the winners and their machine code") {
  require_compiler();
  const Workplace place;
  const json tuned = place.tune({"--shape", "256x256x256", "--shape", "512x128x64", "--shape",
                                 "64x64x64", "--candidates", "2"});
  const std::string file = place.folder.file("mine.pack");
  const json report = place.read({"db", "pack", file, "--shape", "256x256x256", "--shape",
                                  "512x128x64", "--arch", "sm_80", "-q"});
  CHECK(report["winners"] == 2);
  CHECK(report["missing"].empty());
  const auto pack = dispatch::Pack::open(file);
  if (!pack) FAIL(pack.error().message);
  CHECK((*pack)->images() == report["images"]);
  std::map<std::string, int> images;  // by problem
  (*pack)->winners([&](const store::Winner& winner) {
    CHECK(winner.arch == "sm_80");
    REQUIRE(winner.kernel);
    CHECK(winner.kernel->provenance == store::Provenance::predicted);
    auto spec = codegen::parse_spec(winner.kernel->strategy, winner.kernel->config,
                                    *parse_key(winner.problem), *parse_arch(winner.arch));
    REQUIRE(spec);
    std::set<std::string> variants;
    for (auto variant : {*spec, codegen::fetching_c(*spec, representative_device({8, 0, false}))}) {
      for (const bool device_scalars : {false, true}) {
        variant.device_scalars = device_scalars;
        const auto image = (*pack)->image(codegen::emit(variant), {8, 0, false});
        if (!image) FAIL(image.error().message);
        CHECK(image->size() > 1000);
        variants.insert(codegen::kernel_name(variant));
      }
    }
    images[std::string(winner.problem)] = static_cast<int>(variants.size());
  });
  CHECK(images.size() == 2);
  const std::string first = tuned["results"][0]["key"];
  REQUIRE(images.contains(first));

  // Again without a compiler: the cache has all of it.
  Variables variables = place.variables;
  variables["GEMM_TUNE_NVRTC"] = "/nonexistent";
  const std::string again = place.folder.file("again.pack");
  const Finished cached =
      run(place.folder, {"db", "pack", again, "--shape", "256x256x256", "--json"}, variables);
  CAPTURE(cached.err);
  REQUIRE(cached.code == 0);
  CHECK(json::parse(cached.out)["images"] == images[first]);
  // With neither there is no pack.
  const Finished neither = run(
      place.folder, {"db", "pack", place.folder.file("no.pack"), "--no-cache", "-q"}, variables);
  CHECK(neither.code == 2);
  CHECK(contains(neither.err, "no kernel has machine code"));
  CHECK_FALSE(std::filesystem::exists(place.folder.file("no.pack")));
}

TEST_CASE("inspect counts a kernel's machine code") {
  require_compiler();
  const Workplace place;
  // Where there is no toolkit, the recorded output of one stands in for nvdisasm.
  const std::string tool =
      place.folder.write("nvdisasm", "#!/bin/sh\nexec cat '" GEMMTUNE_SOURCE_DIR
                                     "/tests/unit/jit/sass/smem_tile_sm_80.sass'\n");
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  Variables variables = place.variables;
  variables["PATH"] = place.folder.path().string() + ":/usr/bin:/bin";
  const Arguments inspect = {"inspect",   "--shape", "64x64x64",
                             "--arch",    "sm_80",   "--strategy",
                             "smem_tile", "--tile",  "tile_m=8 tile_n=8 tile_k=8"};
  Arguments as_json = inspect;
  as_json.emplace_back("--json");
  const Finished finished = run(place.folder, as_json, variables);
  CAPTURE(finished.err);
  REQUIRE(finished.code == 0);
  const json parsed = json::parse(finished.out);
  const json& kernel = parsed["kernels"].at(0);
  CHECK(kernel["spill_bytes"] == 0);
  CHECK(kernel["registers"] > 0);
  const json& main = kernel["functions"].at(0);
  CHECK(main["name"] == kernel["name"]);
  const json& loop = main["hot_loop"];
  CHECK(loop["ffma"].get<int>() == 8);
  CHECK(loop["by_mnemonic"]["BAR"] == 2);
  CHECK(loop["by_mnemonic"]["LDS"] > 0);
  CHECK(loop["instructions"] < main["mix"]["instructions"]);
  const Finished text = run(place.folder, inspect, variables);
  CHECK(contains(text.out, "smem_tile 8x8x8, sm_80"));
  CHECK(contains(text.out, "FFMA share"));
}

TEST_CASE("help and version") {
  const TestFolder folder;
  const Finished version = run(folder, {"--version"});
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("gemm-tune "));
  for (const char* command : {"tune", "query", "list", "show", "emit", "inspect", "verify",
                              "ladder", "bench", "db", "diff", "doctor"}) {
    CAPTURE(command);
    const Finished help = run(folder, {command, "--help"});
    CHECK(help.code == 0);
    CHECK(help.err.empty());
    CHECK(contains(help.out, "Example"));
    CHECK(contains(help.out, std::string("gemm-tune ") + command));
    CHECK(contains(help.out, "--json"));
  }
  const Finished help = run(folder, {"--help"});
  CHECK(contains(help.out, "doctor"));
  CHECK(folder.content().empty());
}

TEST_CASE("the default places follow XDG and are made") {
  require_compiler();
  const TestFolder folder;
  Variables variables = compiler_variables();
  const std::string space = folder.write("space.json", kSmallSpace);
  const Arguments tune = {"--shape", "64x64x64", "--arch",       "sm_80", "--space",
                          space,     "-q",       "--candidates", "2"};
  const Finished first = run(folder, tune, variables);
  CHECK_MESSAGE(first.code == 0, first.err, first.out);
  CHECK(std::filesystem::exists(folder.path() / ".local/share/gemm-tune/tuned.db"));
  CHECK(std::filesystem::exists(folder.path() / ".cache/gemm-tune"));
  variables["XDG_DATA_HOME"] = folder.file("data");
  variables["XDG_CACHE_HOME"] = folder.file("cache");
  const Finished finished = run(folder, tune, variables);
  CHECK_MESSAGE(finished.code == 0, finished.err, finished.out);
  CHECK(finished.err.empty());  // -q
  CHECK(std::filesystem::exists(folder.path() / "data/gemm-tune/tuned.db"));
  CHECK(std::filesystem::exists(folder.path() / "cache/gemm-tune"));
}

TEST_CASE("an unwritable stdout is a failure, not a success") {
  const TestFolder folder;
  const std::string command = "'" GEMMTUNE_BINARY_DIR "/bin/gemm-tune' list strategies >/dev/full";
  CHECK(WEXITSTATUS(std::system((command + " 2>/dev/null").c_str())) == 1);
}

}  // namespace gemmtune::cli_test
