#include "tuner/session/shared_work.h"

#include <fmt/format.h>

#include <random>
#include <utility>

namespace gemmtune::tuner {
namespace {

// Of claims. Longer than anything that keeps a living process from renewing: while it tries
// candidates, and while it waits for its turn to. A process that hangs holds them no longer.
constexpr auto kLifetime = std::chrono::seconds(120);
constexpr auto kLifetimeAhead = std::chrono::seconds(600);
constexpr auto kRenewAfter = std::chrono::seconds(10);

std::string random_id() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

}  // namespace

SharedWork::SharedWork(store::RecordStore& store, store::Job job,
                       std::function<bool(const store::CandidateKey&)> counts)
    : store_(store),
      job_(std::move(job)),
      counts_(std::move(counts)),
      owner_{random_id(), store::this_process()} {}

Expected<void> SharedWork::start(bool afresh) {
  auto revision = store_.revision();
  if (!revision) return tl::unexpected(revision.error());
  known_ = *revision;
  repeat_until_ = afresh ? *revision : 0;
  return {};
}

Expected<std::vector<store::Record>> SharedWork::news() {
  auto changes = store_.changes(job_, known_);
  if (!changes) return tl::unexpected(changes.error());
  known_ = changes->revision;
  return std::move(changes->records);
}

Expected<std::vector<Candidate>> SharedWork::take(size_t count, int left) {
  std::vector<store::CandidateKey> wanted;
  for (const Candidate& candidate : waiting_) wanted.push_back(candidate.key);
  store::ClaimRequest request;
  request.owner = owner_;
  request.lifetime = renewed_ ? kLifetime : kLifetimeAhead;
  request.limit = count;
  request.repeat_until = repeat_until_;
  request.budget = {left + given_up_, known_, counts_};
  auto claims = store_.claim(job_, wanted, request);
  if (!claims) return tl::unexpected(claims.error());
  others_at_work_ = claims->held_by_others > 0 || claims->newly_recorded > 0;
  budget_used_up_ = claims->budget_used_up;
  std::vector<Candidate> taken;
  for (const size_t index : claims->granted()) taken.push_back(std::move(waiting_[index]));
  drop_finished(claims->states);
  return taken;
}

// Keeps what still waits, in its order.
void SharedWork::drop_finished(const std::vector<store::ClaimState>& states) {
  std::deque<Candidate> waiting;
  for (size_t i = 0; i < states.size(); ++i) {
    const bool waits =
        states[i] == store::ClaimState::held || states[i] == store::ClaimState::not_reached;
    if (waits) waiting.push_back(std::move(waiting_[i]));
  }
  waiting_ = std::move(waiting);
}

Expected<void> SharedWork::renew() {
  if (renewed_ && Clock::now() - *renewed_ < kRenewAfter) return {};
  renewed_ = Clock::now();
  return store_.renew(owner_, kLifetime);
}

Expected<void> SharedWork::release() {
  return store_.release(owner_);
}

}  // namespace gemmtune::tuner
