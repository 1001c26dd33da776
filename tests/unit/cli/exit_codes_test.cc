// One cause, one exit code and one message, whichever command meets it; and advice that can be
// followed. Run on the built binary, without a compiler or a device.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "../contains.h"
#include "process.h"

namespace gemmtune::cli_test {
namespace {

// The line on stderr of a command that ends with `code`.
std::string ends_with(int code, const TestFolder& folder, const Arguments& arguments) {
  const Finished finished = run(folder, arguments);
  CAPTURE(arguments.front());
  CAPTURE(finished.err);
  CHECK(finished.code == code);
  return finished.err;
}

std::string ends_with(int code, const Arguments& arguments) {
  const TestFolder folder;
  return ends_with(code, folder, arguments);
}

}  // namespace

TEST_CASE("a database that is missing or empty holds no results, whoever reads it") {
  const TestFolder folder;
  for (const std::string& database : {folder.file("none.db"), folder.write("empty.db", "")}) {
    for (const Arguments& command :
         {Arguments{"list"}, Arguments{"query", "--shape", "8x8x8"}, Arguments{"db", "info"},
          Arguments{"emit", "--shape", "8x8x8"}, Arguments{"explain", "--shape", "8x8x8"}}) {
      Arguments arguments = command;
      arguments.insert(arguments.end(), {"--db", database});
      ends_with(1, folder, arguments);
    }
    ends_with(1, folder, {"run", "--db", database, "--", "true"});
    // Files that are named beside the command's own database have to be there.
    ends_with(2, folder, {"diff", database, database});
    ends_with(2, folder, {"db", "merge", database});
  }
}

TEST_CASE("an input that is not there is wrong usage") {
  CHECK(contains(ends_with(2, {"run", "--pack", "/nonexistent", "--", "true"}), "/nonexistent"));
  CHECK(contains(ends_with(2, {"capture", "--from-folder", "/nonexistent", "-o", "a.json"}),
                 "'/nonexistent' is no folder"));
  CHECK(contains(ends_with(2, {"run", "--report", "/nonexistent"}), "'/nonexistent' is no folder"));
}

TEST_CASE("advice to read cuBLASLt's log names all that it takes") {
  const TestFolder folder;
  const std::string advice = ends_with(
      1, folder, {"capture", "--from-folder", folder.path().string(), "-o", folder.file("s.json")});
  CHECK(contains(
      advice,
      "CUBLASLT_LOG_FILE=app-%i.log, then gemm-tune capture --from-log app-*.log -o SUITE"));
}

TEST_CASE("a folder without counts has a report that says so") {
  const TestFolder folder;
  const Finished finished = run(folder, {"run", "--report", folder.path().string()});
  CHECK(finished.code == 0);
  CHECK(finished.out == "no product was seen\n");
}

TEST_CASE("options that would be ignored are refused") {
  const TestFolder folder;
  const std::string suite = folder.write("s.json", R"({"problems": [{"m": 8, "n": 8, "k": 8}]})");
  const auto plan_refused = [&](Arguments more) {
    more.insert(more.begin(), {"tune", "--arch", "sm_90", "--dry-run"});
    return ends_with(2, folder, more);
  };
  CHECK(contains(plan_refused({"--shape", "8x8x8", "--f32", "3xtf32"}),
                 "--f32 is for --suite; with --shape say --math 3xtf32"));
  CHECK(contains(plan_refused({"--shape", "8x8x8", "--report", "r.html"}), "with --dry-run"));
  CHECK(contains(plan_refused({"--suite", suite, "--type", "bf16"}), "a suite has its own"));
  CHECK(contains(plan_refused({"--suite", suite, "--layout", "ttn"}), "a suite has its own"));
  // Beside a shape they are for that.
  CHECK(run(folder, {"tune", "--arch", "sm_90", "--dry-run", "--suite", suite, "--shape", "8x8x8",
                     "--type", "bf16"})
            .code == 0);
  CHECK(run(folder, {"tune", "--arch", "sm_90", "--dry-run", "--suite", suite, "--f32", "3xtf32"})
            .code == 0);
  for (const Arguments& more : {Arguments{"--tile", "tile_m=8 tile_n=32"}, {"--model", "T4"}}) {
    Arguments emit = {"emit", "--shape", "8x8x8", "--strategy", "naive", "--device", "H200"};
    emit.insert(emit.end(), more.begin(), more.end());
    CHECK(contains(ends_with(2, folder, emit), "--device is for stored results"));
  }
  for (const char* what : {"strategies", "archs", "devices"}) {
    CHECK(contains(ends_with(2, folder, {"list", what, "--arch", "sm_90"}), "for problems"));
    CHECK(contains(ends_with(2, folder, {"list", what, "--order", "time"}), "for problems"));
    CHECK(contains(ends_with(2, folder, {"list", what, "--warm"}), "for problems"));
  }
  CHECK(contains(ends_with(2, folder, {"diff", "a.db", "b.db", "--db", "c.db"}), "leave out --db"));
  const std::string own = folder.path().string();
  CHECK(contains(ends_with(2, folder, {"run", "--attach", own, "--report", own}), "either"));
}

TEST_CASE("a command behind its options is shown its place") {
  CHECK(contains(ends_with(2, {"--json", "list"}), "the command comes first: gemm-tune list ..."));
  CHECK(contains(ends_with(2, {"--db", "a.db", "query", "--shape", "8x8x8"}),
                 "the command comes first: gemm-tune query ..."));
  CHECK(contains(ends_with(2, {"list", "list"}), "unknown thing to list 'list'"));
}

TEST_CASE("an empty value is refused: its option would count as left out") {
  const TestFolder folder;
  const auto refuses = [&](Arguments arguments, const std::string& option) {
    CHECK(contains(ends_with(2, folder, arguments), option + ": its value is empty"));
  };
  refuses({"list", "--db", ""}, "--db");
  refuses({"doctor", "--cache-dir", ""}, "--cache-dir");
  refuses({"query", "--shape", "8x8x8", "--arch", ""}, "--arch");
  refuses({"emit", "--shape", "8x8x8", "--strategy", "naive", "--tile", ""}, "--tile");
  refuses({"emit", "--shape", "8x8x8", "--strategy", "naive", "-o", ""}, "--output");
  refuses({"tune", "--shape", "8x8x8", "--dry-run", "--arch", ""}, "--arch");
  CHECK(folder.content().empty());
}

TEST_CASE("an unknown GPU that a model might have been is said to be neither") {
  CHECK(contains(ends_with(2, {"explain", "--shape", "8x8x8", "--device", "no such GPU"}),
                 "no model of `gemm-tune list devices` has such a name"));
}

TEST_CASE("who takes no suite does not ask for one") {
  for (const char* command : {"query", "emit", "explain", "ladder"}) {
    const std::string line = ends_with(2, {command});
    CHECK(contains(line, "--shape MxNxK"));
    CHECK_FALSE(contains(line, "--suite"));
  }
  CHECK(contains(ends_with(2, {"tune", "--arch", "sm_80"}), "--suite FILE"));
}

TEST_CASE("advice is for an arch that computes the problem") {
  const auto advised = [](Arguments problem) {
    problem.insert(problem.begin(), {"query", "--shape", "72x72x72"});
    return ends_with(1, problem);
  };
  const Arguments e4m3 = {"--type", "e4m3", "--layout", "tnt"};
  CHECK(contains(advised(e4m3), "--layout tnt --arch sm_90"));
  CHECK(contains(advised({"--math", "bf16x6"}), "--math bf16x6 --arch sm_90"));
  CHECK(contains(advised({"--type", "bf16", "--arch", "sm_75"}), "--type bf16 --arch sm_80"));
  CHECK(contains(advised({"--type", "bf16", "--strategy", "naive"}), "no strategy computes it"));
}

TEST_CASE("nothing found is an answer in JSON, too") {
  const TestFolder folder;
  const Finished query = run(folder, {"query", "--shape", "3x5x7", "--type", "f16", "--json"});
  CHECK(query.code == 1);
  CHECK(contains(query.err, "no result for"));
  CHECK(nlohmann::json::parse(query.out)["results"].empty());
  const Finished explain =
      run(folder, {"explain", "--shape", "64x64x64", "--type", "e4m3", "--layout", "tnt",
                   "--device", "4090", "--no-vendor", "--json"});
  CHECK(explain.code == 1);
  CHECK(contains(explain.err, "nothing computes e4m3/f32/ieee/tnt/64x64x64 on"));
  CHECK(nlohmann::json::parse(explain.out)["chosen"].is_null());
}

TEST_CASE("a strategy that does not compute a problem is named, and so is what a tile lacks") {
  for (const char* command : {"emit", "verify"}) {
    CHECK(contains(ends_with(2, {command, "--shape", "63x65x64", "--arch", "sm_90", "--strategy",
                                 "wgmma_tma"}),
                   "gemm-tune: wgmma_tma computes f16, bf16, tf32"));
  }
  const auto tile = [](const char* text) {
    return ends_with(
        2, {"emit", "--shape", "64x64x64", "--strategy", "double_buffer", "--tile", text});
  };
  CHECK(contains(tile("tile_m=32"), "; without a value: tile_n, tile_k, warp_m"));
  CHECK(contains(tile("tile_m=99999999999"), "the number of tile_m is too large"));
}

TEST_CASE("a name that several GPU models fit") {
  CHECK(contains(ends_with(2, {"explain", "--shape", "64x64x64", "--device", "a100"}),
                 "several GPU models fit 'a100'"));
}

TEST_CASE("bench has no option to predict") {
  const TestFolder folder;
  CHECK_FALSE(contains(run(folder, {"bench", "--help"}).out, "--model"));
  CHECK(contains(run(folder, {"ladder", "--help"}).out, "--model"));
}

TEST_CASE("doctor tries what tune needs, and leaves nothing behind") {
  const TestFolder folder;
  const auto database_of = [&](const std::string& path) {
    const Finished finished = run(folder, {"doctor", "--json", "--db", path});
    CHECK(finished.code == 1);
    const auto json = nlohmann::json::parse(finished.out);
    CHECK(json["can_predict"] == false);
    for (const auto& finding : json["findings"]) {
      if (finding["name"] == "database") return finding["health"].get<std::string>();
    }
    return std::string();
  };
  CHECK(database_of(folder.file("none/a.db")) == "broken");
  CHECK(database_of("/proc/a.db") == "broken");
  CHECK(database_of(folder.write("text.db", "this is no database at all, just some text\n")) ==
        "broken");
  const Finished finished = run(folder, {"doctor", "--cache-dir", "/proc/foo"});
  CHECK(contains(finished.out, "broken    cache"));
  CHECK(contains(finished.out, "ok        database"));
  CHECK(folder.content() == std::vector<std::string>{"text.db"});
}

}  // namespace gemmtune::cli_test
