#include "ptxsim/report/finding.h"

#include <fmt/format.h>

#include <array>

namespace gemmtune::ptxsim {

std::string_view name_of(FindingKind kind) {
  static constexpr std::array<std::string_view, kFindingKinds> kNames = {"out_of_bounds",
                                                                         "misaligned",
                                                                         "uninitialised_global",
                                                                         "uninitialised_shared",
                                                                         "undefined_register",
                                                                         "shared_race",
                                                                         "missing_async_wait",
                                                                         "barrier_divergence",
                                                                         "deadlock",
                                                                         "too_long",
                                                                         "read_only",
                                                                         "invalid_operand",
                                                                         "trap"};
  return kNames[static_cast<size_t>(kind)];
}

namespace {

struct CheckRow {
  Check check;
  std::string_view name;
  FindingKind kind;
};

// In the order of the enumerators.
constexpr std::array<CheckRow, kChecks> kCheckRows = {{
    {Check::global_bounds, "global_bounds", FindingKind::out_of_bounds},
    {Check::shared_bounds, "shared_bounds", FindingKind::out_of_bounds},
    {Check::local_bounds, "local_bounds", FindingKind::out_of_bounds},
    {Check::parameter_bounds, "parameter_bounds", FindingKind::out_of_bounds},
    {Check::ended_block, "ended_block", FindingKind::out_of_bounds},
    {Check::global_alignment, "global_alignment", FindingKind::misaligned},
    {Check::shared_alignment, "shared_alignment", FindingKind::misaligned},
    {Check::local_alignment, "local_alignment", FindingKind::misaligned},
    {Check::parameter_alignment, "parameter_alignment", FindingKind::misaligned},
    {Check::global_written, "global_written", FindingKind::uninitialised_global},
    {Check::shared_written, "shared_written", FindingKind::uninitialised_shared},
    {Check::guard_written, "guard_written", FindingKind::undefined_register},
    {Check::operand_written, "operand_written", FindingKind::undefined_register},
    {Check::read_after_write, "read_after_write", FindingKind::shared_race},
    {Check::write_after_write, "write_after_write", FindingKind::shared_race},
    {Check::write_after_read, "write_after_read", FindingKind::shared_race},
    {Check::read_of_pending, "read_of_pending", FindingKind::missing_async_wait},
    {Check::write_of_pending, "write_of_pending", FindingKind::missing_async_wait},
    {Check::proxy_fence, "proxy_fence", FindingKind::shared_race},
    {Check::warp_at_barrier, "warp_at_barrier", FindingKind::barrier_divergence},
    {Check::warp_at_cluster_barrier, "warp_at_cluster_barrier", FindingKind::barrier_divergence},
    {Check::ended_threads, "ended_threads", FindingKind::barrier_divergence},
    {Check::progress, "progress", FindingKind::deadlock},
    {Check::length, "length", FindingKind::too_long},
    {Check::constant_store, "constant_store", FindingKind::read_only},
    {Check::parameter_store, "parameter_store", FindingKind::read_only},
    {Check::branch_index, "branch_index", FindingKind::invalid_operand},
    {Check::uniform_barrier, "uniform_barrier", FindingKind::invalid_operand},
    {Check::barrier_range, "barrier_range", FindingKind::invalid_operand},
    {Check::barrier_count, "barrier_count", FindingKind::invalid_operand},
    {Check::matrix_lanes, "matrix_lanes", FindingKind::invalid_operand},
    {Check::matrix_address, "matrix_address", FindingKind::invalid_operand},
    {Check::shuffle_source, "shuffle_source", FindingKind::invalid_operand},
    {Check::copy_size, "copy_size", FindingKind::invalid_operand},
    {Check::mbarrier_init, "mbarrier_init", FindingKind::invalid_operand},
    {Check::mbarrier_count, "mbarrier_count", FindingKind::invalid_operand},
    {Check::mbarrier_overwritten, "mbarrier_overwritten", FindingKind::shared_race},
    {Check::tensor_map, "tensor_map", FindingKind::invalid_operand},
    {Check::bulk_wait, "bulk_wait", FindingKind::missing_async_wait},
    {Check::wgmma_registers, "wgmma_registers", FindingKind::missing_async_wait},
    {Check::wgmma_fence, "wgmma_fence", FindingKind::invalid_operand},
    {Check::register_count, "register_count", FindingKind::invalid_operand},
    {Check::trap, "trap", FindingKind::trap},
}};

constexpr bool in_order() {
  for (size_t i = 0; i < kCheckRows.size(); ++i) {
    if (kCheckRows[i].check != static_cast<Check>(i)) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::string_view name_of(Check check) {
  return kCheckRows[static_cast<size_t>(check)].name;
}

FindingKind kind_of(Check check) {
  return kCheckRows[static_cast<size_t>(check)].kind;
}

std::string to_string(const Finding& finding) {
  std::string source;
  if (finding.source_line != 0) {
    source = fmt::format(" ({}:{})", finding.source_file, finding.source_line);
  }
  const std::string address =
      finding.address == 0 ? "" : fmt::format(" address {:#x}", finding.address);
  return fmt::format("{}: {} ptx:{}:{}{} block ({},{},{}) thread ({},{},{}){}: {}{}",
                     name_of(finding.kind), finding.kernel, finding.at.line, finding.at.column,
                     source, finding.block.x, finding.block.y, finding.block.z, finding.thread.x,
                     finding.thread.y, finding.thread.z, address, finding.message,
                     finding.times > 1 ? fmt::format(" ({} times)", finding.times) : "");
}

}  // namespace gemmtune::ptxsim
