#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>
#include <thread>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/machine/block.h"
#include "ptxsim/machine/simulator.h"

namespace gemmtune::ptxsim {

namespace {

constexpr uint64_t kSlice = 1U << 16;          // instructions that a warp gets before the next one
constexpr uint64_t kClusterBudget = 1U << 20;  // ... a cluster, before another may start
constexpr size_t kParkedClusters = 32;         // per host thread, that spin on one another
constexpr int64_t kMaxBlockSmemBytes = 227 * 1024;

bool given(const uint32_t (&extent)[3]) {
  return extent[0] != 0;
}

Dim3 to_dim3(const uint32_t (&extent)[3]) {
  return {extent[0], extent[1], extent[2]};
}

Expected<void> check_launch(const Program& program, const LaunchConfig& config) {
  const std::string& kernel = program.kernel;
  const uint64_t threads = config.block.count();
  if (threads == 0 || threads > 1024) {
    return usage_error(fmt::format("{}: {} threads per block", kernel, threads));
  }
  if (config.grid.count() == 0) return usage_error(kernel + ": an empty grid");
  if (given(program.required_threads) && config.block != to_dim3(program.required_threads)) {
    return usage_error(kernel + ": the block differs from .reqntid");
  }
  if (program.max_threads != 0 && threads > program.max_threads) {
    return usage_error(fmt::format("{}: {} threads per block where .maxntid allows {}", kernel,
                                   threads, program.max_threads));
  }
  if (given(program.required_cluster) && config.cluster != to_dim3(program.required_cluster)) {
    return usage_error(kernel + ": the cluster differs from .reqnctapercluster");
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (config.cluster[axis] == 0 || config.grid[axis] % config.cluster[axis] != 0) {
      return usage_error(kernel + ": the cluster does not divide the grid");
    }
  }
  if (config.cluster.count() > 16) return usage_error(kernel + ": more than 16 blocks per cluster");
  const int64_t smem = int64_t{program.static_smem_bytes} + config.dynamic_smem_bytes;
  if (smem > kMaxBlockSmemBytes) {
    return usage_error(fmt::format("{}: {} bytes of shared memory per block, at most {}", kernel,
                                   smem, kMaxBlockSmemBytes));
  }
  return {};
}

Expected<std::vector<std::byte>> pack_parameters(const Program& program,
                                                 const Arguments& arguments) {
  if (arguments.size() != program.parameters.size()) {
    return usage_error(fmt::format("{} takes {} arguments, not {}", program.kernel,
                                   program.parameters.size(), arguments.size()));
  }
  std::vector<std::byte> packed(program.parameter_bytes);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = program.parameters[i];
    if (arguments[i].size() != parameter.bytes) {
      return usage_error(fmt::format("{}: argument {} has {} bytes, not {}", program.kernel, i,
                                     arguments[i].size(), parameter.bytes));
    }
    std::memcpy(packed.data() + parameter.offset, arguments[i].data(), parameter.bytes);
  }
  return packed;
}

// Module variables for the time of one run.
class ModuleVariables {
 public:
  explicit ModuleVariables(GlobalMemory& memory) : memory_(memory) {}
  ModuleVariables(const ModuleVariables&) = delete;
  ModuleVariables& operator=(const ModuleVariables&) = delete;
  ~ModuleVariables() {
    for (uint64_t address : addresses_) memory_.free(address);
  }

  Expected<void> create(const Program& program) {
    for (const ModuleVariable& variable : program.variables) {
      Expected<uint64_t> address =
          memory_.allocate(variable.bytes, std::max(variable.alignment, 16U), variable.name,
                           GlobalMemory::Initial::zero);
      if (!address) return tl::unexpected<Error>(address.error());
      addresses_.push_back(*address);
      memory_.write(*address, std::as_bytes(std::span(variable.initial)));
    }
    for (size_t i = 0; i < addresses_.size(); ++i) {
      const ModuleVariable& variable = program.variables[i];
      for (const VariableRelocation& relocation : variable.relocations) {
        const uint64_t value =
            addresses_[relocation.variable] + static_cast<uint64_t>(relocation.offset);
        memory_.write(addresses_[i] + relocation.at,
                      std::as_bytes(std::span(&value, 1)).first(std::min(relocation.bytes, 8U)));
      }
      if (variable.space == Space::constant && variable.bytes > 0) {
        memory_.find(addresses_[i])->read_only = true;
      }
    }
    return {};
  }

