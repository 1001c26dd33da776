#include "app/db/lent.h"

#include <map>
#include <utility>

#include "app/query/explain.h"
#include "dispatch/decision.h"
#include "dispatch/request.h"

namespace gemmtune::app {
namespace {

// A device of each model of which there are admitted winners, by its name: none of those that
// measured them, so that all say as much.
Expected<std::map<std::string, Device>> models(store::RecordStore& store,
                                               const DeviceNames& devices,
                                               const dispatch::Admits& admits) {
  std::map<std::string, Device> models;
  auto visited = store.winners(kWarmOperands, [&](const store::Winner& winner) {
    const auto found = devices.find(std::string(winner.device_uuid));
    if (found == devices.end() || !admits(winner)) return;
    Device model = found->second.device;
    model.uuid.clear();
    models.emplace(model.name, std::move(model));
  });
  if (!visited) return tl::unexpected(visited.error());
  return models;
}

// The ways in which one problem is asked for that decide what is lent to it.
std::vector<std::pair<dispatch::Request, dispatch::Target>> ways_to_ask(const Problem& problem,
                                                                        const Device& device) {
  std::vector<std::pair<dispatch::Request, dispatch::Target>> ways;
  for (const bool reads_c : {false, true}) {
    for (const bool deterministic : {false, true}) {
      dispatch::Request request{dispatch::comparable(problem)};
      request.reads_c = reads_c;
      dispatch::Target target = library_target(device);
      target.deterministic = deterministic;
      ways.emplace_back(request, target);
    }
  }
  return ways;
}

void add_if_lent(const dispatch::Decision& decision, const Problem& problem, Lent& lent) {
  if (decision.choices.empty()) return;
  const dispatch::Choice& first = decision.choices.front();
  if (first.route != dispatch::Choice::Route::kernel || !first.neighbour) return;
  lent.problems.insert(key(problem));
  lent.lenders.insert(key(*first.neighbour));
  if (first.fewer_rows) lent.lenders.insert(key(*first.fewer_rows));
  lent.kernels.push_back(first.spec);
}

}  // namespace

Expected<Lent> lent_to(store::RecordStore& store, const DeviceNames& devices,
                       const dispatch::Admits& admits, std::span<const Problem> problems) {
  Lent lent;
  const auto gpus = models(store, devices, admits);
  if (!gpus) return tl::unexpected(gpus.error());
  for (const auto& [name, device] : *gpus) {
    const auto snapshot = dispatch::read_store(store, device, admits);
    if (!snapshot) return tl::unexpected(snapshot.error());
    for (const Problem& problem : problems) {
      for (const auto& [request, target] : ways_to_ask(problem, device))
        add_if_lent(dispatch::decide(*snapshot, request, target), request.problem, lent);
    }
  }
  return lent;
}

}  // namespace gemmtune::app
