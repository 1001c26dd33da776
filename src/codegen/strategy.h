#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/kernel_cost.h"
#include "codegen/kernel_source.h"
#include "codegen/kernel_spec.h"
#include "codegen/launch_plan.h"
#include "core/device.h"
#include "core/error.h"

namespace gemmtune::codegen {

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
  // Whether its kernels heed KernelTraits::b_read_once.
  virtual bool forgets_b() const { return false; }
  // The same of KernelTraits::fetches_c.
  virtual bool fetches_c() const { return false; }
  // Rows of the last tile outside of A that cost more than those inside, since TMA fills zeros in
  // slower than it loads. Whether C is read decides where tiles may lie.
  virtual int64_t slow_rows(const TileConfig&, const Problem&, bool /*reads_c*/) const { return 0; }
  // The tile for a problem of another number of rows than it was chosen for, whose C is not read:
  // one with fewer such rows, or itself.
  virtual TileConfig for_other_rows(const TileConfig& tile, const Problem&) const { return tile; }
  // What the main kernel reads: spec.traits, unless a kernel before it moves the operands, or it
  // moves fewer elements at once than it might.
  virtual KernelTraits main_traits(const KernelSpec& spec) const { return spec.traits; }

  // The fields of TileConfig that it reads; all others stay 0.
  virtual std::span<const std::string_view> parameters() const = 0;
  virtual std::span<const Rule> rules() const = 0;

  // Whether it computes problems of this kind on devices of this compute capability at all; the
  // error says what it lacks.
  virtual Expected<void> supports(const Problem& problem, Arch capability) const = 0;
  // The largest k that its kernels can count, which supports() holds to.
  virtual int64_t most_k() const { return kMaxDimension; }
  // What its code is generated for on such a device. Unless overridden: the capability itself,
  // without its architecture-specific instructions.
  virtual Arch code_arch(Arch capability) const;

  // Of the main kernel, per block.
  virtual int threads(const TileConfig& tile) const = 0;
  virtual int smem_bytes(const KernelSpec& spec) const = 0;  // dynamic
  // Registers that a thread needs at least: accumulators, fragments, tiles in flight, addresses.
  // Used by rules and by ranking before a kernel is compiled.
  virtual int estimated_registers(const KernelSpec& spec) const = 0;
  // Registers that the assembler has to give each thread of the main kernel, whose warpgroups share
  // them out among themselves: with fewer some would wait forever. 0: any number will do.
  virtual int least_registers(const KernelSpec& spec) const;
  // Whether its kernels wait for those before them on the stream themselves, before they read or
  // write device memory, and so may start while these still run (LaunchConfig::overlaps_previous).
  virtual bool overlaps_previous() const { return false; }
  // False for a legal candidate that cannot win on this problem, so that a search may skip it.
  virtual bool worthwhile(const KernelSpec& spec, const Problem& problem) const;
  // The tile without warps that never have work: another candidate, which does the same. Unless
  // overridden: the tile itself.
  virtual TileConfig without_idle_warps(const TileConfig& tile) const { return tile; }

  // Whether a parameter decides a candidate's geometry; all others (orders, bounds, raster) vary
  // within one. Unless overridden: tiles, stages and how they are filled.
  virtual bool is_geometry(std::string_view parameter) const;
  // What a block of the main kernel does. Unless overridden: fp32 in warp tiles, the
  // next step copied while this one is multiplied.
  virtual MainloopCost mainloop(const KernelSpec& spec) const;
  // What all kernels do for a problem, as launch_plan() has it. Precondition: as there.
  virtual KernelWork work(const KernelSpec& spec, const Problem& problem) const;

  // False where two runs on the same operands may round differently.
  virtual bool deterministic(const KernelSpec& spec) const;

  // Of the main kernel. Unless overridden: threads load what their tiles of C need from shared
  // memory, which blocks fill with what theirs need; without shared memory, threads load it
  // themselves.
  virtual LoadBytes loads(const KernelSpec& spec) const;

  // The kernels of a candidate, the main one first; KernelLaunch::entry indexes them.
  virtual std::vector<EntryPoint> entry_points(const KernelSpec& spec) const;
  // Unless overridden: the main kernel, one block per tile of C. Precondition: `problem` is
  // canonical, supported, and agrees with spec.traits.
  virtual LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const;

  // A file of kernels_templates/ by its path there; empty if there is none. A strategy that is not
  // part of this program (a test's) adds its own.
  virtual std::string_view file_text(std::string_view path) const;
  // Files that templates include and that no folder has, since they are written for one kernel.
  virtual std::vector<SourceHeader> written_headers(const KernelSpec& spec) const;
};

// Every strategy, in the order of the ladder (slowest idea first).
std::span<const Strategy* const> strategies();

// The strategy called `name`; the error lists the names, nearest first.
Expected<const Strategy*> find_strategy(std::string_view name);

// Whether the strategy reads that field of TileConfig.
bool has_parameter(const Strategy& strategy, std::string_view parameter);

// The first rule that the candidate breaks, or null if it is legal.
const Rule* broken_rule(const KernelSpec& spec, const DeviceSpec& device);

// The kernel of the same strategy and tile for calls whose beta is not 0, though right for any: it
// fetches what C holds while it multiplies. `spec` itself where the strategy has no other, or that
// is illegal.
KernelSpec fetching_c(const KernelSpec& spec, const DeviceSpec& device);

}  // namespace gemmtune::codegen
