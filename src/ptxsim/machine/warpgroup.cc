#include "ptxsim/machine/warpgroup.h"

#include <fmt/format.h>

#include "ptxsim/machine/warp.h"

namespace gemmtune::ptxsim {

namespace {

void report_use(Warp& warp, const Instruction& in, uint32_t serial, const char* verb) {
  warp.report(Check::wgmma_registers, in, 0, 0, [&] {
    uint32_t place = warp.index_of(in);
    for (const PendingWgmma& pending : warp.warpgroup.pending) {
      if (pending.serial == serial) place = warp.index_of(*pending.in);
    }
    return fmt::format("{} a register of the wgmma.mma_async at {}, which was not waited for", verb,
                       warp.place_of(place));
  });
}

}  // namespace

void note_registers(Warp& warp, const Instruction& in) {
  WarpgroupState& state = warp.warpgroup;
  const Program& program = warp.program();
  if (!state.pending.empty()) {
    for (uint32_t i = 0; i < in.read_count; ++i) {
      const auto& used = state.registers[program.reads[in.first_read + i] / kRowAlignment];
      if (used.use == WarpgroupState::Use::result) report_use(warp, in, used.serial, "reads");
    }
  }
  for (uint32_t i = 0; i < in.write_count; ++i) {
    auto& used = state.registers[program.writes[in.first_write + i] / kRowAlignment];
    if (used.use != WarpgroupState::Use::none) report_use(warp, in, used.serial, "writes");
    used.written_before = state.fences + 1;
  }
}

}  // namespace gemmtune::ptxsim
