// Entries as lines of text, and what becomes of two entries of one candidate.
#include "store/exchange.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "../contains.h"
#include "../rounds.h"
#include "random_records.h"

namespace gemmtune::store {
namespace {

using nlohmann::json;

class Entries {
 public:
  explicit Entries(unsigned seed) : random_(seed) {}

  std::string timestamp() {
    return "2025-01-31T00:00:0" + std::to_string(random_.below(10)) + ".00" +
           std::to_string(random_.below(10)) + "Z";
  }
  StoredRun run() {
    return {{"0." + std::to_string(random_.below(2)), "13.0", 13000, "--\"quoted\""}, timestamp()};
  }
  // Any candidate.
  Entry entry() {
    Entry entry;
    entry.record = random_.record(0);
    entry.record.job.problem = canonical(entry.record.job.problem);
    fill(entry);
    return entry;
  }
  // Another view of the same candidate.
  Entry variant(const Entry& of) {
    Entry entry = of;
    Record values = random_.record(0);
    values.job = of.record.job;
    values.key = of.record.key;
    entry.record = values;
    if (values.job.device_uuid.empty() && values.provenance == Provenance::measured)
      entry.record = of.record;
    fill(entry);
    return entry;
  }
  int below(int limit) { return random_.below(limit); }

 private:
  void fill(Entry& entry) {
    Record& record = entry.record;
    record.updated_at = timestamp();
    record.registers = random_.below(3);
    if (random_.below(2) == 0) record.max_error = 1.0 / (1 + random_.below(7));
    entry.created_at = timestamp();
    entry.run = run();
    entry.device.reset();
    if (!record.job.device_uuid.empty()) {
      entry.device = StoredDevice{sample_device(record.job.device_uuid), timestamp()};
      entry.device->device.driver_version = 13000 + random_.below(3);
    }
    entry.timings.clear();
    if (record.provenance == Provenance::measured) {
      const int least = record.measurement ? 1 : 0;
      for (int i = random_.below(4) + least; i > 0; --i) {
        Timing timing{sample_measurement(0.1 + random_.below(4) / 3.0), run()};
        timing.measurement.measured_at = timestamp();
        timing.measurement.final_round = random_.below(2) == 0;
        timing.measurement.started_early = random_.below(2) == 0;
        entry.timings.push_back(timing);
      }
    }
    record.measurement.reset();
    entry = merged(entry, entry);  // oldest first, each once
  }

