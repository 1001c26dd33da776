#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace gemmtune::app {

// Hands problems out to devices, by indices of both: the next one goes to whichever device asks
// first, and each is tuned on one device.
class ProblemQueue {
 public:
  // `order` has the problems, first those that are to begin first. `begun_on`, by problem, is the
  // device that has tried some of its candidates already: another one would begin anew, so it takes
  // the problem only where nothing else is left.
  ProblemQueue(std::vector<size_t> order, std::vector<std::optional<size_t>> begun_on);

  // The problem that `device` is to tune; nothing if none waits for it.
  std::optional<size_t> next(size_t device);
  bool has_next(size_t device) const { return find(device) != waiting_.end(); }

  // Puts a problem in front again whose process ended on `device`, and keeps it for that device:
  // what ended the process is known there only. False, with nothing changed, if that was done
  // before.
  bool give_back(size_t problem, size_t device);

  // Puts a problem in front again that a device did not come to.
  void take_back(size_t problem) { waiting_.insert(waiting_.begin(), problem); }

  // Keeps nothing more for a device, which asks for nothing from now on.
  void leave_out(size_t device);

  size_t size() const { return waiting_.size(); }

 private:
  using Place = std::vector<size_t>::const_iterator;

  Place find(size_t device) const;

  std::vector<size_t> waiting_;
  std::vector<std::optional<size_t>> begun_on_;
  std::map<size_t, size_t> kept_for_;  // devices, by problem
  std::set<size_t> given_back_;
};

}  // namespace gemmtune::app
