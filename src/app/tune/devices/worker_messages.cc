#include "app/tune/devices/worker_messages.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "app/common/record_json.h"
#include "core/json_text.h"

namespace gemmtune::app {
namespace {

using nlohmann::ordered_json;
using MessageKind = WorkerMessage::Kind;

template <class T>
std::optional<T> optional_of(const ordered_json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<T>());
}

// Paths are any bytes, which JSON's texts are not.
std::vector<uint8_t> bytes_of(const std::string& path) {
  return {path.begin(), path.end()};
}

std::string path_of(const ordered_json& json) {
  const auto bytes = json.get<std::vector<uint8_t>>();
  return {bytes.begin(), bytes.end()};
}

// `read` of the line's JSON. Only another program's lines, or a broken one's, are not as they
// should be.
template <class T, class Read>
Expected<T> parsed(std::string_view line, Read read) {
  try {
    return read(ordered_json::parse(line));
  } catch (const ordered_json::exception& error) {
    return make_error(ErrorKind::failed,
                      std::string("a process sent what is no message: ") + error.what());
  }
}

ordered_json search_json(const SearchOptions& search) {
  return {{"method", static_cast<int>(search.method)},
          {"candidates", or_null(search.candidates)},
          {"seconds", search.seconds},
          {"jobs", search.jobs},
          {"seed", search.seed},
          {"fresh", search.fresh},
          {"warm", search.warm}};
}

SearchOptions read_search(const ordered_json& json) {
  SearchOptions search;
  search.method = static_cast<tuner::SearchMethod>(json.at("method").get<int>());
  search.candidates = optional_of<int>(json.at("candidates"));
  search.seconds = json.at("seconds");
  search.jobs = json.at("jobs");
  search.seed = json.at("seed");
  search.fresh = json.at("fresh");
  search.warm = json.at("warm");
  return search;
}

ordered_json progress_json(const tuner::Progress& progress) {
  return {{"phase", static_cast<int>(progress.phase)},
          {"done", progress.done},
          {"total", progress.total},
          {"best_us", progress.best_us},
          {"vendor_best_us", progress.vendor_best_us},
          {"ends", progress.ends},
          {"best", progress.best}};
}

tuner::Progress read_progress(const ordered_json& json) {
  tuner::Progress progress;
  progress.phase = static_cast<tuner::Progress::Phase>(json.at("phase").get<int>());
  progress.done = json.at("done");
  progress.total = json.at("total");
  progress.best_us = json.at("best_us");
  progress.vendor_best_us = json.at("vendor_best_us");
  progress.ends = json.at("ends");
  progress.best = json.at("best");
  return progress;
}

ordered_json report_json(const StoredReport& stored) {
  const tuner::TuneReport& report = stored.report;
  ordered_json failures = ordered_json::array();
  for (const auto& [outcome, count] : report.failures) failures.push_back({outcome, count});
  return {{"ranking", stored.ranking},
          {"vendor_first", or_null(stored.vendor_first)},
          {"vendor_best", or_null(stored.vendor_best)},
          {"expected_gain", or_null(report.expected_gain)},
          {"without_gain", or_null(report.without_gain)},
          {"geometries", report.geometries},
          {"resumed", report.resumed},
          {"evaluated", report.evaluated},
          {"measured", report.measured},
          {"compiled", report.compiled},
          {"cached", report.cached},
          {"failures", std::move(failures)},
          {"seconds", report.seconds},
          {"busy_seconds", report.busy_seconds},
          {"seconds_of",
           {report.spent.vendor, report.spent.choosing, report.spent.waiting,
            report.spent.measuring, report.spent.finals, report.spent.turns}},
          {"interrupted", report.interrupted}};
}

StoredReport read_report(const ordered_json& json) {
  StoredReport stored;
  stored.ranking = json.at("ranking").get<std::vector<int64_t>>();
  stored.vendor_first = optional_of<int64_t>(json.at("vendor_first"));
  stored.vendor_best = optional_of<int64_t>(json.at("vendor_best"));
  tuner::TuneReport& report = stored.report;
  report.expected_gain = optional_of<double>(json.at("expected_gain"));
  report.without_gain = optional_of<int>(json.at("without_gain"));
  report.geometries = json.at("geometries");
  report.resumed = json.at("resumed");
  report.evaluated = json.at("evaluated");
  report.measured = json.at("measured");
  report.compiled = json.at("compiled");
  report.cached = json.at("cached");
  for (const ordered_json& failure : json.at("failures"))
    report.failures.emplace_back(failure.at(0), failure.at(1));
  report.seconds = json.at("seconds");
  report.busy_seconds = json.at("busy_seconds");
  const ordered_json& spent = json.at("seconds_of");
  report.spent = {spent.at(0), spent.at(1), spent.at(2), spent.at(3), spent.at(4), spent.at(5)};
  report.interrupted = json.at("interrupted");
  return stored;
}

Expected<std::optional<store::Record>> record_of(std::optional<int64_t> id,
                                                 store::RecordStore& store) {
  if (!id) return std::nullopt;
  return store.get(*id);
}

}  // namespace