  Generator random_;
};

std::string why_refused(const std::string& line) {
  const auto entry = parse_line(line);
  REQUIRE_FALSE(entry);
  CHECK(entry.error().kind == ErrorKind::usage);
  return entry.error().message;
}

}  // namespace

TEST_CASE("a line reads back as what was written") {
  Entries random(1);
  for (int i = 0; i < 500; ++i) {
    const Entry entry = random.entry();
    const std::string line = to_line(entry);
    CHECK_FALSE(contains(line, "\n"));
    const auto back = parse_line(line);
    REQUIRE_MESSAGE(back.has_value(), back.error().message << " in " << line);
    CHECK(to_line(*back) == line);
    CHECK(identity(*back) == identity(entry));
    CHECK(back->timings.size() == entry.timings.size());
    CHECK(back->record.provenance == entry.record.provenance);
    CHECK(back->record.job.warm == entry.record.job.warm);
  }
}

TEST_CASE("merged is commutative, associative and idempotent") {
  Entries random(2);
  for (int i = 0; i < rounds(1000); ++i) {
    const Entry a = random.entry();
    const Entry b = random.variant(a);
    const Entry c = random.variant(a);
    REQUIRE(identity(a) == identity(b));
    const std::string ab = to_line(merged(a, b));
    CHECK(ab == to_line(merged(b, a)));
    CHECK(to_line(merged(merged(a, b), c)) == to_line(merged(a, merged(b, c))));
    CHECK(to_line(merged(a, a)) == to_line(a));
    CHECK(to_line(merged(merged(a, b), b)) == ab);
    // What comes out is a valid entry again.
    const auto back = parse_line(ab);
    CHECK_MESSAGE(back.has_value(), (back ? "" : back.error().message));
  }
}

TEST_CASE("of two sides the better provenance wins, then the later") {
  Entries random(3);
  Entry predicted = random.entry();
  predicted.timings.clear();
  predicted.record.provenance = Provenance::predicted;
  predicted.record.outcome = Outcome::compile_failed;
  predicted.record.updated_at = "2025-01-31T00:00:09.000Z";
  Entry transferred = predicted;
  transferred.record.provenance = Provenance::transferred;
  transferred.record.updated_at = "2025-01-31T00:00:01.000Z";
  transferred.record.reason = "better";
  CHECK(merged(predicted, transferred).record.reason == "better");
  Entry later = predicted;
  later.record.updated_at = "2025-01-31T00:00:10.000Z";
  later.record.reason = "later";
  CHECK(merged(predicted, later).record.reason == "later");
  CHECK(merged(later, predicted).created_at == predicted.created_at);
}

TEST_CASE("a timing of an older line is of no final round, until another source says so") {
  Entries random(8);
  Entry entry = random.entry();
  while (entry.timings.empty()) entry = random.entry();
  for (Timing& timing : entry.timings) timing.measurement.final_round = true;
  const std::string line = to_line(entry);
  CHECK(parse_line(line)->timings.front().measurement.final_round);
  json older = json::parse(line);
  for (json& timing : older["timings"]) timing.erase("final_round");
  const auto read = parse_line(older.dump());
  REQUIRE(read);
  for (const Timing& timing : read->timings) CHECK_FALSE(timing.measurement.final_round);
  CHECK(to_line(*read) != line);
  CHECK(to_line(merged(*read, entry)) == line);
  CHECK(to_line(merged(entry, *read)) == line);
}

TEST_CASE("a line of version 1 that names no alignment is of 16 bytes") {
  Entries random(9);
  json line = json::parse(to_line(random.entry()));
  CHECK(line["gemm_tune"] == 5);
  for (json& timing : line["timings"]) timing.erase("started_early");
  for (const auto& [problem, version, align] :
       {std::tuple{"f32/f32/ieee/ttt/8x8x8", 1, 16}, std::tuple{"f32/f32/ieee/ttt/8x8x8", 2, 256},
        std::tuple{"f32/f32/ieee/ttt/8x8x8/align=256", 1, 256},
        std::tuple{"f32/f32/ieee/ttt/8x8x8/align=4", 1, 4}}) {
    line["problem"] = problem;
    line["gemm_tune"] = version;
    const auto read = parse_line(line.dump());
    REQUIRE_MESSAGE(read, read.error().message);
    CHECK(read->record.job.problem.align_bytes == align);
  }
  line["gemm_tune"] = 6;
  CHECK(contains(why_refused(line.dump()), "versions 1 to 5"));
  line["gemm_tune"] = 0;
  CHECK(contains(why_refused(line.dump()), "versions 1 to 5"));
}

// Those of wgmma had been timed so; no other kernels could.
TEST_CASE("a line up to version 4 does not say which timings started early") {
  Entries random(12);
  Entry entry = random.entry();
  while (entry.timings.empty()) entry = random.entry();
  for (Timing& timing : entry.timings) timing.measurement.started_early = false;
  json line = json::parse(to_line(entry));
  line["arch"] = "sm_90";
  CHECK_FALSE(parse_line(line.dump())->timings.front().measurement.started_early);
  line["gemm_tune"] = 4;
  CHECK(contains(why_refused(line.dump()), "started_early"));
  for (json& timing : line["timings"]) timing.erase("started_early");
  for (const auto& [strategy, early] :
       {std::pair{"wgmma_tma", true}, std::pair{"wgmma_split_k", true},
        std::pair{"mma_split_k", false}, std::pair{"cublaslt", false}}) {
    line["strategy"] = strategy;
    const auto read = parse_line(line.dump());
    REQUIRE_MESSAGE(read, read.error().message);
    for (const Timing& timing : read->timings) CHECK(timing.measurement.started_early == early);
  }
}

TEST_CASE("a line up to version 2 has its kernel's parameters respelled") {
  Entries random(10);
  json line = json::parse(to_line(random.entry()));
  line["arch"] = "sm_90";
  line["strategy"] = "split_k";
  for (const auto& [version, config] :
       {std::pair{1, "tile_m=64 stages=3"}, std::pair{2, "tile_m=64 stages=3"},
        std::pair{3, "tile_m=64 stages=3 copy=1"}}) {
    line["gemm_tune"] = version;
    line["config"] = config;
    const auto read = parse_line(line.dump());
    REQUIRE_MESSAGE(read, read.error().message);
    CHECK(read->record.key.config == "tile_m=64 stages=3 copy=1");
  }
}

TEST_CASE("a line up to version 3 has mma_stream_k's slices as sharing_blocks") {
  Entries random(11);
  json line = json::parse(to_line(random.entry()));
  line["arch"] = "sm_90";
  line["strategy"] = "mma_stream_k";
  for (const auto& [version, config] :
       {std::pair{2, "stages=3 slices=132 unroll=2"},
        std::pair{3, "stages=3 copy=1 slices=132 promotion=2"},
        std::pair{4, "stages=3 copy=1 promotion=2 sharing_blocks=132"}}) {
    line["gemm_tune"] = version;
    line["config"] = config;
    const auto read = parse_line(line.dump());
    REQUIRE_MESSAGE(read, read.error().message);
    CHECK(read->record.key.config == "stages=3 copy=1 promotion=2 sharing_blocks=132");
  }
}

TEST_CASE("every key is needed, no other is taken, and no value of another kind") {
  Entries random(4);
  Entry entry = random.entry();
  while (entry.timings.empty()) entry = random.entry();
  const json whole = json::parse(to_line(entry));
  const auto broken = [&](const std::string& pointer, const json& value) {
    json line = whole;
    line[json::json_pointer(pointer)] = value;
    return why_refused(line.dump());
  };
  // Walks over every object of the line.
  const std::function<void(const json&, const std::string&)> walk = [&](const json& object,
                                                                        const std::string& at) {
    for (const auto& [name, value] : object.items()) {
      const std::string pointer = at + "/" + name;
      CAPTURE(pointer);
      json without = whole;
      without[json::json_pointer(at)].erase(name);
      if (name == "final_round") {
        CHECK(parse_line(without.dump()));  // older lines do not have it
      } else {
        CHECK(contains(why_refused(without.dump()), name + " is missing"));
      }
      for (const json& wrong : {json(true), json("text"), json(-1), json({1}), json::object()}) {
        const bool fits = wrong.type() == value.type() ||
                          (wrong.is_number() && (value.is_number_float() || value.is_null())) ||
                          (value.is_string() && wrong.is_string()) ||
                          (name == "samples_us" && wrong.is_array());
        if (!fits) broken(pointer, wrong);
      }
      if (value.is_object()) walk(value, pointer);
    }
    CHECK(contains(broken(at + "/unknown", 1), "unknown is no key of such a line"));
  };
  walk(whole, "");
  walk(whole["timings"][0], "/timings/0");

  CHECK(contains(broken("/gemm_tune", 6), "version 6"));
  CHECK(contains(broken("/arch", "sm_x"), "arch"));
  CHECK(contains(broken("/problem", "f32/nothing"), "problem"));
  CHECK(contains(broken("/outcome", "fine"), "outcome"));
  CHECK(contains(broken("/updated_at", "yesterday"), "2025-01-31T00:00:00.000Z"));
  CHECK(contains(broken("/timings/0/median_us", 0), "median_us"));
  CHECK(contains(broken("/timings/0/sample_count", 0), "samples"));
  CHECK(contains(broken("/device/uuid", ""), "uuid"));
  CHECK(contains(broken("/strategy", ""), "strategy"));
  CHECK(contains(broken("/registers", 4294967296), "out of range"));
  CHECK(contains(broken("/timings/0/samples_us", json::array({"x"})), "no number"));
}

TEST_CASE("numbers that cannot be and texts that cannot be shown are refused") {
  Entries random(9);
  Entry entry = random.entry();
  while (entry.timings.empty() || !entry.device) entry = random.entry();
  const json whole = json::parse(to_line(entry));
  const auto broken = [&](const std::string& pointer, const json& value) {
    json line = whole;
    line[json::json_pointer(pointer)] = value;
    return why_refused(line.dump());
  };
  for (const char* name :
       {"min_us", "median_us", "ci_low_us", "ci_high_us", "baseline_median_us"}) {
    CAPTURE(name);
    for (const json& wrong : {json(9e99), json(-1), json(0), json(-1e308)})
      CHECK(contains(broken(std::string("/timings/0/") + name, wrong), name));
  }
  const double median = whole["timings"][0]["median_us"];
  CHECK(contains(broken("/timings/0/min_us", median * 2), "do not ascend"));
  CHECK(contains(broken("/timings/0/ci_low_us", median * 1.001), "do not ascend"));
  CHECK(contains(broken("/timings/0/ci_high_us", median * 0.5), "do not ascend"));
  CHECK(contains(broken("/timings/0/sample_count", 2147483647), "3 samples"));
  CHECK(contains(broken("/timings/0/samples_us/1", -1), "sample"));
  CHECK(contains(broken("/timings/0/sm_clock_min_mhz", -1), "clocks"));
  CHECK(contains(broken("/timings/0/sm_clock_min_mhz", 99999), "clocks"));
  CHECK(contains(broken("/timings/0/sm_clock_median_mhz", 1e30), "clocks"));
  CHECK(contains(broken("/timings/0/power_w", -1), "power_w"));
  CHECK(contains(broken("/max_error", -1e308), "max_error"));
  CHECK(contains(broken("/vendor_max_error", -1e308), "vendor_max_error"));
  CHECK(contains(broken("/predicted_us", 9e99), "predicted_us"));
  for (const char* wrong : {"0000-99-99T99:99:99.999Z", "2025-02-30T00:00:00.000Z",
                            "2025-01-31T24:00:00.000Z", "2025-01-31T00:00:00Z", "2025-01-31"}) {
    CHECK(contains(broken("/updated_at", wrong), wrong));
    CHECK(contains(broken("/timings/0/run/started_at", wrong), "timings[0].run.started_at"));
  }
  using namespace std::string_literals;
  for (const std::string& wrong : {"a\0b"s, "\0"s, "\x1b[2J"s, "\a"s, "a\nb"s, "\x7f"s,
                                   "\xc2\x9b"
                                   "2J"s,
                                   std::string(70000, 'a')}) {
    for (const char* at : {"/device/uuid", "/device/name", "/strategy", "/config", "/source_hash",
                           "/compiler_version", "/run/options", "/timings/0/run/tool_version"}) {
      const std::string why = broken(at, wrong);
      CAPTURE(why);
      CHECK((contains(why, "control characters") || contains(why, "longer than")));
      CHECK(why.find_first_of("\x1b\a\n\x7f"s + '\0') == std::string::npos);
    }
  }
  CHECK(contains(broken("/reason", "\x1b[2J"), "reason has control characters"));
  json several_lines = whole;
  several_lines["reason"] = "a compiler's\n\twords";
  CHECK(parse_line(several_lines.dump()));
}

TEST_CASE("a line says each thing once, and ends where it ends") {
  Entries random(10);
  const std::string line = to_line(random.entry());
  const std::string warm = "\"warm\":";
  std::string twice = line;
  twice.insert(twice.find(warm), warm + "true,");
  CHECK(contains(why_refused(twice), "\"warm\" stands twice"));
  const std::string version = "\"tool_version\":";
  std::string in_run = line;
  in_run.insert(in_run.find(version), version + "\"0\",");
  CHECK(contains(why_refused(in_run), "\"tool_version\" stands twice"));
  CHECK(contains(why_refused(line + '\0'), "zero byte"));
  CHECK(contains(why_refused(line + '\0' + "rest"), "zero byte"));
  CHECK(parse_line(line));
}

TEST_CASE("a line that is cut off or changed anywhere never crashes the reader") {
  Entries random(5);
  std::mt19937 bytes(6);
  for (int i = 0; i < 40; ++i) {
    const std::string line = to_line(random.entry());
    for (size_t size = 0; size < line.size(); size += 1 + line.size() / 60)
      CHECK_FALSE(parse_line(line.substr(0, size)));
    for (int change = 0; change < 200; ++change) {
      std::string other = line;
      other[bytes() % other.size()] = static_cast<char>(bytes());
      if (const auto entry = parse_line(other)) CHECK(parse_line(to_line(*entry)));
    }
  }
  CHECK_FALSE(parse_line(""));
  CHECK_FALSE(parse_line("null"));
  CHECK_FALSE(parse_line("[]"));
  CHECK_FALSE(parse_line(std::string(100000, '[')));
}

TEST_CASE("text that is no UTF-8 does not stop an export") {
  Entries random(7);
  Entry entry = random.entry();
  entry.record.reason = "broken \xff text";
  CHECK(parse_line(to_line(entry)));
}

}  // namespace gemmtune::store
