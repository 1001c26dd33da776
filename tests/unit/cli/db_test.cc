// gemm-tune db, on the built binary. Stores are filled without a compiler or a device.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../contains.h"
#include "../store/random_records.h"
#include "../store/store_fixture.h"
#include "process.h"

namespace gemmtune::cli_test {
namespace {

using nlohmann::json;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A folder with databases in it.
struct Databases {
  TestFolder folder;

  std::string path(const std::string& name = "tuned.db") const { return folder.file(name); }

  // A database of `count` random records, a third of them vendor's, failed or stale.
  std::string random(const std::string& name, unsigned seed, int count = 60) const {
    const auto store = store::must_open(path(name));
    const int64_t run = store::prepare(*store);
    store::Generator generator(seed);
    for (int i = 0; i < count; ++i) static_cast<void>(store->record(generator.record(run)));
    return path(name);
  }

  Finished run(Arguments arguments, const std::string& database = "tuned.db") const {
    arguments.insert(arguments.begin(), "db");
    arguments.insert(arguments.end(), {"--db", path(database)});
    return cli_test::run(folder, arguments);
  }
  // One that has to work.
  std::string done(const Arguments& arguments, const std::string& database = "tuned.db") const {
    const Finished finished = run(arguments, database);
    CAPTURE(finished.err);
    REQUIRE(finished.code == 0);
    CHECK(finished.err.empty());
    return finished.out;
  }
  json read(Arguments arguments, const std::string& database = "tuned.db") const {
    arguments.emplace_back("--json");
    return json::parse(done(arguments, database));
  }
  // One that is refused with a line on stderr and changes nothing.
  std::string refused(const Arguments& arguments, const std::string& database = "tuned.db") const {
    const auto before = content();
    const Finished finished = run(arguments, database);
    CAPTURE(finished.err);
    CHECK(finished.code == 2);
    CHECK(finished.out.empty());
    CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
    CHECK(content() == before);
    return finished.err;
  }
  // What is in the folder, without the files that SQLite keeps beside a database that is read.
  std::vector<std::string> content() const {
    std::vector<std::string> names = folder.content();
    std::erase_if(names, [](const std::string& name) {
      return name.ends_with("-wal") || name.ends_with("-shm");
    });
    return names;
  }
};

std::string stored_text(const std::string& file) {
  return store::read_bytes(file);
}

}  // namespace

TEST_CASE("db names its commands") {
  const TestFolder folder;
  const auto fails = [&](const Arguments& arguments) {
    const Finished finished = run(folder, arguments);
    CHECK(finished.code == 2);
    CHECK(finished.out.empty());
    return finished.err;
  };
  CHECK(contains(fails({"db"}), "info, check, upgrade, export"));
  CHECK(contains(fails({"db", "exprot"}), "did you mean 'export'"));
  CHECK(contains(fails({"db", "--json"}), "export"));
  CHECK(contains(fails({"db", "prune", "--stael"}), "did you mean '--stale'"));
  CHECK(contains(fails({"db", "prune", "--stael"}), "gemm-tune db prune --help"));
  CHECK(contains(fails({"db", "import"}), "file is required"));
  for (const char* command : {"info", "check", "export", "import", "merge", "prune", "pack"}) {
    CAPTURE(command);
    const Finished help = run(folder, {"db", command, "--help"});
    CHECK(help.code == 0);
    CHECK(contains(help.out, "Example"));
    CHECK(contains(help.out, std::string("gemm-tune db ") + command));
    CHECK(contains(help.out, "--json"));
  }
  CHECK(folder.content().empty());
}

TEST_CASE("JSON names files whose names are no UTF-8") {
  const Databases place;
  const std::string name = "caf\xe9.db";
  const std::string shown = "caf\xef\xbf\xbd.db";
  place.random(name, 1);
  for (const char* command : {"info", "check"}) {
    CAPTURE(command);
    CHECK(contains(place.read({command}, name)["database"], shown));
  }
  CHECK(contains(place.read({"export", place.path("caf\xe9.jsonl")}, name)["file"], "jsonl"));
  place.random("tuned.db", 2);
  CHECK(contains(place.read({"merge", place.path(name)})["merged"][0]["file"], shown));
}

TEST_CASE("stdin that cannot be read is no empty import") {
  const Databases place;
  const std::string import =
      GEMMTUNE_BINARY_DIR "/bin/gemm-tune db import - --db " + place.path() + " 2>/dev/null ";
  for (const char* input : {"</tmp", "<&-"}) {
    CAPTURE(input);
    const int status = std::system((import + input + " >/dev/null").c_str());
    CHECK(WEXITSTATUS(status) == 2);
  }
  CHECK(place.folder.content().empty());
  CHECK(WEXITSTATUS(std::system((import + "</dev/null >/dev/null").c_str())) == 0);
}

TEST_CASE("db info counts, db check reads") {
  const Databases place;
  place.random("tuned.db", 1);
  const json info = place.read({"info"});
  CHECK(info["database"] == place.path());
  CHECK(info["devices"] == 2);
  CHECK(info["runs"] == 1);
  CHECK(info["candidates"] > 10);
  CHECK(info["measurements"] > 1);
  int64_t outcomes = 0;
  for (const auto& [name, number] : info["outcomes"].items()) outcomes += number.get<int64_t>();
  CHECK(outcomes == info["candidates"]);
  const std::string text = place.done({"info"});
  CHECK(contains(text, "candidates"));
  CHECK(contains(text, info["last_write"].get<std::string>()));
  CHECK(contains(place.done({"check"}), "no damage"));
  CHECK(place.read({"check"})["damaged"] == false);
  CHECK(place.run({"info"}, "none.db").code == 1);
  CHECK_FALSE(std::filesystem::exists(place.path("none.db")));
}

TEST_CASE("db upgrade makes a database of an older schema readable") {
  const Databases place;
  SQLite::Database(place.path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec(store::read_bytes(std::filesystem::path(GEMMTUNE_SOURCE_DIR) /
                              "tests/unit/store/version_9.sql"));
  const Finished refused = place.run({"info"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "gemm-tune db upgrade --db"));
  const Finished doctor = cli_test::run(place.folder, {"doctor", "--db", place.path()});
  CHECK(contains(doctor.out, "ok        database"));
  CHECK(contains(doctor.out, "of schema version 9"));
  CHECK(contains(doctor.out, "gemm-tune db upgrade --db " + place.path()));
  const json upgraded = place.read({"upgrade"});
  CHECK(upgraded["upgraded_from"] == 9);
  CHECK(place.read({"info"})["schema_version"] == upgraded["schema_version"]);
  CHECK(place.read({"upgrade"})["upgraded_from"].is_null());
  CHECK(contains(place.done({"upgrade"}), "it had that already"));
  CHECK(place.run({"upgrade"}, "none.db").code == 1);
  const std::string empty = place.folder.write("empty.db", "");
  CHECK(contains(place.run({"upgrade"}, "empty.db").err, "is empty"));
  CHECK(std::filesystem::file_size(empty) == 0);
  CHECK_FALSE(std::filesystem::exists(place.path("none.db")));
}

TEST_CASE("db check says the first damage") {
  const Databases place;
  place.random("tuned.db", 2, 400);
  const std::string sound = stored_text(place.path());
  constexpr size_t kPage = 4096;
  REQUIRE(sound.size() > 20 * kPage);
  int found_by_checking = 0;  // else already when it is opened
  for (size_t page = 2; page < sound.size() / kPage; page += 5) {
    CAPTURE(page);
    std::string bytes = sound;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(page * kPage), kPage, '\x5a');
    store::write_bytes(place.path(), bytes);
    const Finished finished = place.run({"check"});
    CHECK(finished.code != 0);
    CHECK(finished.out.empty());
    CHECK(contains(finished.err, "damage"));
    CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
    found_by_checking += finished.code == 1 ? 1 : 0;
  }
  CHECK(found_by_checking > 0);
}

TEST_CASE("export, import, export: the same bytes") {
  const Databases place;
  for (const unsigned seed : {3U, 4U, 5U}) {
    const std::string from = "from" + std::to_string(seed) + ".db";
    const std::string to = "to" + std::to_string(seed) + ".db";
    place.random(from, seed);
    const std::string first = place.path(from + ".jsonl");
    const std::string second = place.path(to + ".jsonl");
    const json report = place.read({"export", first}, from);
    CHECK(report["written"] == place.read({"info"}, from)["candidates"]);
    CHECK(report["left_out"] == 0);
    const json counts = place.read({"import", first}, to);
    CHECK(counts["added"] == report["written"]);
    CHECK(counts["bad_lines"].empty());
    place.done({"export", second}, to);
    CHECK(stored_text(first) == stored_text(second));
    CHECK(place.done({"export"}, to) == stored_text(first));
    // Again: nothing is new.
    const json again = place.read({"import", first}, to);
    CHECK(again["added"] == 0);
    CHECK(again["changed"] == 0);
    CHECK(again["unchanged"] == report["written"]);
  }
}

TEST_CASE("what is exported can be restricted, and is ordered") {
  const Databases place;
  place.random("tuned.db", 6, 200);
  const auto exported = [&](Arguments filter) {
    filter.insert(filter.begin(), "export");
    return lines_of(place.done(filter));
  };
  const auto all = exported({});
  const auto warm = exported({"--warm"});
  const auto f16 = exported({"--type", "f16"});
  CHECK(warm.size() < all.size());
  CHECK(!warm.empty());
  for (const std::string& line : warm) CHECK(json::parse(line)["warm"] == true);
  for (const std::string& line : f16)
    CHECK(contains(json::parse(line)["problem"].get<std::string>(), "f16/"));
  CHECK(!f16.empty());
  for (const std::string& line : exported({"--strategy", "split_k"}))
    CHECK(json::parse(line)["strategy"] == "split_k");
  for (const std::string& line : exported({"--device", store::kOtherUuid}))
    CHECK(json::parse(line)["device"]["uuid"] == store::kOtherUuid);
  const auto best = exported({"--best"});
  CHECK(best.size() < all.size());
  size_t at = 0;  // in the order of all
  for (const std::string& line : best) {
    while (at < all.size() && all[at] != line) ++at;
    CHECK(at < all.size());
  }
  CHECK(exported({"--arch", "sm_80"}).empty());
  CHECK(contains(place.refused({"export", "--arch", "sm_81"}), "did you mean 'sm_80'"));
  CHECK(contains(place.refused({"export", "--device", "A100"}), "no results of such a GPU"));
  CHECK(contains(place.refused({"export", "--format", "json"}), "jsonl"));
  CHECK(contains(place.refused({"export", place.folder.path().string()}), "is a folder"));
  CHECK(contains(place.refused({"export", "none/x.jsonl"}), "no folder 'none'"));
  CHECK(contains(place.refused({"export", "--json"}), "name a FILE"));
}

TEST_CASE("an export that fails leaves the file as it was, and nothing else") {
  const Databases place;
  const std::string file = place.folder.write("kept.jsonl", "kept\n");
  const auto before = place.folder.content();
  CHECK(place.run({"export", file}, "none.db").code == 1);
  CHECK(stored_text(file) == "kept\n");
  CHECK(place.folder.content() == before);
}

TEST_CASE("an export or a pack does not take a database's place") {
  const Databases place;
  place.random("tuned.db", 6);
  const auto before = stored_text(place.path());
  for (const char* command : {"export", "pack"}) {
    CAPTURE(command);
    const Finished refused = place.run({command, place.path()}, "tuned.db");
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "is a database; name another file to write"));
  }
  CHECK(stored_text(place.path()) == before);
}

