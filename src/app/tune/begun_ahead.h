#pragma once

#include <functional>
#include <future>
#include <utility>

namespace gemmtune::app {

// Things of type T that are begun one after the other: the next one when it is asked for, or before
// that in a thread of its own. Used by one thread.
template <class T>
class BegunAhead {
 public:
  // `begin` begins the next one. It runs in the caller's thread or in that other one, never in both
  // at once: what it alone uses needs no lock while has_begun() is false.
  explicit BegunAhead(std::function<T()> begin) : begin_(std::move(begin)) {}

  // Begins the next one in a thread of its own, unless that has begun.
  void begin_ahead() {
    if (!has_begun()) begun_ = std::async(std::launch::async, begin_);
  }
  bool has_begun() const { return begun_.valid(); }

  // The next one, once it has begun.
  T next() { return has_begun() ? begun_.get() : begin_(); }

  // Gives up the one that was begun ahead, if there is one; waits for its thread.
  void drop() { begun_ = {}; }

 private:
  std::function<T()> begin_;
  std::future<T> begun_;  // last: its thread uses what is above
};

}  // namespace gemmtune::app
