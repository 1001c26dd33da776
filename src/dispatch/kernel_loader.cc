#include "dispatch/kernel_loader.h"

namespace gemmtune::dispatch {

Outcome<const launch::LoadedKernel*> KernelLoader::load(const codegen::KernelSpec& spec) {
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto& found = slots_[codegen::candidate_name(spec)];
    if (!found) found = std::make_unique<Slot>();
    slot = found.get();
  }
  const std::lock_guard lock(slot->mutex);
  if (slot->kernel) return &*slot->kernel;
  if (!slot->why_not.empty()) return fail(GEMMTUNE_STATUS_NO_KERNEL, slot->why_not);
  auto image = images_.find(spec);
  if (!image) {
    slot->why_not = image.error().message;
    return fail(GEMMTUNE_STATUS_NO_KERNEL, slot->why_not);
  }
  const gpu::RelaxedCapture relaxed(*context_);
  auto kernel = launch::LoadedKernel::load(context_, spec, *image);
  if (kernel) {
    slot->kernel = std::move(*kernel);
    return &*slot->kernel;
  }
  const bool unfit =
      kernel.error().kind == ErrorKind::unsupported || kernel.error().kind == ErrorKind::not_found;
  if (!unfit) return fail(kernel.error());
  slot->why_not = kernel.error().message;
  return fail(GEMMTUNE_STATUS_NO_KERNEL, slot->why_not);
}

}  // namespace gemmtune::dispatch