TEST_CASE("T4 has what ran, and why the rest did not") {
  const Databases place;
  const auto store = store::must_open(place.path());
  const int64_t run = store::prepare(*store);
  REQUIRE(store->record(store::sample_record(run, 20.0, 1)));
  REQUIRE(store->record(store::failed_record(run, store::Outcome::compile_failed, 2)));
  store::Record predicted = store::sample_record(run, 5.0, 3);
  predicted.provenance = store::Provenance::predicted;
  predicted.measurement.reset();
  REQUIRE(store->record(predicted));
  const std::string file = place.path("results.json");
  const json report = place.read({"export", file, "--format", "t4"});
  CHECK(report["written"] == 2);
  CHECK(report["left_out"] == 1);
  const json t4 = json::parse(stored_text(file));
  CHECK(t4["schema_version"] == "1.0.0");
  REQUIRE(t4["results"].size() == 2);
  const json& good = t4["results"][0];
  CHECK(good["invalidity"] == "correct");
  CHECK(good["correctness"] == 1);
  CHECK(good["configuration"]["strategy"] == "double_buffer");
  CHECK(good["configuration"]["tile_m"] == 128);
  REQUIRE(good["times"]["runtimes"].size() == 3);
  CHECK(good["times"]["runtimes"][1].get<double>() == doctest::Approx(0.020));
  CHECK(good["measurements"][0]["name"] == "time");
  CHECK(good["measurements"][0]["value"].get<double>() == doctest::Approx(0.020));
  CHECK(good["measurements"][0]["unit"] == "ms");
  CHECK(good["objectives"][0] == "time");
  const json& bad = t4["results"][1];
  CHECK(bad["invalidity"] == "compile");
  CHECK(bad["correctness"] == 0);
  CHECK(bad["times"]["runtimes"].empty());
  CHECK(t4["metadata"]["environment"]["device_query"].contains(store::kUuid));
  const Finished piped = place.run({"export", "--format", "t4"});
  CHECK(piped.out == stored_text(file));
  CHECK(contains(piped.err, "1 candidates left out"));
}

