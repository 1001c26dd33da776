#include "snapshot_fixture.h"

#include <doctest/doctest.h>

#include "core/device.h"
#include "core/roofline.h"

namespace gemmtune::dispatch_test {
namespace {

Device named_device(const char* uuid, int sm_count = 132, const char* name = "NVIDIA H200") {
  Device d;
  d.name = name;
  d.uuid = uuid;
  d.arch = {9, 0, false};
  d.sm_count = sm_count;
  d.memory_bytes = int64_t{140} << 30;
  d.l2_bytes = int64_t{50} << 20;
  d.max_smem_bytes_per_block = 232448;
  return d;
}

}  // namespace

Device here() {
  return named_device(kHere);
}

dispatch::Snapshot snapshot_of(const std::vector<Row>& rows) {
  const Device devices[] = {here(), named_device(kTwin), named_device(kSister, 132, "NVIDIA GH200"),
                            named_device(kOther, 114, "NVIDIA H100 PCIe")};
  dispatch::SnapshotBuilder builder(devices[0], devices);
  for (const Row& row : rows) {
    store::Winner winner;
    winner.problem = row.problem;
    winner.arch = row.arch;
    winner.device_uuid = row.uuid;
    if (row.kernel_us > 0) {
      winner.kernel = store::WinningKernel{
          row.strategy, row.config,     "hash",
          "13.0",       row.provenance, row.stale,
          64,           row.kernel_us,  row.rank_us > 0 ? row.rank_us : row.kernel_us};
    }
    if (row.vendor_us > 0)
      winner.vendor = store::WinningAlgorithm{row.vendor, "130000", row.vendor_us, row.first_us};
    builder.add(winner);
  }
  return builder.take();
}

dispatch::Target target() {
  dispatch::Target t;
  t.arch = {9, 0, false};
  t.limits = device_limits(here(), t.arch);
  t.max_workspace_bytes = int64_t{1} << 30;
  return t;
}

dispatch::Request request_for(const std::string& problem_key) {
  dispatch::Request request;
  request.problem = dispatch::comparable(parse_key(problem_key).value());
  return request;
}

double least_us(const std::string& problem_key) {
  return 2 + floor_us(request_for(problem_key).problem, target().limits);
}

Row compared_row(const std::string& problem_key, double kernel_us, double vendor_of_least,
                 const char* strategy, const std::string& tile) {
  Row row{kHere, kernel_us, vendor_of_least * least_us(problem_key), tile};
  row.problem = problem_key;
  row.strategy = strategy;
  return row;
}

std::string lender_of(const dispatch::Snapshot& snapshot, const dispatch::Request& request) {
  const dispatch::Choice first = dispatch::decide(snapshot, request, target()).choices.at(0);
  if (first.route != dispatch::Choice::Route::kernel) return "cuBLASLt";
  return first.neighbour ? key(*first.neighbour) : "itself";
}

dispatch::Outcome<dispatch::Winner> winner(const dispatch::Snapshot& snapshot,
                                           const dispatch::Request& request,
                                           const dispatch::Target& target) {
  auto found = dispatch::winners(snapshot, request, target);
  if (!found) return tl::unexpected(std::move(found.error()));
  REQUIRE(found->size() == 1);
  return std::move(found->front());
}

}  // namespace gemmtune::dispatch_test
