#include "cli/query/diff_text.h"
#include "app/query/diff.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../../contains.h"

namespace gemmtune::cli {
namespace {

store::Record diffed_record(int64_t m, double median_us, const char* config = "tile_m=128") {
  store::Record record;
  record.job = {make_problem({m, 64, 64}), {9, 0, false}, "GPU-1", false};
  record.key = {"double_buffer", config, "00ff", "13.0"};
  store::Measurement measurement;
  measurement.median_us = median_us;
  record.measurement = measurement;
  return record;
}

store::Record diffed_prediction(store::Record record, double us) {
  record.provenance = store::Provenance::predicted;
  record.measurement.reset();
  record.predicted_us = us;
  return record;
}

}  // namespace

TEST_CASE("a difference as a table") {
  const std::vector<store::Record> a = {diffed_record(2, 10),
                                        diffed_prediction(diffed_record(5, 0), 10)};
  const std::vector<store::Record> b = {diffed_record(2, 20), diffed_record(5, 1)};
  const std::string text = diff_text(app::compare_records(a, b, 0));
  CHECK(contains(text, "0.500"));
  CHECK(contains(text, "the same"));
  CHECK(contains(text, "predicted, measured"));
  const app::StoreDiff few =
      app::compare_records({diffed_record(1, 100)}, {diffed_record(1, 102)}, 3);
  CHECK(contains(diff_text(few), "1 more within the threshold"));
  const app::StoreDiff none = app::compare_records({diffed_record(1, 1)}, {}, 0);
  CHECK(contains(diff_text(none), "no problem is in both"));
}

}  // namespace gemmtune::cli