TEST_CASE("bad lines are named, good ones kept") {
  const Databases place;
  place.random("from.db", 7);
  std::vector<std::string> lines = lines_of(place.done({"export"}, "from.db"));
  const size_t good = lines.size();
  REQUIRE(good > 10);
  lines.insert(lines.begin(), "not JSON");
  lines.insert(lines.begin() + 5, R"({"gemm_tune": 6})");
  lines.insert(lines.begin() + 7, "");  // blank ones are passed over
  lines.push_back(lines.back().substr(0, 100));
  std::string text;
  for (const std::string& line : lines) text += line + "\r\n";
  const std::string file = place.folder.write("some.jsonl", text);
  const Finished finished = place.run({"import", file, "--json"});
  CHECK(finished.code == 2);
  const json report = json::parse(finished.out);
  CHECK(report["added"] == good);
  REQUIRE(report["bad_lines"].size() == 3);
  CHECK(report["bad_lines"][0]["line"] == 1);
  CHECK(report["bad_lines"][1]["line"] == 6);
  CHECK(report["bad_lines"][2]["line"] == lines.size());
  CHECK(contains(finished.err, file + ":1: no JSON"));
  CHECK(contains(finished.err, file + ":6: it is of version 6"));
  CHECK(contains(finished.err, "bad lines that were not imported: 3"));
  CHECK(place.done({"export"}) == place.done({"export"}, "from.db"));
}

