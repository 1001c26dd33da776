// What reads the database, on the built binary and stores that are filled by hand: query, list,
// show and diff.
#include <doctest/doctest.h>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "../contains.h"
#include "../store/store_fixture.h"
#include "process.h"

namespace gemmtune::cli_test {
namespace {

using nlohmann::json;

store::Record tuned(int64_t run, double median_us, int tile_m, int registers) {
  store::Record record = store::sample_record(run, median_us);
  record.key.config = "tile_m=" + std::to_string(tile_m) + " tile_n=64";
  record.registers = registers;
  return record;
}

// One problem with three candidates of our own, a vendor's and a failure, and a similar problem.
struct Tuned {
  TestFolder folder;
  std::string database = folder.file("tuned.db");

  Tuned() {
    const auto store = store::must_open(database);
    const int64_t run = store::prepare(*store);
    REQUIRE(store->record(tuned(run, 10, 64, 200)));
    REQUIRE(store->record(tuned(run, 11, 128, 128)));
    REQUIRE(store->record(tuned(run, 12, 256, 64)));
    store::Record vendor = store::sample_record(run, 9);
    vendor.outcome = store::Outcome::vendor;
    vendor.key = {"cublaslt", "rank=0 algo=21", "", "130000"};
    REQUIRE(store->record(vendor));
    REQUIRE(store->record(store::failed_record(run, store::Outcome::wrong_result, 5)));
    store::Record near = tuned(run, 20, 64, 128);
    near.job = store::sample_job({256, 128, 64});
    REQUIRE(store->record(near));
  }

  // A kernel that is legal for any pointers, for those that are multiples of so many bytes.
  void add_real(int align_bytes, double median_us) const {
    const auto store = store::must_open(database);
    const int64_t run = store::prepare(*store);
    store::Record record = store::sample_record(run, median_us);
    record.job.problem.align_bytes = align_bytes;
    record.key.strategy = "multistage";
    record.key.config =
        "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=4 thread_n=8 stages=3 lanes=1 "
        "order=1 fragments=2 raster=4";
    REQUIRE(store->record(record));
  }

