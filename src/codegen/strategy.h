#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/kernel_spec.h"
#include "core/device.h"
#include "core/error.h"

namespace gemmtune::codegen {

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  bool operator==(const Dim3&) const = default;
};

// One kernel launch of a candidate.
struct KernelLaunch {
  int entry = 0;  // index into KernelSource::entries
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;
  int smem_bytes = 0;  // dynamic shared memory a block
};

// Everything that is launched, in order on one stream, to compute a problem. The kernels take one
// GemmArgs by value; its `workspace` points at workspace_bytes of device memory.
struct LaunchPlan {
  std::vector<KernelLaunch> launches;
  int64_t workspace_bytes = 0;
  int64_t reduction_bytes =
      0;  // moved to add up partial results or to copy operands, mostly within L2
};

// Bytes that the threads of a kernel load for one multiply-add, counted as the kernel's text reads:
// what caches and the merged accesses of a warp save is left out.
struct LoadBytes {
  double global = 0;
  double shared = 0;  // 0: the kernel uses no shared memory
};

// A kernel of a strategy's template: a static member function of its struct.
struct EntryPoint {
  std::string_view suffix;          // appended to kernel_name(spec); empty for the main kernel
  std::string_view function;        // "run"
  int threads = 0;                  // a block
  std::string_view threads_member;  // the template's constant that must agree: "kThreads"
  int min_blocks = 0;               // for __launch_bounds__; 0: none
};

// What a legality rule may look at.
struct RuleInput {
  const KernelSpec& spec;
  const DeviceSpec& device;  // limits of the arch or device it is to run on
};

// A named condition on a tile. A candidate that breaks it is never compiled, and reports `name`.
struct Rule {
  std::string_view name;    // "tile_m divisible by warp_m"
  std::string_view reason;  // why the kernel needs it
  bool (*holds)(const RuleInput&);
};

// One way of computing a GEMM: a kernel template, the parameters it reads, the rules they obey, and
// how it is launched. Implementations are stateless and live in the registry.
class Strategy {
 public:
  virtual ~Strategy() = default;

  virtual std::string_view name() const = 0;           // "double_buffer"
  virtual std::string_view summary() const = 0;        // one line
  virtual std::string_view template_file() const = 0;  // "double_buffer.cuh" in kernels_templates/
  virtual std::string_view template_name()
      const = 0;  // "DoubleBuffer": struct <TileConfig, KernelTraits>
  // Whether the template has a third parameter, ElementTypes: it computes more than f32.
  virtual bool takes_types() const { return false; }
  // What the main kernel reads: spec.traits, unless a kernel before it moves the operands, or it
  // moves fewer elements at once than it might.
  virtual KernelTraits main_traits(const KernelSpec& spec) const { return spec.traits; }

  // The fields of TileConfig that it reads; all others stay 0.
  virtual std::span<const std::string_view> parameters() const = 0;
  virtual std::span<const Rule> rules() const = 0;

  // Whether it computes problems of this kind on this arch at all; the error says what it lacks.
  virtual Expected<void> supports(const Problem& problem, Arch arch) const = 0;

  // Of the main kernel, a block.
  virtual int threads(const TileConfig& tile) const = 0;
  virtual int smem_bytes(const KernelSpec& spec) const = 0;  // dynamic
  // Depth of k that a block of the main kernel multiplies.
  virtual int64_t block_depth(const KernelSpec& spec, const Problem& problem) const;
  // Registers a thread needs at least: accumulators, fragments, tiles in flight, addresses. Used by
  // rules and by ranking before a kernel is compiled.
  virtual int estimated_registers(const KernelSpec& spec) const = 0;
  // False for a legal candidate that cannot win on this problem, so that a search may skip it.
  virtual bool worthwhile(const KernelSpec& spec, const Problem& problem) const;

  // Whether a block copies the next k tile while it multiplies this one.
  virtual bool overlaps_copies() const { return true; }

  // False where two runs on the same operands may round differently.
  virtual bool deterministic(const KernelSpec& spec) const;

  // Of the main kernel. Unless overridden: threads load what their tiles of C need from shared
  // memory, which blocks fill with what theirs need; without shared memory, threads load it
  // themselves.
  virtual LoadBytes loads(const KernelSpec& spec) const;

  // How a user launches the emitted source: grid, block, dynamic shared memory, further kernels.
  // Whole lines, without comment marks.
  virtual std::string launch_notes(const KernelSpec& spec) const;

  // The kernels of a candidate, the main one first; KernelLaunch::entry indexes them.
  virtual std::vector<EntryPoint> entry_points(const KernelSpec& spec) const;
  // Precondition: `problem` is canonical, supported, and agrees with spec.traits.
  virtual LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const = 0;
};

// Every strategy, in the order of the ladder (slowest idea first).
std::span<const Strategy* const> strategies();

// The strategy called `name`; the error lists the names, nearest first.
Expected<const Strategy*> find_strategy(std::string_view name);

// The first rule that the candidate breaks, or null if it is legal.
const Rule* broken_rule(const KernelSpec& spec, const DeviceSpec& device);

}  // namespace gemmtune::codegen