TEST_CASE("a file without one good line leaves the database alone") {
  const Databases place;
  std::string text;
  for (int i = 0; i < 50; ++i) text += "x\n";
  const std::string file = place.folder.write("bad.jsonl", text);
  const auto before = place.folder.content();
  const Finished finished = place.run({"import", file});
  CHECK(finished.code == 2);
  CHECK(finished.out == "0 added, 0 changed, 0 unchanged\n");
  const auto shown = lines_of(finished.err);
  REQUIRE(shown.size() == 22);  // the first 20, how many more, and what it means
  CHECK(contains(shown[20], "30 more"));
  CHECK(place.folder.content() == before);
  CHECK(contains(place.refused({"import", place.path("none.jsonl")}), "there is no file"));
  const std::string compressed = place.folder.write("some.jsonl.gz", "\x1f\x8b\x08 and so on\nx\n");
  CHECK(contains(place.refused({"import", compressed}), "zcat FILE | gemm-tune db import -"));
  CHECK(contains(place.refused({"import", place.folder.path().string()}), "is a folder"));
}

TEST_CASE("merging twice equals once, in any order") {
  const Databases place;
  const std::string a = place.random("a.db", 8);
  const std::string b = place.random("b.db", 9);
  const json merged = place.read({"merge", a, b}, "ab.db");
  REQUIRE(merged["merged"].size() == 2);
  CHECK(merged["merged"][0]["file"] == a);
  CHECK(merged["merged"][0]["added"] == place.read({"info"}, "a.db")["candidates"]);
  const std::string once = place.done({"export"}, "ab.db");
  const json again = place.read({"merge", a, b, a}, "ab.db");
  for (const json& other : again["merged"]) {
    CHECK(other["added"] == 0);
    CHECK(other["changed"] == 0);
  }
  CHECK(place.done({"export"}, "ab.db") == once);
  CHECK(contains(place.done({"merge", b, a}, "ba.db"), "unchanged"));
  CHECK(place.done({"export"}, "ba.db") == once);
}

TEST_CASE("a database that cannot be merged is named before anything is written") {
  const Databases place;
  const std::string a = place.random("a.db", 10);
  CHECK(contains(place.refused({"merge", a, place.path("none.db")}), "none.db"));
  const std::string text = place.folder.write("text.db", "no database, but longer than a header");
  CHECK(contains(place.refused({"merge", a, text}), "is not a gemm-tune database"));
  CHECK(contains(place.refused({"merge", a}, "a.db"), "is the database itself"));
}

