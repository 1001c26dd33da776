#pragma once

#include <span>

#include "codegen/strategy.h"

// What the strategies built on parts/multistage_mainloop.cuh share on the host.

namespace gemmtune::codegen::multistage_loop {

inline constexpr int kFirstArch = 80;  // cp.async

// Rules of the pipeline, to go with simt::rules_with().
std::span<const Rule> rules();

// Of its copies alone.
std::span<const Rule> copy_rules();

// f32 on an arch that has cp.async.
Expected<void> supports(const Problem& problem, Arch arch);

// Of the buffers of one pipeline; without stages there are two.
int smem_bytes(const KernelSpec& spec);

int estimated_registers(const KernelSpec& spec);

}  // namespace gemmtune::codegen::multistage_loop