std::string to_line(const WorkerSetup& setup) {
  ordered_json json;
  json["parent"] = setup.parent;
  json["device"] = setup.device;
  json["arch"] = setup.arch;
  json["db"] = bytes_of(setup.places.db);
  json["cache_dir"] = bytes_of(setup.places.cache_dir);
  json["no_cache"] = setup.places.no_cache;
  json["log_level"] = setup.log_level;
  json["strategies"] = setup.strategies;
  json["space_files"] = ordered_json::array();
  for (const std::string& file : setup.space_files) json["space_files"].push_back(bytes_of(file));
  json["search"] = search_json(setup.search);
  return to_text(json, kOneLine);
}

Expected<WorkerSetup> parse_setup(std::string_view line) {
  return parsed<WorkerSetup>(line, [](const ordered_json& json) {
    WorkerSetup setup;
    setup.parent = json.at("parent");
    setup.device = json.at("device");
    setup.arch = json.at("arch");
    setup.places.db = path_of(json.at("db"));
    setup.places.cache_dir = path_of(json.at("cache_dir"));
    setup.places.no_cache = json.at("no_cache");
    setup.log_level = json.at("log_level");
    setup.strategies = json.at("strategies").get<std::vector<std::string>>();
    for (const ordered_json& file : json.at("space_files"))
      setup.space_files.push_back(path_of(file));
    setup.search = read_search(json.at("search"));
    return setup;
  });
}

std::string to_line(const WorkerOrder& order) {
  return to_text(ordered_json{{"problem", order.problem}, {"again", order.again}}, kOneLine);
}

Expected<WorkerOrder> parse_order(std::string_view line) {
  return parsed<WorkerOrder>(line, [](const ordered_json& json) {
    return WorkerOrder{json.at("problem").get<std::string>(), json.at("again").get<bool>()};
  });
}

StoredReport stored_report(const tuner::TuneReport& report) {
  StoredReport stored;
  for (const store::Record& record : report.ranking) stored.ranking.push_back(record.id);
  if (report.vendor.first) stored.vendor_first = report.vendor.first->id;
  if (report.vendor.best) stored.vendor_best = report.vendor.best->id;
  stored.report = report;
  stored.report.ranking.clear();
  stored.report.best.reset();
  stored.report.vendor.first.reset();
  stored.report.vendor.best.reset();
  return stored;
}

Expected<tuner::TuneReport> with_records(const StoredReport& stored, store::RecordStore& store) {
  tuner::TuneReport report = stored.report;
  for (const int64_t id : stored.ranking) {
    auto record = store.get(id);
    if (!record) return tl::unexpected(record.error());
    if (*record) report.ranking.push_back(**std::move(record));
  }
  auto first = record_of(stored.vendor_first, store);
  if (!first) return tl::unexpected(first.error());
  auto best = record_of(stored.vendor_best, store);
  if (!best) return tl::unexpected(best.error());
  report.vendor.first = *std::move(first);
  report.vendor.best = *std::move(best);
  return report;
}

std::string to_line(const WorkerMessage& message) {
  ordered_json json;
  json["kind"] = static_cast<int>(message.kind);
  if (message.kind == MessageKind::progress) json["progress"] = progress_json(message.progress);
  if (message.kind == MessageKind::report) json["report"] = report_json(message.report);
  if (message.kind == MessageKind::failure) {
    json["error_kind"] = static_cast<int>(message.error.kind);
    json["error"] = message.error.message;
    json["device_lost"] = message.device_lost;
  }
  return to_text(json, kOneLine);
}

Expected<WorkerMessage> parse_message(std::string_view line) {
  return parsed<WorkerMessage>(line, [](const ordered_json& json) {
    WorkerMessage message;
    message.kind = static_cast<MessageKind>(json.at("kind").get<int>());
    if (message.kind == MessageKind::progress)
      message.progress = read_progress(json.at("progress"));
    if (message.kind == MessageKind::report) message.report = read_report(json.at("report"));
    if (message.kind == MessageKind::failure) {
      message.error = {static_cast<ErrorKind>(json.at("error_kind").get<int>()),
                       json.at("error").get<std::string>()};
      message.device_lost = json.at("device_lost");
    }
    return message;
  });
}

}  // namespace gemmtune::app
