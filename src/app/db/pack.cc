#include "app/db/pack.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "app/common/advice.h"
#include "app/common/environment.h"
#include "app/common/filter.h"
#include "app/common/records.h"
#include "app/common/version.h"
#include "app/db/lent.h"
#include "codegen/emitter.h"
#include "codegen/strategy.h"
#include "core/parallel.h"
#include "dispatch/kernel_images.h"
#include "dispatch/pack_file.h"

namespace gemmtune::app {
namespace {

// A kernel as the library may load it.
struct Image {
  codegen::KernelSpec spec;
  std::vector<std::byte> code;
};

// A kernel of a winner and its machine code.
struct Kernel {
  codegen::KernelSpec spec;
  std::vector<Image> images;
  std::string why_missing;
};
using Kernels = std::map<std::string, Kernel>;  // by arch and name

// What the library may load of a kernel: for a beta other than 0, and with scalars in device
// memory.
std::vector<codegen::KernelSpec> variants(const codegen::KernelSpec& kernel) {
  std::vector<codegen::KernelSpec> kernels = {kernel};
  const auto fetching = codegen::fetching_c(kernel, representative_device(kernel.arch));
  if (fetching.traits != kernel.traits) kernels.push_back(fetching);
  std::vector<codegen::KernelSpec> specs;
  for (codegen::KernelSpec& spec : kernels) {
    for (const bool device_scalars : {false, true}) {
      spec.device_scalars = device_scalars;
      specs.push_back(spec);
    }
  }
  return specs;
}

// Which winners are wanted.
struct Selection {
  std::set<std::string> archs;                // empty: all
  std::optional<std::string> device;          // uuid
  std::optional<std::set<std::string>> keys;  // of problems
  std::vector<Problem> problems;              // that were named