  uint64_t address(uint32_t index) const { return addresses_[index]; }

 private:
  GlobalMemory& memory_;
  std::vector<uint64_t> addresses_;
};

template <class T>
void fill(std::vector<std::byte>& image, Row row, T value) {
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    std::memcpy(&image[row + lane * sizeof(T)], &value, sizeof(T));
  }
}

// The part of a warp's register file that is the same for the whole launch.
std::vector<std::byte> make_register_image(const Program& program, const LaunchConfig& config,
                                           const ModuleVariables& variables) {
  std::vector<std::byte> image = program.register_image;
  const SpecialRows& special = program.special;
  const auto dynamic_smem = static_cast<uint32_t>(config.dynamic_smem_bytes);
  for (int axis = 0; axis < 3; ++axis) {
    fill(image, special.ntid[axis], config.block[axis]);
    fill(image, special.nctaid[axis], config.grid[axis]);
    fill(image, special.nclusterid[axis], config.grid[axis] / config.cluster[axis]);
    fill(image, special.cluster_nctaid[axis], config.cluster[axis]);
  }
  fill(image, special.nwarpid, static_cast<uint32_t>((config.block.count() + 31) / kWarpSize));
  fill(image, special.nsmid, 1U);
  fill(image, special.cluster_nctarank, static_cast<uint32_t>(config.cluster.count()));
  fill(image, special.dynamic_smem_size, dynamic_smem);
  fill(image, special.total_smem_size, program.static_smem_bytes + dynamic_smem);
  for (const AddressPatch& patch : program.patches) {
    fill(image, patch.row, variables.address(patch.variable) + static_cast<uint64_t>(patch.offset));
  }
  return image;
}

// Hands out clusters in the order of Options::seed.
class ClusterQueue {
 public:
  ClusterQueue(uint64_t count, uint64_t seed) : count_(count) {
    if (seed == 0) return;
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), uint64_t{0});
    std::mt19937_64 random(seed);
    std::shuffle(order_.begin(), order_.end(), random);
  }

  bool take(uint64_t& cluster) {
    const uint64_t turn = next_.fetch_add(1, std::memory_order_relaxed);
    if (turn >= count_) return false;
    cluster = order_.empty() ? turn : order_[turn];
    return true;
  }

 private:
  uint64_t count_;
  std::vector<uint64_t> order_;
  std::atomic<uint64_t> next_{0};
};

// One host thread. A cluster that runs long (it may wait for another one) is parked while the
// next ones start.
void work(const Launch& launch, ClusterQueue& queue, WorkerLog& log) {
  std::vector<std::unique_ptr<Cluster>> idle;
  std::deque<std::unique_ptr<Cluster>> running;
  while (true) {
    uint64_t index = 0;
    if (running.size() < kParkedClusters && queue.take(index)) {
      if (idle.empty()) idle.push_back(std::make_unique<Cluster>(launch, log));
      idle.back()->restart(index);
      running.push_front(std::move(idle.back()));
      idle.pop_back();
    }
    if (running.empty()) return;
    std::unique_ptr<Cluster> cluster = std::move(running.front());
    running.pop_front();
    if (cluster->run(kSlice, kClusterBudget) == Cluster::State::finished) {
      idle.push_back(std::move(cluster));
    } else {
      running.push_back(std::move(cluster));
    }
  }
}

void merge(const Program& program, WorkerLog& into, WorkerLog&& from) {
  into.findings.merge(std::move(from.findings));
  into.total.warp_instructions += from.total.warp_instructions;
  into.total.lane_instructions += from.total.lane_instructions;
  for (size_t i = 0; i < from.by_instruction.size() && i < program.code.size(); ++i) {
    into.by_instruction[i].warp_instructions += from.by_instruction[i].warp_instructions;
    into.by_instruction[i].lane_instructions += from.by_instruction[i].lane_instructions;
    AccessCounts& sum = into.accesses[i];
    const AccessCounts& part = from.accesses[i];
    sum.executions += part.executions;
    sum.lanes += part.lanes;
    sum.sectors += part.sectors;
    sum.ideal_sectors += part.ideal_sectors;
    sum.wavefronts += part.wavefronts;
    sum.ideal_wavefronts += part.ideal_wavefronts;
    if (part.executions != 0) {
      sum.space = part.space;
      sum.bytes_per_lane = part.bytes_per_lane;
    }
  }
}