  Finished run(Arguments arguments) const {
    arguments.insert(arguments.end(), {"--db", database});
    return cli_test::run(folder, arguments);
  }
  std::string done(const Arguments& arguments) const {
    const Finished finished = run(arguments);
    CAPTURE(finished.err);
    REQUIRE(finished.code == 0);
    CHECK(finished.err.empty());
    return finished.out;
  }
  json read(Arguments arguments) const {
    arguments.emplace_back("--json");
    return json::parse(done(arguments));
  }
  std::string refused(const Arguments& arguments) const {
    const Finished finished = run(arguments);
    CAPTURE(finished.err);
    CHECK(finished.code == 2);
    CHECK(finished.out.empty());
    CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
    return finished.err;
  }
};

const Arguments kQuery = {"query", "--shape", "128x128x64"};

Arguments query(const Arguments& more) {
  Arguments arguments = kQuery;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

size_t count_lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("query --where: the best of those that fulfil every condition") {
  const Tuned place;
  CHECK(place.read(kQuery)["results"][0]["best"]["registers"] == 200);
  const json few = place.read(query({"--where", "registers <= 128", "--all"}));
  CHECK(few["results"][0]["best"]["registers"] == 128);
  CHECK(few["results"][0]["vendor_best"]["strategy"] == "cublaslt");
  for (const json& candidate : few["candidates"]) CHECK(candidate["registers"] <= 128);
  const json both = place.read(query({"--where", "registers <= 128", "--where", "tile_m=256"}));
  CHECK(both["results"][0]["best"]["registers"] == 64);
  CHECK(place.read(query({"--all", "--where", "outcome = wrong_result"}))["candidates"].size() ==
        1);
  const Finished none = place.run(query({"--where", "registers > 255"}));
  CHECK(none.code == 1);
  CHECK(contains(none.err, "fulfils every --where"));
  CHECK(contains(place.refused(query({"--where", "register > 255"})), "did you mean 'registers'"));
  CHECK(contains(place.refused(query({"--where", "registers"})), "COLUMN OP VALUE"));
  const json near =
      place.read({"query", "--shape", "200x128x64", "--nearest", "--where", "registers = 128"});
  REQUIRE(near["nearest"].size() == 1);
  CHECK(near["nearest"][0]["best"]["problem"]["m"] == 256);
}

TEST_CASE("query --strategy cublaslt finds the vendor's best") {
  const Tuned place;
  const json results = place.read(query({"--strategy", "cublaslt"}))["results"];
  REQUIRE(results.size() == 1);
  CHECK(results[0]["best"]["config"] == "rank=0 algo=21");
  CHECK(contains(place.done(query({"--strategy", "cublaslt"})), "cublaslt rank=0 algo=21"));
  CHECK(place.read(kQuery)["results"][0]["best"]["strategy"] == "double_buffer");
}

TEST_CASE("query gives what is stored for pointers of another alignment, and says so") {
  const Tuned place;
  place.add_real(256, 10);
  CHECK(place.read(kQuery)["borrowed_from"].is_null());
  const json borrowed = place.read(query({"--align", "16"}));
  CHECK(borrowed["key"] == "f32/f32/ieee/ttt/128x128x64/align=16");
  CHECK(borrowed["borrowed_from"] == "f32/f32/ieee/ttt/128x128x64");
  CHECK(borrowed["results"][0]["best"]["strategy"] == "multistage");
  CHECK(contains(
      place.done(query({"--align", "4"})),
      "no result is stored for pointers that are multiples of 4 bytes; these are for 256"));
  // Anything between two classes counts as the smaller.
  CHECK(place.read(query({"--align", "64"}))["key"] == "f32/f32/ieee/ttt/128x128x64/align=16");
  CHECK(place.read(query({"--align", "1024"}))["key"] == "f32/f32/ieee/ttt/128x128x64");
}

TEST_CASE("query, emit and the library borrow from the same class of alignment: the nearest") {
  const Tuned place;
  place.add_real(256, 5);
  place.add_real(16, 20);
  const Arguments at4 = {"--shape", "128x128x64", "--align", "4"};
  const auto of = [&](Arguments command) {
    command.insert(command.end(), at4.begin(), at4.end());
    return command;
  };
  const json queried = place.read(of({"query"}));
  CHECK(queried["borrowed_from"] == "f32/f32/ieee/ttt/128x128x64/align=16");
  const json explained =
      place.read(of({"explain", "--no-vendor", "--device", std::string(store::kUuid)}));
  CHECK(explained["chosen"]["neighbour"] == "f32/f32/ieee/ttt/128x128x64/align=16");
  CHECK(place.read(of({"emit"}))["record"]["id"] == queried["results"][0]["best"]["id"]);
}

TEST_CASE("a kernel that needs wider pointers is not borrowed") {
  const Tuned place;
  {
    const auto store = store::must_open(place.database);
    const int64_t run = store::prepare(*store);
    store::Record record = store::sample_record(run, 10);
    record.job.problem = make_problem({256, 256, 256}, DataType::bf16, *parse_layout("tnt"));
    record.key.strategy = "wgmma_tma";
    record.key.config = "tile_m=64 tile_n=64 tile_k=64 stages=4 raster=4 consumers=1";
    REQUIRE(store->record(record));
  }
  const auto of = [](const char* command, const char* align) {
    return Arguments{command,    "--shape", "256x256x256", "--type", "bf16",
                     "--layout", "tnt",     "--align",     align};
  };
  CHECK(place.read(of("query", "16"))["borrowed_from"] == "bf16/f32/ieee/tnt/256x256x256");
  CHECK(place.read(of("emit", "16"))["strategy"] == "wgmma_tma");
  for (const char* command : {"query", "emit"}) {
    const Finished none = place.run(of(command, "8"));
    CHECK(none.code == 1);
    CHECK(contains(none.err, "no result for bf16/f32/ieee/tnt/256x256x256/align=8"));
  }
}

TEST_CASE("explain says what the runtime library would run, and why not another") {
  const Tuned tuned;
  // The vendor's 9 us beat our 10.
  const std::string text =
      tuned.done({"explain", "--device", std::string(store::kUuid), "--shape", "128x128x64"});
  CHECK(contains(text, "f32/f32/ieee/ttt/128x128x64"));
  CHECK(contains(text, "uses    cuBLASLt rank=0 algo=21"));
  const json answer =
      tuned.read({"explain", "--device", std::string(store::kUuid), "--shape", "128x128x64"});
  CHECK(answer["chosen"]["route"] == "cublaslt");
  CHECK(answer["chosen"]["expected_us"] == 9);
  // Without it: what serves every problem. The tiles of the sample are no kernel's.
  const json without = tuned.read(
      {"explain", "--device", std::string(store::kUuid), "--shape", "128x128x64", "--no-vendor"});
  CHECK(without["chosen"]["strategy"] == "multistage");
  CHECK(without["chosen"]["arch"] == "sm_90");
  CHECK(without["chosen"]["provenance"].is_null());
  CHECK(without["chosen"]["neighbour"].is_null());
  CHECK_FALSE(without["rejected"].empty());
  const Finished unknown =
      tuned.run({"explain", "--shape", "128x128x64", "--device", "no such GPU"});
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err, "the database has no results of such a GPU"));
  CHECK(tuned.run({"explain", "--shape", "0x1x1"}).code == 2);
}

TEST_CASE("results for an arch of another version are shown, and in nobody's way") {
  const Tuned place;
  const std::string uuid = "GPU-of-another-version";
  const std::string jetson = "GPU-between-two-archs";
  std::string id;
  {
    const auto store = store::must_open(place.database);
    Device device = store::sample_device(uuid);
    device.name = "NVIDIA B200";
    device.arch = {10, 0, false};
    REQUIRE(store->add_device(device));
    device = store::sample_device(jetson);
    device.name = "Orin";
    device.arch = {8, 7, false};
    REQUIRE(store->add_device(device));
    const int64_t run = store::prepare(*store);
    store::Record record = tuned(run, 1, 64, 128);
    record.job.device_uuid = uuid;
    record.job.arch = {10, 0, false};
    const auto stored = store->record(record);
    REQUIRE(stored);
    id = std::to_string(*stored);
  }
  CHECK(contains(place.done({"list"}), "sm_100"));
  CHECK(place.read(query({"--device", uuid}))["results"][0]["best"]["arch"] == "sm_100");
  CHECK(place.read({"model", "report"})["strategies"][0]["candidates"] == 4);
  CHECK(contains(place.refused({"emit", id}), "is for sm_100, which gemm-tune has no code for"));
  CHECK(place.read({"emit", "--shape", "128x128x64"})["arch"] == "sm_90");
  const auto explain = [&](const std::string& gpu) {
    return Arguments{"explain", "--shape", "128x128x64", "--device", gpu};
  };
  CHECK(contains(place.refused(explain(uuid)), "NVIDIA B200 is sm_100, which gemm-tune has no"));
  // Code for sm_86 runs there.
  CHECK(place.read(explain(jetson))["chosen"]["route"] == "cublaslt");
  const std::string several = place.refused(explain("GPU-0"));
  CHECK(contains(several, "give more of the uuid"));
  CHECK_FALSE(contains(several, "no model"));
}

TEST_CASE("texts of a database reach the terminal escaped, JSON and CSV whole") {
  const Tuned place;
  const std::string name = "H\x1b[2J\a\n200";
  SQLite::Database raw(place.database, SQLite::OPEN_READWRITE);
  SQLite::Statement update(raw, "UPDATE devices SET name = ?");
  update.bind(1, name);
  update.exec();
  SQLite::Statement reasons(raw, "UPDATE candidates SET reason = ?");
  reasons.bind(1, name);
  reasons.exec();
  const std::string shown = "H\\u001b[2J\\u0007\\u000a200";
  const std::string uuid(store::kUuid);
  for (const Arguments& arguments :
       {query({"--all"}), Arguments{"list"}, Arguments{"show", "1"}, Arguments{"list", "devices"},
        Arguments{"explain", "--device", uuid, "--shape", "128x128x64"},
        Arguments{"diff", place.database, place.database}}) {
    const bool names_it = arguments.front() == "diff";
    const std::string text =
        (names_it ? cli_test::run(place.folder, arguments) : place.run(arguments)).out;
    CAPTURE(arguments.front());
    CAPTURE(text);
    CHECK(text.find_first_of("\x1b\a") == std::string::npos);
    CHECK(contains(text, shown));
  }
  const Finished unknown = place.run(query({"--device", "no such GPU"}));
  CHECK(contains(unknown.err, shown));
  CHECK(std::count(unknown.err.begin(), unknown.err.end(), '\n') == 1);
  CHECK(place.read(query({"--all"}))["results"][0]["device"] == name);
  CHECK(contains(place.done(query({"--csv"})), name));
}

TEST_CASE("query and list print CSV") {
  const Tuned place;
  const std::string best = place.done(query({"--csv"}));
  CHECK(count_lines(best) == 2);
  CHECK(best.starts_with("id,problem,m,n,k,"));
  CHECK(contains(best, ",NVIDIA H200,"));
  CHECK(count_lines(place.done(query({"--csv", "--all"}))) == 6);
  CHECK(count_lines(place.done(query({"--csv", "--nearest"}))) == 3);
  const std::string list = place.done({"list", "--csv"});
  CHECK(count_lines(list) == 3);
  CHECK(list.substr(0, list.find('\n')) == best.substr(0, best.find('\n')));
  CHECK(count_lines(place.done({"list", "--csv", "--where", "m > 128"})) == 2);
  CHECK(place.read({"list", "--where", "m > 128"})["problems"].size() == 1);
  CHECK(contains(place.refused({"list", "--csv", "--json"}), "not both"));
  CHECK(contains(place.refused(query({"--csv", "--json"})), "not both"));
  CHECK(contains(place.refused({"list", "archs", "--csv"}), "for problems"));
  CHECK(contains(place.refused({"list", "--where", "x=1"}), "unknown column"));
}

TEST_CASE("show has every sample, the clocks, the machine, the source and the runs") {
  const Tuned place;
  {
    const auto store = store::must_open(place.database);
    const auto again = store->begin_run({"0.2.0", "13.1", 13010, "--retune"});
    REQUIRE(again);
    REQUIRE(store->record(tuned(*again, 10.5, 64, 200)));
  }
  const std::string id =
      place.read(query({"--where", "tile_m = 64"}))["results"][0]["best"]["id"].dump();
  const json shown = place.read({"show", id});
  REQUIRE(shown["history"].size() == 2);
  CHECK(shown["history"][0]["samples_us"].size() == 3);
  CHECK(shown["history"][0]["run"]["tool_version"] == "0.1.0");
  CHECK(shown["history"][1]["run"]["driver_version"] == 13010);
  CHECK(shown["run"]["options"] == "--retune");
  CHECK(shown["device"]["sm_count"] == 132);
  const std::string text = place.done({"show", id});
  for (const char* part :
       {"samples of ", "     9.00     10.00     11.00", "1980", "1500", "132 SMs",
        "0123456789abcdef", "gemm-tune 0.2.0", "CUDA 13.1", "--retune"}) {
    CAPTURE(std::string(part));
    CHECK(contains(text, part));
  }
}

TEST_CASE("model report compares what is predicted with what was measured") {
  const Tuned tuned;
  const json report = tuned.read({"model", "report"});
  REQUIRE(report["strategies"].size() == 1);
  const json& judged = report["strategies"][0];
  CHECK(judged["strategy"] == "double_buffer");
  CHECK(judged["problems"] == 2);
  CHECK(judged["candidates"] == 4);
  CHECK(judged["ranked"] == 0);
  CHECK(judged["predicted_over_measured"] > 0);
  CHECK(contains(tuned.done({"model", "report"}), "double_buffer"));
  CHECK(contains(tuned.done({"model", "report", "--type", "bf16"}), "no measured candidates"));
  CHECK(contains(tuned.refused({"model", "report", "--type", "f99"}), "f99"));
}

TEST_CASE("model fit says where too little was measured") {
  const Tuned tuned;
  const Finished fit = tuned.run({"model", "fit"});
  CHECK(fit.code != 0);
  CHECK(fit.out.empty());
  CHECK(contains(fit.err, "sm_90: no strategy has measurements of 4 problems and 100 candidates"));
  CHECK(contains(tuned.refused({"model", "fit", "--arch", "h200"}), "h200"));
}

TEST_CASE("diff compares the best of two databases") {
  const Tuned a;
  const std::string b = a.folder.file("b.db");
  {
    const auto store = store::must_open(b);
    const int64_t run = store::prepare(*store);
    REQUIRE(store->record(tuned(run, 8, 512, 128)));
    store::Record other = tuned(run, 20, 64, 128);
    other.job = store::sample_job({512, 128, 64});
    REQUIRE(store->record(other));
  }
  const auto diff = [&](Arguments more) {
    Arguments arguments = {"diff", a.database, b};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli_test::run(a.folder, arguments);
  };
  const json rows = json::parse(diff({"--json"}).out);
  REQUIRE(rows["rows"].size() == 1);
  CHECK(rows["rows"][0]["ratio"] == 1.25);
  CHECK(rows["rows"][0]["winner_changed"] == true);
  CHECK(rows["only_a"].size() == 1);
  CHECK(rows["only_b"].size() == 1);
  const json large = json::parse(diff({"--json", "--threshold", "30"}).out);
  CHECK(large["rows"].empty());
  CHECK(large["within_threshold"] == 1);
  CHECK(json::parse(diff({"--json", "--arch", "sm_80"}).out)["only_a"].empty());
  const Finished text = diff({});
  CHECK(text.code == 0);
  CHECK(contains(text.out, "1.250"));
  CHECK(contains(text.out, "only in " + b));
  const Finished missing = cli_test::run(a.folder, {"diff", a.database, a.folder.file("none.db")});
  CHECK(missing.code == 2);
  CHECK(contains(missing.err, "none.db"));
  CHECK(diff({"--threshold", "-1"}).code == 2);
  CHECK(cli_test::run(a.folder, {"diff", b}).code == 2);
}

}  // namespace gemmtune::cli_test