  // Whatever the problem.
  bool admits(const store::Winner& winner) const {
    if (!archs.empty() && !archs.contains(std::string(winner.arch))) return false;
    return !device || winner.device_uuid == *device;
  }
  bool has(const store::Winner& winner) const {
    return admits(winner) && (!keys || keys->contains(std::string(winner.problem)));
  }
};

// Those of the problems that are named, if any.
Expected<void> select_problems(const ProblemOptions& options, Selection& selection) {
  const bool sizes = names_sizes(options) || !options.suites.empty();
  if (!sizes) {
    if (options == ProblemOptions{}) return {};
    return usage_error("--type, --layout and the like hold for sizes: add --shape or --suite");
  }
  auto problems = parse_problems(options);
  if (!problems) return tl::unexpected(problems.error());
  std::set<std::string>& keys = selection.keys.emplace();
  for (const WantedProblem& wanted : *problems) {
    if (!wanted.unsupported.empty()) continue;
    const Problem problem = canonical(wanted.problem);
    selection.problems.push_back(problem);
    keys.insert(key(problem));
    // The library may borrow these.
    for (const Problem& other : other_alignments(problem)) keys.insert(key(other));
  }
  return {};
}

// What can be told without the store.
Expected<Selection> parse_selection(const PackOptions& options) {
  Selection selection;
  for (const std::string& text : options.archs) {
    auto arch = parse_arch(text);
    if (!arch) return tl::unexpected(arch.error());
    selection.archs.insert(to_string(*arch));
  }
  if (auto selected = select_problems(options.problem, selection); !selected)
    return tl::unexpected(selected.error());
  return selection;
}

// The kernel that this program generates for a winner; nothing for one it does
// not know.
std::optional<Kernel> kernel_of(const store::Winner& winner) {
  if (!winner.kernel) return std::nullopt;
  const auto problem = parse_key(winner.problem);
  const auto arch = parse_arch(winner.arch);
  if (!problem || !arch) return std::nullopt;
  const auto spec = codegen::parse_spec(winner.kernel->strategy, winner.kernel->config,
                                        canonical(*problem), *arch);
  if (!spec) return std::nullopt;
  return Kernel{*spec, {}, ""};
}

dispatch::KernelImages open_images(const Context& context) {
  dispatch::KernelImages::Sources sources;
  if (const auto folder = cache_directory(context.environment, context.places)) {
    sources.cache = std::make_shared<jit::CubinCache>(
        *folder, [log = context.log](const std::string& text) { log->warn(text); });
  }
  sources.nvrtc_candidates = jit::nvrtc_candidates(nvrtc_locations(context.environment));
  return dispatch::KernelImages(std::move(sources));
}

void find_images(dispatch::KernelImages& images, Kernel& kernel) try {
  // A tile that another version, or another program, recorded may break rules of this one.
  if (const auto* rule =
          codegen::broken_rule(kernel.spec, representative_device(kernel.spec.arch))) {
    kernel.why_missing = "breaks the rule: " + std::string(rule->name);
    return;
  }
  for (const codegen::KernelSpec& spec : variants(kernel.spec)) {
    auto image = images.find(spec);
    if (!image) {
      kernel.why_missing = std::move(image.error().message);
      return;
    }
    kernel.images.push_back({spec, std::move(*image)});
  }
} catch (const std::exception& exception) {  // must not leave the thread
  kernel.why_missing = exception.what();
}

// Compiles on all cores.
void find_images(const Context& context, Kernels& kernels) {
  context.log->info("kernels to pack: {}", kernels.size());
  dispatch::KernelImages images = open_images(context);
  std::vector<Kernel*> work;
  for (auto& [name, kernel] : kernels) work.push_back(&kernel);
  for_each_index(work.size(), static_cast<int>(std::thread::hardware_concurrency()),
                 [&](size_t i) { find_images(images, *work[i]); });
}

// The winner with what there is machine code for; nothing if that is nothing.
std::optional<store::Winner> packable(const store::Winner& winner, const Kernels& kernels) {
  store::Winner result = winner;
  const auto kernel = kernel_of(winner);
  const auto found = kernel ? kernels.find(codegen::candidate_name(kernel->spec)) : kernels.end();
  if (found == kernels.end() || !found->second.why_missing.empty()) result.kernel.reset();
  if (!result.kernel && !result.vendor) return std::nullopt;
  return result;
}

void add_images(dispatch::PackWriter& writer, const Kernels& kernels, PackReport& report) {
  for (const auto& [name, kernel] : kernels) {
    if (!kernel.why_missing.empty()) {
      report.missing.push_back(
          {codegen::kernel_name(kernel.spec), to_string(kernel.spec.arch), kernel.why_missing});
      continue;
    }
    for (const Image& image : kernel.images)
      writer.add_image(codegen::emit(image.spec), image.spec.arch, image.code);
  }
}

struct Contents {
  Kernels kernels;
  std::set<std::string> device_uuids;
  int64_t winners = 0;
};

// What the library lends to the problems that are named; the winners that say so are selected, too.
Expected<Lent> lend(store::RecordStore& store, const DeviceNames& devices, Selection& selection) {
  auto lent = lent_to(
      store, devices, [&](const store::Winner& winner) { return selection.admits(winner); },
      selection.problems);
  if (lent && selection.keys) selection.keys->merge(std::set<std::string>(lent->lenders));
  return lent;
}

Expected<Contents> collect(const Context& context, store::RecordStore& store,
                           const Selection& selection) {
  Contents contents;
  const auto visited = store.winners(kWarmOperands, [&](const store::Winner& winner) {
    if (!selection.has(winner)) return;
    ++contents.winners;
    contents.device_uuids.insert(std::string(winner.device_uuid));
    if (auto kernel = kernel_of(winner))
      contents.kernels.emplace(codegen::candidate_name(kernel->spec), *kernel);
  });
  if (!visited) return tl::unexpected(visited.error());
  if (contents.winners > 0) return contents;
  return make_error(ErrorKind::not_found,
                    "nothing to pack: the database has no such results" +
                        advice(context, "; those it has are shown by: ", ListStep{}));
}

// Of the images, the reason why there is none at all.
Expected<void> check_images(const Kernels& kernels) {
  const bool any = std::any_of(kernels.begin(), kernels.end(), [](const auto& kernel) {
    return kernel.second.why_missing.empty();
  });
  if (any || kernels.empty()) return {};
  return make_error(ErrorKind::unsupported,
                    "no kernel has machine code: " + kernels.begin()->second.why_missing);
}

// Fills `writer` with the winners whose device and kernel were collected.
Expected<void> add_winners(dispatch::PackWriter& writer, store::RecordStore& store,
                           const Selection& selection, const Contents& contents) {
  auto visited = store.winners(kWarmOperands, [&](const store::Winner& winner) {
    // Others may have appeared since.
    const bool known = contents.device_uuids.contains(std::string(winner.device_uuid));
    if (!known || !selection.has(winner)) return;
    if (const auto packed = packable(winner, contents.kernels)) writer.add(*packed);
  });
  if (!visited) return visited;
  if (writer.winners() > 0) return {};
  return make_error(ErrorKind::unsupported,
                    "nothing to pack: the kernels are of another version of gemm-tune; tune again");
}

}  // namespace

Expected<PackReport> db_pack(const Context& context, const PackOptions& options,
                             const std::function<void(std::string_view)>& write) {
  auto selection = parse_selection(options);
  if (!selection) return tl::unexpected(selection.error());
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  store::Filter filter;
  auto devices = resolve_device_of(**store, options.device, filter);
  if (!devices) return tl::unexpected(devices.error());
  selection->device = filter.device_uuid;

  auto lent = lend(**store, *devices, *selection);
  if (!lent) return tl::unexpected(lent.error());
  auto contents = collect(context, **store, *selection);
  if (!contents) return tl::unexpected(contents.error());
  for (const codegen::KernelSpec& spec : lent->kernels)
    contents->kernels.emplace(codegen::candidate_name(spec), Kernel{spec, {}, ""});
  find_images(context, contents->kernels);
  if (auto checked = check_images(contents->kernels); !checked)
    return tl::unexpected(checked.error());

  dispatch::PackWriter writer{std::string(kVersion)};
  for (const auto& [uuid, device] : *devices) {
    if (contents->device_uuids.contains(uuid)) writer.add_device(device.device);
  }
  if (auto added = add_winners(writer, **store, *selection, *contents); !added)
    return tl::unexpected(added.error());
  PackReport report;
  add_images(writer, contents->kernels, report);
  report.winners = writer.winners();
  report.lent = static_cast<int64_t>(lent->problems.size());
  report.images = writer.images();
  const std::string bytes = writer.finish();
  report.bytes = static_cast<int64_t>(bytes.size());
  write(bytes);
  return report;
}

}  // namespace gemmtune::app
