#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "core/descriptor.h"
#include "core/error.h"

namespace gemmtune::tuner {

// Processes of a machine that measure on one GPU take turns, so that none disturbs what another
// measures. The turn is a lock (flock) on a file that the GPU's uuid names: it ends with its
// process, however that ends. For one thread at a time.
class DeviceTurns {
 public:
  // Of FOLDER/gemm-tune-UUID.lock, which is made if there is none and stays. The error says why no
  // such file can be opened.
  static Expected<DeviceTurns> open(const std::filesystem::path& folder, const std::string& uuid);

  // Lasts as long as the object.
  class Turn {
   public:
    ~Turn();
    Turn(Turn&& other) noexcept;
    Turn& operator=(Turn&&) = delete;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // False where another process did not end its turn in time.
    bool is_alone() const { return fd_ >= 0; }

   private:
    friend class DeviceTurns;
    explicit Turn(int fd) : fd_(fd) {}

    int fd_;  // that is unlocked; -1: none
  };

  // Waits for the others' turns, but no longer than this: a process that was stopped, or whose
  // kernel hangs, holds up nobody for good.
  Turn take(std::chrono::milliseconds longest = std::chrono::seconds(60)) const;

 private:
  explicit DeviceTurns(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace gemmtune::tuner
