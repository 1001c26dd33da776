#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "../../contains.h"
#include "app/common/filter.h"
#include "app/common/record_json.h"
#include "app/query/list.h"
#include "app/query/query.h"
#include "app/query/show.h"
#include "app/tune/tune.h"
#include "cli/common/print.h"
#include "cli/common/progress_display.h"
#include "cli/common/record_cells.h"
#include "cli/common/table.h"
#include "cli/query/list_text.h"
#include "cli/query/query_text.h"
#include "cli/query/show_text.h"
#include "cli/tune/tune_text.h"

namespace gemmtune::cli {
namespace {

store::Record make_record(double median_us) {
  store::Record record;
  record.id = 7;
  record.job = {make_problem({1000, 1000, 1000}), {9, 0, false}, "GPU-1", false};
  record.key = {"double_buffer",
                "tile_m=128 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 "
                "thread_n=4 order=2",
                "00ff", "13.0"};
  store::Measurement measurement;
  measurement.median_us = median_us;
  measurement.sample_count = 7;
  record.measurement = measurement;
  return record;
}

app::DeviceNames one_device() {
  store::StoredDevice device;
  device.device.name = "NVIDIA H200";
  device.device.uuid = "GPU-1";
  return {{"GPU-1", device}};
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace

TEST_CASE("tables align") {
  Table table({{"name"}, {"n", Table::Align::right}, {"note"}});
  table.add({"a", "1", ""});
  table.add({"longer", "1000", "x"});
  CHECK(table.text() ==
        "name       n  note\n"
        "a          1\n"
        "longer  1000  x\n");
}

TEST_CASE("what others wrote reaches a terminal as text") {
  using namespace std::string_literals;
  CHECK(visible("a\x1b[2J\a\n\tb\x7f") == "a\\u001b[2J\\u0007\n\\u0009b\\u007f");
  CHECK(visible_line("a\nb") == "a\\u000ab");
  CHECK(visible("\0"s) == "\\u0000");
  CHECK(visible("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80") ==
        "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  CHECK(visible("\xc2\x9b"
                "2J") == "\\u009b2J");  // a terminal's escape in one character
  // No UTF-8: alone, cut off, overlong, a surrogate, too high.
  for (const char* wrong : {"\x9b", "\xc3", "\xe2\x82", "\xff"})
    CHECK(contains(visible(wrong), "\xef\xbf\xbd"));
  CHECK_FALSE(contains(visible("\xc0\x9b"), "\x9b"));
  CHECK_FALSE(contains(visible("\xed\xa0\x80"), "\xed"));
  CHECK_FALSE(contains(visible("\xf5\x80\x80\x80"), "\xf5"));

  store::Record record = make_record(10);
  record.key.config = "rank=0\n\x1b[31mevil";
  record.reason = "because\a\nof";
  app::DeviceNames devices = one_device();
  devices.at("GPU-1").device.name = "NVIDIA\x1b]0;title\a\nH200";
  app::QueryAnswer answer;
  answer.devices = devices;
  answer.results.push_back({record, {}, {}});
  answer.candidates = {record};
  app::ShownRecord shown;
  shown.record = record;
  shown.devices = devices;
  app::DeviceList list;
  list.stored = devices;
  const auto count_lines = [](const std::string& text) { return lines(text).size(); };
  const size_t query_lines = count_lines(query_text(answer));
  const size_t show_lines = count_lines(show_text(shown));
  const size_t list_lines = count_lines(devices_text(list));
  for (const std::string& text : {query_text(answer), show_text(shown), devices_text(list)}) {
    CAPTURE(text);
    CHECK(text.find_first_of("\x1b\a") == std::string::npos);
    CHECK(contains(text, "NVIDIA\\u001b]0;title\\u0007\\u000aH200"));
  }
  // One line each, as with names that are names.
  answer.devices = shown.devices = list.stored = one_device();
  answer.results.front().best.key = answer.candidates.front().key = make_record(10).key;
  answer.results.front().best.reason = answer.candidates.front().reason = "because";
  CHECK(count_lines(query_text(answer)) == query_lines);
  CHECK(count_lines(devices_text(list)) == list_lines);
  shown.record.reason = "because";
  CHECK(count_lines(show_text(shown)) == show_lines);
}

TEST_CASE("cells") {
  const store::Record record = make_record(100);
  CHECK(tflops_cell(record) == "20.00");
  CHECK(time_cell(record.measurement->median_us) == "100.0");
  CHECK(time_cell(12.345) == "12.35");
  CHECK(time_cell(std::nullopt) == "-");
  CHECK(config_cell(record) == "double_buffer 128x64x8/32x32/8x4 order=2");
  CHECK(provenance_text(record, one_device()) == "measured on NVIDIA H200");
  CHECK(provenance_text(record, {}) == "measured on GPU-1");
}

TEST_CASE("what was predicted is never called measured") {
  store::Record record = make_record(1);
  record.measurement.reset();
  record.predicted_us = 50;
  record.provenance = store::Provenance::predicted;
  record.job.device_uuid.clear();
  CHECK(contains(provenance_text(record, {}), "nothing was measured"));
}

TEST_CASE("what may round differently from run to run is marked as such") {
  const std::string tile =
      "tile_m=64 tile_n=64 tile_k=16 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 copy=1 "
      "slices=4";
  store::Record record = make_record(100);
  const auto shown = [&](const store::Record& r) {
    app::ShownRecord all;
    all.record = r;
    app::QueryAnswer answer;
    answer.problem = r.job.problem;
    answer.results.push_back({r, std::nullopt, std::nullopt});
    app::TunedProblem tuned;
    tuned.report.emplace();
    tuned.report->ranking = {r};
    return config_cell(r) + tune_text(tuned) + query_text(answer) + show_text(all);
  };
  record.key = {"split_k", tile, "00ff", "13.0"};
  CHECK_FALSE(contains(shown(record), "non-deterministic"));
  record.key.config = tile + " reduction=1";  // atomic
  CHECK(contains(config_cell(record), "reduction=1, non-deterministic"));
  CHECK(contains(shown(record), "two runs may differ in the last bits"));
  CHECK(contains(shown(record), "no: two runs may round differently"));
}

TEST_CASE("a query shows the vendor beside the best") {
  app::QueryAnswer answer;
  answer.problem = make_problem({1000, 1000, 1000});
  answer.devices = one_device();
  app::QueryResult result{make_record(100), make_record(110), make_record(90)};
  result.vendor_best->key = {"cublaslt", "rank=3 algo=21", "", "130000"};
  answer.results.push_back(result);
  const std::string text = query_text(answer);
  CHECK(contains(text, "0.900x"));
  CHECK(contains(text, "1.100x"));
  CHECK(contains(text, "rank=3 algo=21"));
  CHECK(contains(text, "measured on NVIDIA H200"));
}

TEST_CASE("the values of a query begin in one column") {
  app::QueryAnswer answer;
  answer.problem = make_problem({1000, 1000, 1000});
  answer.devices = one_device();
  answer.results.push_back({make_record(100), make_record(110), make_record(90)});
  size_t fields = 0;
  for (const std::string& line : lines(query_text(answer))) {
    if (!line.starts_with("  ")) continue;
    CAPTURE(line);
    const size_t gap = line.find("  ", 2);
    REQUIRE(gap != std::string::npos);
    CHECK(line.find_first_not_of(' ', gap) == 17);
    ++fields;
  }
  CHECK(fields == 8);
}

TEST_CASE("tune's table ranks against the vendor's best") {
  app::TunedProblem tuned;
  tuned.wanted.text = "some problem";
  tuned.report.emplace();
  tuned.report->ranking = {make_record(100)};
  tuned.report->vendor.best = make_record(95);
  tuned.report->failures = {{"spilled", 3}};
  const std::string text = tune_text(tuned);
  CHECK(contains(text, "0.950x"));
  CHECK(contains(text, "3 spilled"));
  app::TunedProblem skipped;
  skipped.wanted.text = "other";
  skipped.skipped = "because";
  CHECK(contains(tune_text(skipped), "skipped: because"));
}

TEST_CASE("show lists every measurement") {
  app::ShownRecord shown;
  shown.record = make_record(100);
  shown.history = {{*make_record(101).measurement, {}}, {*make_record(100).measurement, {}}};
  shown.devices = one_device();
  const std::string text = show_text(shown);
  CHECK(contains(text, "101.0"));
  CHECK(contains(text, "NVIDIA H200 (GPU-1)"));
}

TEST_CASE("lists of what there is") {
  CHECK(contains(strategies_text(), "double_buffer"));
  CHECK(contains(archs_text(), "sm_90a"));
  CHECK(contains(devices_text({}), "NVIDIA H200"));
}

TEST_CASE("progress: the first prediction of a session without a device has a line of its own") {
  const auto shown = [](bool terminal, bool predicted) {
    char* text = nullptr;
    size_t size = 0;
    std::FILE* file = open_memstream(&text, &size);
    {
      ProgressDisplay display(file, terminal, "a problem", 2e9, true);
      tuner::Progress progress;
      progress.total = 96;
      progress.predicted = predicted;
      display.update(progress);
      progress.best = "split_k tile_m=64 tile_n=32 tile_k=8 slices=2";
      for (progress.done = 1; progress.done < 9; ++progress.done) {
        progress.best_us = 100.0 / progress.done;
        display.update(progress);
      }
    }
    std::fclose(file);
    std::string out(text, size);
    std::free(text);
    return out;
  };
  const auto plain = lines(shown(false, true));
  REQUIRE(plain.size() == 2);
  CHECK(plain[1] == "a problem: first answer after 0.0 s: split_k 64x32x8 slices=2, 20.00 TFLOP/s");
  CHECK(contains(shown(true, true), "\r\033[K" + plain[1] + "\n"));
  CHECK(lines(shown(false, false)).size() == 1);
}

TEST_CASE("progress: few plain lines where there is no terminal, a bar where there is") {
  const auto shown = [](bool terminal) {
    char* text = nullptr;
    size_t size = 0;
    std::FILE* file = open_memstream(&text, &size);
    {
      ProgressDisplay display(file, terminal, "a problem", 2e9);
      tuner::Progress progress;
      progress.total = 1000;
      for (progress.done = 0; progress.done < 1000; ++progress.done) display.update(progress);
    }
    std::fclose(file);
    std::string out(text, size);
    std::free(text);
    return out;
  };
  const std::string plain = shown(false);
  CHECK(lines(plain).size() == 1);
  CHECK(plain.starts_with("a problem: 0/1000"));
  CHECK_FALSE(contains(plain, "\r"));
  const std::string bar = shown(true);
  CHECK(contains(bar, "\r"));
  CHECK(bar.ends_with("\r\033[K"));  // nothing is left behind
  CHECK(bar.size() < 1000);
}

}  // namespace gemmtune::cli