Profile make_profile(const Program& program, const WorkerLog& log) {
  Profile profile;
  profile.total = log.total;
  if (!log.by_instruction.empty()) profile.files = program.files;
  for (size_t i = 0; i < log.by_instruction.size(); ++i) {
    const Instruction& in = program.code[i];
    ClassCounts& counts = profile.classes[static_cast<size_t>(in.category)];
    counts.warp_instructions += log.by_instruction[i].warp_instructions;
    counts.lane_instructions += log.by_instruction[i].lane_instructions;
    AccessCounts access = log.accesses[i];
    if (access.executions == 0) continue;
    access.at = in.at;
    access.source = in.source;
    access.category = in.category;
    SpaceBytes& bytes = profile.bytes[static_cast<size_t>(access.space)];
    const uint64_t moved = access.lanes * access.bytes_per_lane;
    if (in.category != InstructionClass::store) bytes.read += moved;
    if (in.category == InstructionClass::store || in.category == InstructionClass::atomic) {
      bytes.written += moved;
    }
    profile.accesses.push_back(access);
  }
  return profile;
}

}  // namespace

Expected<RunResult> run(const Program& program, const LaunchConfig& config,
                        const Arguments& arguments, GlobalMemory& memory, const Options& options) {
  if (const Expected<void> valid = check_launch(program, config); !valid) {
    return tl::unexpected<Error>(valid.error());
  }
  Expected<std::vector<std::byte>> parameters = pack_parameters(program, arguments);
  if (!parameters) return tl::unexpected<Error>(parameters.error());
  ModuleVariables variables(memory);
  if (const Expected<void> created = variables.create(program); !created) {
    return tl::unexpected<Error>(created.error());
  }

  Launch launch{program, config, options, memory, std::move(*parameters), {}};
  launch.register_image = make_register_image(program, config, variables);
  launch.threads_per_block = static_cast<uint32_t>(config.block.count());
  launch.warps_per_block = (launch.threads_per_block + kWarpSize - 1) / kWarpSize;
  launch.blocks_per_cluster = static_cast<uint32_t>(config.cluster.count());
  launch.clusters = config.grid.count() / launch.blocks_per_cluster;
  launch.smem_bytes = program.static_smem_bytes + static_cast<uint32_t>(config.dynamic_smem_bytes);

  uint64_t threads = options.threads != 0 ? options.threads : std::thread::hardware_concurrency();
  threads = std::clamp<uint64_t>(threads, 1, launch.clusters);
  std::vector<WorkerLog> logs(threads);
  for (WorkerLog& log : logs) {
    if (!options.profile) continue;
    log.by_instruction.resize(program.code.size());
    log.accesses.resize(program.code.size());
  }
  ClusterQueue queue(launch.clusters, options.seed);
  std::vector<std::jthread> helpers;
  for (size_t i = 1; i < threads; ++i) {
    helpers.emplace_back([&launch, &queue, &log = logs[i]] { work(launch, queue, log); });
  }
  work(launch, queue, logs[0]);
  helpers.clear();

  for (size_t i = 1; i < threads; ++i) merge(program, logs[0], std::move(logs[i]));
  RunResult result;
  result.findings = logs[0].findings.take();
  if (result.findings.size() > options.max_findings) {
    result.findings_dropped = result.findings.size() - options.max_findings;
    result.findings.resize(options.max_findings);
  }
  result.profile = make_profile(program, logs[0]);
  return result;
}

Expected<RunResult> run(const Module& module, std::string_view kernel, const LaunchConfig& launch,
                        const Arguments& arguments, GlobalMemory& memory, const Options& options) {
  Expected<Program> program = decode(module, kernel);
  if (!program) return tl::unexpected<Error>(program.error());
  return run(*program, launch, arguments, memory, options);
}

}  // namespace gemmtune::ptxsim
