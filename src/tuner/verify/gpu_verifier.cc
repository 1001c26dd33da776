#include "tuner/verify/gpu_verifier.h"

#include <algorithm>

#include "core/elements.h"
#include "core/parallel.h"

namespace gemmtune::tuner {
namespace {

constexpr int kJudges = 8;      // threads
constexpr size_t kShift = 256;  // bytes; room for a base pointer of any alignment

// Where an operand starts in its buffer: aligned to `align_bytes` and no better.
size_t start_of(const Problem& problem) {
  return static_cast<size_t>(problem.align_bytes) % kShift;
}

size_t bias_start_of(const VerificationCase& test) {
  const int shift_bytes = test.bias_shift * size_bytes(result_type(test.problem));
  return static_cast<size_t>(shift_bytes);
}

gpu::Result<gpu::DeviceBuffer> upload_bytes(const std::shared_ptr<const gpu::Context>& context,
                                            const gpu::Stream& stream,
                                            std::span<const std::byte> values, size_t start) {
  if (values.empty()) return gpu::DeviceBuffer::allocate(context, 0);
  auto buffer = gpu::DeviceBuffer::allocate(context, values.size_bytes() + kShift);
  if (!buffer) return buffer;
  if (auto copied = buffer->copy_from_host(stream.handle(), values, start); !copied) {
    return tl::unexpected(copied.error());
  }
  return buffer;
}

}  // namespace

gpu::Result<GpuVerifier> GpuVerifier::create(const std::shared_ptr<const gpu::Context>& context,
                                             std::vector<VerificationCase> cases) {
  auto stream = gpu::Stream::create(context);
  if (!stream) return tl::unexpected(stream.error());
  GpuVerifier verifier(context, std::move(*stream));
  auto entered = context->enter();
  if (!entered) return tl::unexpected(entered.error());
  for (VerificationCase& test : cases) {
    if (auto done = verifier.upload(std::move(test)); !done) return tl::unexpected(done.error());
  }
  if (auto done = verifier.stream_.synchronize(); !done) return tl::unexpected(done.error());
  return verifier;
}

gpu::Result<void> GpuVerifier::upload(VerificationCase test) {
  HostOperands host = make_operands(test);
  const size_t start = start_of(test.problem);
  const DataType type = test.problem.type;
  const DataType result = result_type(test.problem);
  std::vector<std::byte> image = encode(guarded(host.c, result), result);
  auto a = upload_bytes(context_, stream_, encode(host.a, type), start);
  if (!a) return tl::unexpected(a.error());
  auto b = upload_bytes(context_, stream_, encode(host.b, type), start);
  if (!b) return tl::unexpected(b.error());
  auto c = upload_bytes(context_, stream_, image, start);
  if (!c) return tl::unexpected(c.error());
  auto bias = upload_bytes(context_, stream_, encode(guarded(host.bias, result), result),
                           bias_start_of(test));
  if (!bias) return tl::unexpected(bias.error());
  auto scale_a = upload_bytes(context_, stream_, std::as_bytes(std::span(host.scale_a)), 0);
  if (!scale_a) return tl::unexpected(scale_a.error());
  auto scale_b = upload_bytes(context_, stream_, std::as_bytes(std::span(host.scale_b)), 0);
  if (!scale_b) return tl::unexpected(scale_b.error());
  uploaded_.push_back({std::move(*a), std::move(*b), std::move(*c), std::move(*bias),
                       std::move(*scale_a), std::move(*scale_b), std::move(image)});
  operands_.push_back(std::move(host));
  cases_.push_back(std::move(test));
  return {};
}

gpu::Result<std::vector<std::byte>> GpuVerifier::run(size_t index,
                                                     const launch::LoadedKernel& kernel,
                                                     const gpu::DeviceBuffer& workspace) const {
  const VerificationCase& test = cases_[index];
  const Uploaded& device = uploaded_[index];
  const size_t start = start_of(test.problem);
  const CUstream stream = stream_.handle();
  const gpu::BusyTime busy(*context_);
  if (auto done = device.c.copy_from_host(stream, device.image, start); !done)
    return tl::unexpected(done.error());
  const auto at = [](const gpu::DeviceBuffer& buffer, size_t offset) {
    return static_cast<std::byte*>(buffer.data()) + offset;
  };
  const DataType result = result_type(test.problem);
  const auto guard = static_cast<size_t>(kGuardElements * size_bytes(result));
  launch::Operands operands;
  operands.a = at(device.a, start);
  operands.b = at(device.b, start);
  operands.c = at(device.c, start + guard);
  if (bias_elements(test.problem) > 0) operands.bias = at(device.bias, bias_start_of(test) + guard);
  operands.scale_a = static_cast<const float*>(device.scale_a.data());
  operands.scale_b = static_cast<const float*>(device.scale_b.data());
  operands.workspace = workspace.data();
  operands.alpha = test.alpha;
  operands.beta = test.beta;
  if (auto done = kernel.enqueue(test.problem, operands, stream); !done)
    return tl::unexpected(done.error());
  std::vector<std::byte> image(device.image.size());
  if (auto done = device.c.copy_to_host(stream, image, start); !done)
    return tl::unexpected(done.error());
  if (auto done = stream_.synchronize(); !done) return tl::unexpected(done.error());
  return image;
}

// Threads judge the cases side by side: they take longer than the kernel's launches.
Verdict GpuVerifier::first_failure(const std::vector<std::vector<std::byte>>& images) const {
  std::vector<Verdict> verdicts(images.size());
  for_each_index(images.size(), kJudges, [&](size_t i) {
    verdicts[i] = judge(cases_[i], operands_[i], decode(images[i], result_type(cases_[i].problem)));
  });
  Verdict all;
  for (Verdict& verdict : verdicts) {
    all.max_error = verdict.max_error = std::max(all.max_error, verdict.max_error);
    if (!verdict.correct()) return std::move(verdict);
  }
  return all;
}

gpu::Result<Verdict> GpuVerifier::verify(const launch::LoadedKernel& kernel) const {
  auto entered = context_->enter();
  if (!entered) return tl::unexpected(entered.error());
  int64_t workspace_bytes = 0;
  for (const VerificationCase& test : cases_)
    workspace_bytes = std::max(workspace_bytes, kernel.workspace_bytes(test.problem));
  const auto workspace =
      gpu::DeviceBuffer::allocate(context_, static_cast<size_t>(workspace_bytes));
  if (!workspace) return tl::unexpected(workspace.error());
  std::vector<std::vector<std::byte>> images;
  images.reserve(cases_.size());
  for (size_t i = 0; i < cases_.size(); ++i) {
    auto image = run(i, kernel, *workspace);
    if (!image) return tl::unexpected(image.error());
    images.push_back(*std::move(image));
  }
  return first_failure(images);
}

}  // namespace gemmtune::tuner
