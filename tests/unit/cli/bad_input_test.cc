// Bad input, one clear line each, exit code 2, and nothing written: run on the built binary.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../contains.h"
#include "process.h"
#include "store/record_store.h"

namespace gemmtune::cli_test {
namespace {

// Runs `arguments` in a folder whose content must not change; returns the line on stderr.
std::string refused(const TestFolder& folder, const Arguments& arguments,
                    const Variables& variables = {}) {
  const auto before = folder.content();
  const Finished finished = run(folder, arguments, variables);
  CAPTURE(finished.err);
  CHECK(finished.code == 2);
  CHECK(finished.out.empty());
  CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
  CHECK(finished.err.starts_with("gemm-tune: "));
  CHECK(finished.err.size() < 500);
  CHECK(folder.content() == before);
  return finished.err;
}

std::string refused(const Arguments& arguments, const Variables& variables = {}) {
  const TestFolder folder;
  return refused(folder, arguments, variables);
}

std::string shape_refused(const std::string& shape) {
  return refused({"--shape", shape, "--arch", "sm_80"});
}

std::string option_refused(const std::string& option, const std::string& value) {
  return refused({"--shape", "64x64x64", "--arch", "sm_80", option, value});
}

// An empty store's file.
std::string make_database(const TestFolder& folder, const std::string& name) {
  std::string path = folder.file(name);
  store::StoreOptions options;
  options.path = path;
  REQUIRE(store::open_store(options));
  return path;
}

void overwrite(const std::string& path, std::streamoff at, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(at);
  file << bytes;
}

}  // namespace

TEST_CASE("shapes") {
  CHECK(contains(shape_refused("5120x5120"), "MxNxK"));
  CHECK(contains(shape_refused("0x4x4"), "m is '0'"));
  CHECK(contains(shape_refused("-1x4x4"), "m is '-1'"));
  CHECK(contains(shape_refused("4x-1x4"), "n is '-1'"));
  CHECK(contains(shape_refused("1e3x4x4"), "m is '1e3'"));
  CHECK(contains(shape_refused("4x4x99999999999"), "k is '99999999999', the largest is"));
  CHECK(contains(shape_refused("99999999999x1x1"), "the largest is"));
  CHECK(contains(shape_refused("4x4x4x4"), "MxNxK"));
  CHECK(contains(shape_refused("4x4x"), "k is ''"));
  CHECK(contains(shape_refused(" 4x4x4"), "m is"));
  CHECK(contains(shape_refused("4X4X4"), "MxNxK"));
  shape_refused("");
  shape_refused("x");
  CHECK(contains(shape_refused("4x4x4\n8"), "k is"));
}

TEST_CASE("no problem, or half of one") {
  CHECK(contains(refused({"tune", "--arch", "sm_80"}), "--shape"));
  CHECK(contains(refused({"--arch", "sm_80", "--m", "64"}), "--n"));
  CHECK(contains(refused({"--arch", "sm_80", "--m", "64:32", "--n", "1", "--k", "1"}), "--m"));
  CHECK(contains(refused({"--arch", "sm_80", "--m", "1", "--n", "1:9:0", "--k", "1"}), "--n"));
  CHECK(contains(refused({"--arch", "sm_80", "--m", "1:2:3:4", "--n", "1", "--k", "1"}), "--m"));
  CHECK(
      contains(refused({"--arch", "sm_80", "--m", "1:2000000000", "--n", "1", "--k", "1"}), "--m"));
  CHECK(
      contains(refused({"--arch", "sm_80", "--m", "1:200", "--n", "1:200", "--k", "1"}), "10000"));
  CHECK(contains(refused({"--shape"}), "--shape"));
}

TEST_CASE("names, with the nearest valid ones") {
  CHECK(contains(refused({"--shape", "64x64x64", "--arch", "sm_81"}), "did you mean 'sm_80'"));
  CHECK(contains(refused({"--shape", "64x64x64", "--arch", "hopper"}), "sm_90a"));
  CHECK(contains(option_refused("--type", "f31"), "did you mean 'f32'"));
  CHECK(contains(option_refused("--dtype", "float"), "f16"));
  CHECK(contains(option_refused("--acc", "f23"), "f32"));
  CHECK(contains(option_refused("--math", "tf23"), "did you mean 'tf32'"));
  CHECK(contains(option_refused("--epilogue", "gelo"), "did you mean 'gelu'"));
  CHECK(contains(option_refused("--epilogue", "relu,bias"), "before the activation"));
  CHECK(contains(option_refused("--out", "f31"), "did you mean 'f32'"));
  CHECK(contains(option_refused("--out", "f16"), "results of type f16"));
  CHECK(contains(option_refused("--layout", "txt"), "'x'"));
  CHECK(contains(option_refused("--layout", "tt"), "layout"));
  CHECK(contains(option_refused("--strategy", "doublebuffer"), "did you mean 'double_buffer'"));
  CHECK(contains(refused({"tun", "--shape", "64x64x64"}), "did you mean 'tune'"));
  CHECK(contains(refused({"--shap", "64x64x64"}), "did you mean '--shape'"));
  CHECK(contains(refused({"--cand", "64"}), "did you mean '--candidates'"));
  CHECK(contains(refused({"tune", "64x64x64"}), "'64x64x64'"));
  // The option is unknown; the value after it is not to blame, not even where it is a number's.
  for (const char* command :
       {"tune", "query", "list", "show", "emit", "inspect", "ladder", "bench"}) {
    CAPTURE(command);
    const std::string line = refused({command, "--strateg", "naive"});
    CHECK(contains(line, "unknown option '--strateg'"));
    CHECK_FALSE(contains(line, "'naive'"));
  }
  CHECK(contains(refused({"inspect", "--strateg", "naive"}), "did you mean '--strategy'"));
  CHECK(contains(refused({"show", "--dbb", "1"}), "did you mean '--db'"));
  CHECK(contains(refused({"db", "prune", "--keeep=3"}), "did you mean '--keep'"));
  CHECK(contains(refused({"list", "strategy"}), "strategies"));
  CHECK(contains(refused({"list", "--order", "tim"}), "did you mean 'time'"));
  CHECK(contains(refused({"list", "--provenance", "mesured"}), "measured"));
  CHECK(contains(refused({"verify", "--strategy", "double_bufer", "--arch", "sm_80"}),
                 "did you mean 'double_buffer'"));
  CHECK(contains(refused({"verify", "--strategy", "double_buffer", "--backend", "cpu"}), "sim"));
}

TEST_CASE("ladder") {
  const auto ladder_refused = [](Arguments arguments) {
    arguments.insert(arguments.begin(), {"ladder", "--arch", "sm_80"});
    return refused(arguments);
  };
  CHECK(contains(ladder_refused({}), "--shape"));
  CHECK(contains(ladder_refused({"--shape", "64x64"}), "MxNxK"));
  CHECK(contains(ladder_refused({"--shape", "8x8x8", "--shape", "9x9x9"}), "one problem"));
  CHECK(contains(ladder_refused({"--shape", "8x8x8", "--suite", "x.json"}), "--suite"));
  CHECK(contains(ladder_refused({"--shape", "8x8x8", "--candidates", "0"}), "--candidates"));
  CHECK(contains(ladder_refused({"--shape", "8x8x8", "--seconds", "-1"}), "--seconds"));
  CHECK(contains(ladder_refused({"--shape", "8x8x8", "--strategy", "naiv"}), "'naive'"));
  CHECK(contains(refused({"ladder", "--arch", "sm_75", "--shape", "8x8x8", "--math", "tf32"}),
                 "no strategy"));
  CHECK(contains(ladder_refused({"--shape", "8x8x8", "--plot", "none/x.svg"}), "no folder 'none'"));
  CHECK(contains(ladder_refused({"--shape", "8x8x8", "--plot", "."}), "is a folder"));
}

TEST_CASE("what only the simulator does, and how it is asked") {
  const auto with = [](const Arguments& options) {
    Arguments verify = {"verify", "--strategy", "naive", "--arch", "sm_80"};
    verify.insert(verify.end(), options.begin(), options.end());
    return refused(verify);
  };
  CHECK(contains(with({"--profile"}), "--profile is of the simulator; add --backend sim"));
  CHECK(contains(with({"--backend", "gpu", "--profile"}), "add --backend sim"));
  CHECK(contains(with({"--async", "late"}), "--async is of the simulator; add --backend sim"));
  CHECK(contains(with({"--backend", "sim", "--async", "lat"}), "did you mean 'late'"));
  CHECK(contains(with({"--backend", "sim", "--async", "never"}), "both"));
  CHECK(contains(with({"--random", "5", "--backend", "cpu"}), "sim"));
  CHECK(contains(with({"--random", "0"}), "--random"));
  CHECK(contains(with({"--jobs", "2"}), "--jobs is for --random"));
  CHECK(contains(with({"--random", "5", "--shipped"}), "excludes"));
  CHECK(contains(with({"--shipped", "--layout", "tnt"}), "excludes --shipped"));
  CHECK(contains(with({"--random", "5", "--layout", "tnt"}), "excludes --random"));
  CHECK(contains(with({"--random", "5", "--tiles", "2"}), "excludes --random"));
  CHECK(contains(with({"--random", "5", "--backend", "sim", "--profile"}), "excludes --random"));
  CHECK(contains(refused({"verify", "--arch", "sm_80"}), "--strategy NAME is needed"));
}

TEST_CASE("inspect") {
  CHECK(contains(refused({"inspect"}), "which kernel?"));
  CHECK(contains(refused({"inspect", "x"}), "x"));
  CHECK(contains(refused({"inspect", "7", "--shape", "8x8x8"}), "not both"));
}

TEST_CASE("no subcommand prints the help and fails") {
  const TestFolder folder;
  const Finished finished = run(folder, {});
  CHECK(finished.code == 2);
  CHECK(finished.out.empty());
  CHECK(contains(finished.err, "Usage"));
}

TEST_CASE("numbers") {
  CHECK(contains(option_refused("--jobs", "0"), "at least 1"));
  CHECK(contains(option_refused("--jobs", "1000000"), "at most 1024"));
  CHECK(contains(option_refused("--lda", "0"), "at least 1"));
  for (const char* bad : {"nan", "inf", "0"})
    CHECK(contains(option_refused("--seconds", bad), "above 0"));
  CHECK(contains(option_refused("--seed", "-1"), "at least 0"));
  CHECK(contains(refused({"show", "99999999999999999999"}), "9223372036854775807"));
  CHECK(contains(option_refused("--candidates", "0"), "--candidates"));
  CHECK(contains(option_refused("--candidates", "many"), "--candidates"));
  CHECK(contains(option_refused("--seconds", "-1"), "--seconds"));
  CHECK(contains(option_refused("--jobs", "-1"), "--jobs"));
  CHECK(contains(option_refused("--budget", "soon"), "a time (30s, 5m, 1.5h)"));
  CHECK(contains(refused({"--shape", "8x8x8", "--devices", "all"}), "--devices all: no GPU here"));
  CHECK(contains(refused({"--shape", "8x8x8", "--budget", "9s", "--seconds", "9"}), "--budget"));
  CHECK(contains(option_refused("--search", "exhaustive"), "narrow the search by --strategy"));
  CHECK(contains(option_refused("--search", "all"), "model, random and exhaustive are"));
  CHECK(contains(option_refused("--shard", "9/8"), "write 1/8 for the first of eight"));
  CHECK(contains(option_refused("--shard", "1/2"), "1 problems make at most 1 shards"));
  CHECK(contains(option_refused("--batch", "0"), "batch"));
  CHECK(contains(option_refused("--align", "3"), "alignment"));
  CHECK(contains(option_refused("--lda", "63"), "lda"));
  CHECK(contains(option_refused("--lda", "-64"), "--lda"));
  CHECK(contains(refused({"show", "x"}), "id"));
}

TEST_CASE("sizes that exceed the device's memory say how much is needed") {
  const std::string line = refused({"--shape", "200000x200000x200000", "--arch", "sm_80"});
  CHECK(contains(line, "447.0 GiB"));
  CHECK(contains(line, "A100"));
  CHECK(contains(line, "74.5 GiB"));
  // Fits an H200, not a T4.
  CHECK(contains(refused({"--shape", "50000x50000x50000", "--arch", "sm_75"}), "T4"));
}

TEST_CASE("without a GPU, what needs one") {
  CHECK(contains(refused({"--shape", "64x64x64"}), "sm_80"));
  CHECK(contains(refused({"--shape", "64x64x64", "--device", "0"}), "--device 0"));
  CHECK(contains(refused({"bench", "--shape", "64x64x64"}), "GPU"));
  CHECK(contains(
      refused({"bench", "--shape", "64x64x64", "--type", "i8", "--layout", "tnt", "--beta", "0.5"}),
      "whole numbers only"));
  const TestFolder folder;
  CHECK(contains(refused(folder, {"bench", "--shape", "64x64x64", "--csv", folder.file("a.csv")}),
                 "GPU"));
}

TEST_CASE("what nothing computes") {
  const std::string tf32 = refused({"--arch", "sm_75", "--shape", "64x64x64", "--math", "tf32"});
  CHECK(contains(tf32, "no strategy computes it"));
  CHECK(contains(tf32, "mma_multistage, mma_split_k, mma_stream_k: needs sm_80"));
  CHECK(!contains(tf32, "naive"));
  CHECK(contains(refused({"--arch", "sm_80", "--shape", "64x64x64", "--math", "bf16x6"}),
                 "wgmma_planes: needs sm_90"));
}

TEST_CASE("databases") {
  const TestFolder folder;
  const auto with = [&](const std::string& path) {
    return refused(folder, {"--shape", "64x64x64", "--arch", "sm_80", "--db", path});
  };
  CHECK(contains(with(folder.file("none/a.db")), "none"));
  CHECK(contains(with(folder.path().string()), "cannot be a database"));
  CHECK(contains(with(folder.write("text.db", "this is no database at all, just some text\n")),
                 "text.db"));

  const std::string newer = make_database(folder, "newer.db");
  overwrite(newer, 60, std::string("\0\0\x27\x0f", 4));  // user_version, see SQLite's file format
  CHECK(contains(with(newer), "newer"));

  CHECK(contains(with("/proc/self/a.db"), "/proc/self/a.db"));
  // The same through the environment.
  CHECK(contains(
      refused(folder, {"--shape", "64x64x64", "--arch", "sm_80"}, {{"GEMM_TUNE_DB", newer}}),
      "newer"));
}

TEST_CASE("a damaged database is a failure, whichever command finds it") {
  const TestFolder folder;
  const std::string damaged = make_database(folder, "damaged.db");
  overwrite(damaged, 100, std::string(4000, 'x'));  // the schema's page
  const std::vector<Arguments> commands = {
      {"--shape", "64x64x64", "--arch", "sm_80"},
      {"query", "--shape", "64x64x64"},
      {"list"},
      {"show", "1"},
      {"emit", "--shape", "64x64x64"},
      {"db", "info"},
      {"db", "check"},
      {"db", "export"},
      {"db", "prune", "--stale"},
      {"db", "pack", folder.file("a.pack")},
      {"db", "merge", damaged, "--db", folder.file("other.db")},
      {"diff", damaged, damaged}};
  for (Arguments command : commands) {
    CAPTURE(command.front());
    const bool names_it = command.front() == "diff" ||
                          std::find(command.begin(), command.end(), "--db") != command.end();
    if (!names_it) command.insert(command.end(), {"--db", damaged});
    const Finished finished = run(folder, command, compiler_variables());
    CHECK_MESSAGE(finished.code == 1, finished.err);
    CHECK(contains(finished.err, "is damaged"));
    CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
  }
}

TEST_CASE("a file that may not be written is wrong usage, whichever command is to write it") {
  for (const std::string path : {"/proc/out", "/sys/out", "/nonexistent/out", "/"}) {
    CAPTURE(path);
    const std::vector<Arguments> commands = {
        {"emit", "--shape", "4096x4096x4096", "--arch", "sm_90", "-o", path},
        {"db", "export", path},
        {"db", "pack", path},
        {"model", "fit", "--arch", "sm_90", "-o", path},
        {"ladder", "--shape", "8x8x8", "--arch", "sm_80", "--plot", path}};
    for (const Arguments& command : commands) CHECK(contains(refused(command), path.substr(0, 5)));
  }
  // A full device is a failure of the device.
  const TestFolder folder;
  for (const Arguments& command :
       {Arguments{"emit", "--shape", "4096x4096x4096", "--arch", "sm_90", "-o", "/dev/full"},
        Arguments{"db", "export", "/dev/full"}}) {
    const Finished finished = run(folder, command);
    CHECK(finished.code == 1);
    CHECK(contains(finished.err, "cannot write '/dev/full'"));
  }
  CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("help and version that cannot be printed are a failure") {
  const std::string program = GEMMTUNE_BINARY_DIR "/bin/gemm-tune";
  for (const char* options : {" --help", " --version", " tune --help"}) {
    CAPTURE(options);
    const int status = std::system((program + options + " > /dev/full 2> /dev/null").c_str());
    CHECK(WEXITSTATUS(status) == 1);
  }
}

TEST_CASE("the exit code does not depend on stderr") {
  const TestFolder folder;
  CHECK(Process(folder, {"--bogus"}, {}, "/dev/full").wait().code == 2);
  CHECK(Process(folder, {}, {}, "/dev/full").wait().code == 2);
}

TEST_CASE("advice is a command that can be run") {
  const TestFolder folder;
  const std::string db = make_database(folder, "my results.db");
  const std::vector<Arguments> problems = {
      {"--shape", "77x128x512", "--type", "bf16", "--layout", "tnt"},
      {"--shape", "64x32x16", "--math", "3xtf32", "--lda", "100", "--batch", "3", "--align", "4"},
      {"--shape", "8x16x32", "--type", "f16", "--out", "f32", "--epilogue", "bias_row,silu"},
      {"--shape", "5x6x7"}};
  for (const char* command : {"query", "emit"}) {
    for (const Arguments& problem : problems) {
      Arguments asked = {command, "--db", db};
      asked.insert(asked.end(), problem.begin(), problem.end());
      for (const bool with_arch : {false, true}) {
        if (with_arch) asked.insert(asked.end(), {"--arch", "sm_90"});
        const Finished finished = run(folder, asked);
        CAPTURE(finished.err);
        CHECK(finished.code == 1);
        std::string expected = "find one with: gemm-tune tune";
        for (const std::string& word : problem) expected += " " + word;
        // Without a GPU tune needs an arch.
        expected += with_arch ? " --arch sm_90" : " --arch sm_80";
        CHECK(contains(finished.err, expected + " --db '" + db + "'\n"));
      }
    }
  }
}

TEST_CASE("no escape sequences for who wants none") {
  const TestFolder folder;
  const Arguments list = {"list", "devices", "-v"};
  CHECK(contains(err_on_terminal(folder, list, {{"TERM", "xterm"}}), "\033["));
  for (const Variables& plain :
       {Variables{{"TERM", "xterm"}, {"NO_COLOR", "1"}}, Variables{{"TERM", "dumb"}}}) {
    const std::string text = err_on_terminal(folder, list, plain);
    CHECK(contains(text, "debug"));
    CHECK_FALSE(contains(text, "\033"));
  }
}

TEST_CASE("reading commands make no database: they know what comes with the program") {
  const std::vector<Arguments> commands = {
      {"query", "--shape", "4096x4096x4096", "--arch", "sm_90"},
      {"list"},
      {"show", "1"},
      {"emit", "--shape", "4096x4096x4096", "--arch", "sm_90"}};
  for (const Arguments& command : commands) {
    const TestFolder folder;
    const Finished finished = run(folder, command);
    CAPTURE(finished.err);
    CHECK(finished.code == 0);
    CHECK(finished.err.empty());
    CHECK(folder.content().empty());
    // A database that was asked for by name is not there.
    Arguments named = command;
    named.insert(named.end(), {"--db", folder.file("none.db")});
    const Finished missing = run(folder, named);
    CHECK(missing.code == 1);
    CHECK(std::count(missing.err.begin(), missing.err.end(), '\n') == 1);
    CHECK(folder.content().empty());
  }
}

TEST_CASE("explain that is given an arch says what it takes") {
  const TestFolder folder;
  const Finished finished = run(folder, {"explain", "--shape", "64x64x64", "--arch", "sm_90"});
  CHECK(finished.code == 2);
  CHECK(contains(finished.err, "unknown option '--arch'; --device names a GPU or its model"));
}

TEST_CASE("explain says what any GPU of a model runs by the results that come with the program") {
  const TestFolder folder;
  const Finished finished =
      run(folder, {"explain", "--device", "H100 80GB", "--shape", "4096x4096x4096"});
  CHECK(finished.code == 0);
  CHECK(contains(finished.out, "on any NVIDIA H100 80GB HBM3\n"));
  CHECK(contains(finished.out, "measured on another device of this model"));
  CHECK_FALSE(contains(finished.out, "measured on this device"));
}

TEST_CASE("space files name file and key") {
  const TestFolder folder;
  const auto with = [&](const std::string& path) {
    return refused(folder, {"--shape", "64x64x64", "--arch", "sm_80", "--space", path});
  };
  CHECK(contains(with(folder.file("none.json")), "none.json"));
  CHECK(contains(with(folder.write("a.json", "{\n  \"strategy\": }")),
                 "a.json:2:15: '}' is not expected here"));
  const std::string start = R"({"strategy": "double_buffer", "about": "", "values": {)";
  const std::string unknown = with(folder.write("b.json", start + R"("tile_q": [1]}})"));
  CHECK(contains(unknown, "b.json"));
  CHECK(contains(unknown, "tile_q"));
  const std::string type = with(folder.write("c.json", start + R"("tile_m": ["x"]}})"));
  CHECK(contains(type, "c.json"));
  CHECK(contains(type, "tile_m"));
  const std::string empty = with(folder.write("d.json", start + R"("tile_m": []}})"));
  CHECK(contains(empty, "d.json"));
  CHECK(contains(empty, "tile_m"));
  CHECK(contains(with(folder.write("e.json", R"({"strategy": "nothing", "values": {}})")),
                 "nothing"));
}

TEST_CASE("spaces without a tile to try are refused before there is a database") {
  const TestFolder folder;
  const Arguments options = {"--arch", "sm_80", "--db", folder.file("tuned.db")};
  const auto with = [&](Arguments arguments) {
    arguments.insert(arguments.end(), options.begin(), options.end());
    return refused(folder, arguments);
  };
  const std::string space = folder.write("none.json", R"({"strategy": "double_buffer",
    "about": "", "values": {"tile_m": [64], "tile_n": [64], "tile_k": [8], "warp_m": [48, 60],
    "warp_n": [32], "thread_m": [4], "thread_n": [8], "lanes": [0], "order": [0], "copy": [0],
    "fragments": [1], "min_blocks": [0], "raster": [1]}})");
  const std::string line = with({"tune", "--shape", "64x64x64", "--space", space});
  CHECK(contains(line, "has no tile to try in its space"));
  CHECK(contains(line, "tile_m divisible by warp_m"));
  // Legal tiles, but k has nothing to share out.
  for (const char* command : {"tune", "ladder"}) {
    CHECK(contains(with({command, "--shape", "64x64x1", "--strategy", "split_k"}),
                   "do not suit these sizes"));
  }
}

TEST_CASE("suite files name file, entry and key") {
  const TestFolder folder;
  const auto with = [&](const std::string& name, const std::string& text) {
    return refused(folder, {"--arch", "sm_80", "--suite", folder.write(name, text)});
  };
  CHECK(contains(refused({"--arch", "sm_80", "--suite", "/nonexistent"}), "/nonexistent"));
  CHECK(contains(with("a.json", "["), "a.json:1:1: the file ends here"));
  CHECK(
      contains(with("i.json", "{\"problems\": [\n {\"m\": 1,}]}"), "i.json:2:10: a comma stands"));
  CHECK(contains(with("b.json", "{}"), "problems"));
  CHECK(contains(with("c.json", R"({"problems": []})"), "empty"));
  const std::string line = with("d.json", R"({"problems": [{"m":1,"n":1,"k":1}, {"m":1,"n":1}]})");
  CHECK(contains(line, "d.json"));
  CHECK(contains(line, "problems[1]"));
  CHECK(contains(line, "\"k\""));
  CHECK(contains(with("e.json", R"({"problems": [{"m":1,"n":1,"k":1,"dtyp":"f32"}]})"), "dtyp"));
  CHECK(contains(with("f.json", R"({"problems": [{"m":1.5,"n":1,"k":1}]})"), "\"m\""));
  CHECK(contains(with("g.json", R"({"problems": [{"m":1,"n":1,"k":1,"dtype":"f33"}]})"), "f32"));
  // Known, but nothing computes it yet, and nothing else is asked for.
  CHECK(contains(with("h.json", R"({"problems": [{"m":1,"n":1,"k":1,"dtype":"f64"}]})"), "f64"));
}

TEST_CASE("NVRTC missing or too old") {
  const Arguments tune = {"--shape", "64x64x64", "--arch", "sm_90"};
  CHECK(contains(refused(tune, {{"GEMM_TUNE_NVRTC", "/nonexistent"}}), "/nonexistent"));
  const std::string line =
      refused(tune, {{"GEMM_TUNE_NVRTC", GEMMTUNE_BINARY_DIR "/tests/old_nvrtc/libnvrtc.so"}});
  CHECK(contains(line, "sm_90"));
  CHECK(contains(line, "11.4"));
  CHECK(contains(line, "11.8"));
}

TEST_CASE("GPU models") {
  const auto with = [](const Arguments& more) {
    Arguments arguments = {"--shape", "64x64x64"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return refused(arguments);
  };
  const std::string unknown = with({"--arch", "sm_89", "--model", "H100"});
  CHECK(contains(unknown, "'H100' for sm_89"));
  CHECK(contains(unknown, "NVIDIA L4, NVIDIA GeForce RTX 4090"));
  CHECK_FALSE(contains(unknown, "NVIDIA H100"));
  CHECK(contains(with({"--model", "A100"}), "several GPU models fit 'A100'"));
  CHECK(contains(with({"--model", "L4", "--device", "0"}), "--device"));
  CHECK(contains(with({"--model", "L4", "--arch", "sm_9"}), "unknown arch"));
  CHECK(contains(refused({"emit", "--shape", "64x64x64", "--model", "L4"}), "--strategy"));
}

TEST_CASE("emit --strategy takes the tile that the model ranks first where nothing is stored") {
  const TestFolder folder;
  const auto emitted = [&](const Arguments& more) {
    Arguments arguments = {"emit",   "--shape", "1000x1000x1000", "--strategy", "double_buffer",
                           "--json", "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run(folder, arguments);
    CAPTURE(finished.err);
    REQUIRE(finished.code == 0);
    return nlohmann::json::parse(finished.out);
  };
  const auto json = emitted({"--arch", "sm_86"});
  CHECK(json["arch"] == "sm_86");
  CHECK(json["model"] == "NVIDIA GeForce RTX 3090");
  CHECK(json["record"].is_null());
  CHECK(contains(json["source"], "-arch=sm_86 "));
  // For a beta other than 0 it is the same tile's other kernel.
  const auto reading = emitted({"--arch", "sm_86", "--reads-c"});
  CHECK(reading["config"] == json["config"]);
  CHECK(reading["name"] == json["name"].get<std::string>() + "_fetches_c");
  CHECK(reading["source_hash"] != json["source_hash"]);
  CHECK(contains(json["config"], "tile_m="));
  CHECK(emitted({"--model", "H100 PCIe"})["arch"] == "sm_90");
  // The same tile, named.
  const auto named = emitted({"--arch", "sm_86", "--tile", json["config"]});
  CHECK(named["source"] == json["source"]);
  CHECK(named["model"].is_null());
  CHECK(folder.content().empty());
}

TEST_CASE("a report that cannot be written costs no search") {
  const TestFolder folder;
  const std::string suite =
      folder.write("app.json", R"({"suite": "app", "problems": [{"m": 64, "n": 64, "k": 64}]})");
  const auto with = [&](const std::string& path) {
    return refused({"tune", "--suite", suite, "--arch", "sm_80", "--report", path});
  };
  CHECK(contains(with(suite), "is read by this command"));
  CHECK(contains(with("."), "is a folder"));
  CHECK(contains(with("none/report.html"), "no folder 'none'"));
}

TEST_CASE("tiles of emit") {
  const auto with = [&](const std::string& tile) {
    return refused({"emit", "--shape", "64x64x64", "--strategy", "double_buffer", "--tile", tile});
  };
  CHECK(contains(with("tile_q=4"), "tile_m"));
  const std::string foreign =
      with("tile_m=128 tile_n=128 tile_k=8 warp_m=64 warp_n=32 thread_m=8 thread_n=8 slices=2");
  CHECK(contains(foreign, "double_buffer has no parameter 'slices'; it has tile_m, tile_n"));
  CHECK(contains(with("tile_m=128 tile_n=128 tile_k=8 warp_m=60 warp_n=32 thread_m=8 thread_n=8"),
                 "divisible"));
  CHECK(contains(refused({"emit", "--shape", "64x64x64", "--tile", "tile_m=4"}), "--strategy"));
  CHECK(contains(refused({"emit", "--shape", "64x64x64", "--ptx", "--cubin"}), "--"));
}

TEST_CASE("emit takes a candidate or a problem") {
  CHECK(contains(refused({"emit", "0"}), "id"));
  CHECK(contains(refused({"emit", "1", "--shape", "64x64x64"}), "leave out the problem"));
  CHECK(contains(refused({"emit", "1", "--strategy", "naive"}), "leave out the problem"));
  for (const auto& [option, value] :
       {std::pair{"--layout", "nnn"}, std::pair{"--type", "bf16"}, std::pair{"--batch", "3"},
        std::pair{"--epilogue", "relu"}, std::pair{"--align", "16"}, std::pair{"--lda", "512"}}) {
    CHECK(contains(refused({"emit", "1", option, value}), "leave out the problem"));
    CHECK(contains(refused({"inspect", "1", option, value}), "not both"));
  }
  CHECK(contains(refused({"inspect", "1", "--arch", "sm_80"}), "not both"));
}

}  // namespace gemmtune::cli_test