TEST_CASE("prune needs a criterion, counts, and keeps the best") {
  const Databases place;
  place.random("tuned.db", 11, 300);
  CHECK(contains(place.refused({"prune"}), "--stale, --failures, --keep N, --not-since TIME"));
  CHECK(contains(place.refused({"prune", "--dry-run"}), "at least one"));
  CHECK(contains(place.refused({"prune", "--keep", "0"}), "--keep"));
  CHECK(contains(place.refused({"prune", "--not-since", "yesterday"}), "2025-01-31"));
  CHECK(contains(place.refused({"prune", "--not-since", "2025-02-30"}), "2025-01-31"));
  CHECK(place.run({"prune", "--stale"}, "none.db").code == 1);
  CHECK_FALSE(std::filesystem::exists(place.path("none.db")));

  const std::string best = place.done({"export", "--best"});
  const std::string all = place.done({"export"});
  const json planned = place.read({"prune", "--failures", "--stale", "--dry-run"});
  CHECK(planned["dry_run"] == true);
  CHECK(planned["candidates"] > 0);
  CHECK(place.done({"export"}) == all);
  const json pruned = place.read({"prune", "--failures", "--stale"});
  CHECK(pruned["candidates"] == planned["candidates"]);
  CHECK(place.done({"export", "--best"}) == best);
  CHECK(place.read({"info"})["candidates"].get<int64_t>() ==
        pruned["candidates_before"].get<int64_t>() - pruned["candidates"].get<int64_t>());
  CHECK(contains(place.done({"prune", "--not-since", "2000-01-01"}), "removed 0 of"));
  place.done({"prune", "--not-since", "2999-01-01T10:00Z", "--keep", "1"});
  CHECK(place.run({"check"}).code == 0);
}

TEST_CASE("pack says why there is nothing to pack") {
  const Databases place;
  const std::string pack = place.path("x.pack");
  CHECK(place.run({"pack", pack}, "none.db").code == 1);
  {
    const auto store = store::must_open(place.path());
    const int64_t run = store::prepare(*store);
    REQUIRE(store->record(store::sample_record(run)));  // whose tile no rule allows
  }
  const Finished none = place.run({"pack", pack, "--arch", "sm_80"});
  CHECK(none.code == 1);
  CHECK(contains(none.err, "nothing to pack"));
  CHECK(contains(place.run({"pack", pack}).err, "breaks the rule"));
  CHECK(contains(place.refused({"pack", pack, "--arch", "sm_81"}), "did you mean 'sm_80'"));
  CHECK(contains(place.refused({"pack", pack, "--device", "A100"}), "no results of such a GPU"));
  CHECK(contains(place.refused({"pack", pack, "--type", "f16"}), "add --shape or --suite"));
  CHECK(contains(place.refused({"pack", "none/x.pack"}), "no folder 'none'"));
  CHECK(contains(place.refused({"pack"}), "file is required"));
  CHECK_FALSE(std::filesystem::exists(pack));
}

TEST_CASE("a pack of the vendor's algorithms alone needs no compiler") {
  const Databases place;
  {
    const auto store = store::must_open(place.path());
    const int64_t run = store::prepare(*store);
    store::Record vendor = store::sample_record(run);
    vendor.outcome = store::Outcome::vendor;
    vendor.key = {"cublaslt", "rank=0 algo=21", "", "130000"};
    REQUIRE(store->record(vendor));
  }
  const Finished finished = cli_test::run(
      place.folder, {"db", "pack", place.path("x.pack"), "-q", "--json", "--db", place.path()},
      {{"GEMM_TUNE_NVRTC", "/nonexistent"}});
  CAPTURE(finished.err);
  REQUIRE(finished.code == 0);
  CHECK(finished.err.empty());
  const json report = json::parse(finished.out);
  CHECK(report["winners"] == 1);
  CHECK(report["images"] == 0);
  CHECK(report["bytes"] == std::filesystem::file_size(place.path("x.pack")));
  // The same to stdout, and no file of that name.
  const auto before = place.folder.content();
  const Finished piped = cli_test::run(place.folder, {"db", "pack", "-", "--db", place.path()},
                                       {{"GEMM_TUNE_NVRTC", "/nonexistent"}});
  std::ifstream file(place.path("x.pack"), std::ios::binary);
  CHECK(piped.code == 0);
  CHECK(piped.out == std::string(std::istreambuf_iterator<char>(file), {}));
  CHECK(place.folder.content() == before);
  CHECK_FALSE(std::filesystem::exists("-"));
  CHECK(contains(place.refused({"pack", "-", "--json"}), "name a FILE"));
}

}  // namespace gemmtune::cli_test
