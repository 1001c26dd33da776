#include "app/db/prune.h"

#include "app/common/records.h"
#include "store/timestamp.h"

namespace gemmtune::app {
namespace {

Expected<store::PruneRequest> make_request(const PruneOptions& options) {
  if (!options.stale && !options.failures && !options.keep && options.not_since.empty()) {
    return usage_error(
        "what may go? name at least one of --stale, --failures, --keep N, --not-since TIME");
  }
  store::PruneRequest request;
  request.stale = options.stale;
  request.failures = options.failures;
  request.keep_measurements = options.keep;
  request.dry_run = options.dry_run;
  if (!options.not_since.empty()) {
    auto time = store::parse_timestamp(options.not_since);
    if (!time) return usage_error("--not-since: " + time.error().message);
    request.not_since = *time;
  }
  return request;
}

}  // namespace

Expected<PruneReport> db_prune(const Context& context, const PruneOptions& options) {
  auto request = make_request(options);
  if (!request) return tl::unexpected(request.error());
  auto store = open_existing_records(context);
  if (!store) return tl::unexpected(store.error());
  auto before = (*store)->info();
  if (!before) return tl::unexpected(before.error());
  auto counts = (*store)->prune(*request);
  if (!counts) return tl::unexpected(counts.error());
  return PruneReport{*counts, before->candidates, before->measurements, options.dry_run};
}

}  // namespace gemmtune::app
