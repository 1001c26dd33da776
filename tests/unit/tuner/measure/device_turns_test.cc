#include "tuner/measure/device_turns.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "../../test_folder.h"
#include "tuner/session/evaluator_in_turns.h"

namespace gemmtune::tuner {
namespace {

using std::chrono::milliseconds;

// Another process that has the turn until it is killed.
class Holder {
 public:
  Holder(const std::filesystem::path& folder, const std::string& uuid) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    process_ = ::fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      const auto turns = DeviceTurns::open(folder, uuid);
      if (!turns) ::_exit(1);
      const auto turn = turns->take();
      if (::write(ends[1], "x", 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    char held = 0;
    REQUIRE(::read(ends[0], &held, 1) == 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Holder() { kill(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_ = 0;
};

TEST_CASE("a turn excludes other processes' on the same GPU until it ends, however it ends") {
  const TestFolder folder;
  const auto turns = DeviceTurns::open(folder.path(), "GPU-1").value();
  Holder other(folder.path(), "GPU-1");
  CHECK_FALSE(turns.take(milliseconds(20)).is_alone());
  CHECK(DeviceTurns::open(folder.path(), "GPU-2")->take(milliseconds(0)).is_alone());
  other.kill();
  const auto turn = turns.take(milliseconds(1000));
  CHECK(turn.is_alone());
}

TEST_CASE("turns of one process come one after the other") {
  const TestFolder folder;
  const auto first = DeviceTurns::open(folder.path(), "GPU-1").value();
  const auto second = DeviceTurns::open(folder.path(), "GPU-1").value();
  {
    const auto turn = first.take(milliseconds(0));
    CHECK(turn.is_alone());
    CHECK_FALSE(second.take(milliseconds(5)).is_alone());
  }
  CHECK(second.take(milliseconds(0)).is_alone());
}

TEST_CASE("what is no file of ours is not locked, and a missing folder is an error") {
  const TestFolder folder;
  std::ofstream(folder.path() / "target") << "kept";
  std::filesystem::create_symlink("target", folder.path() / "gemm-tune-GPU-1.lock");
  CHECK_FALSE(DeviceTurns::open(folder.path(), "GPU-1"));
  REQUIRE(::mkfifo((folder.path() / "gemm-tune-GPU-2.lock").c_str(), 0600) == 0);
  CHECK_FALSE(DeviceTurns::open(folder.path(), "GPU-2"));
  const auto missing = DeviceTurns::open(folder.path() / "none", "GPU-1");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("none/gemm-tune-GPU-1.lock: No such file") !=
        std::string::npos);
}

// Counts its calls, and says whether the turn was its own in each.
class Counting final : public Evaluator {
 public:
  Counting(int& calls, const DeviceTurns& others) : calls_(calls), others_(others) {}

  Expected<std::vector<VendorResult>> measure_vendor() override {
    note();
    return std::vector<VendorResult>{};
  }
  Expected<Evaluation> evaluate(const Candidate&, const jit::CompiledKernel&) override {
    note();
    return Evaluation{};
  }
  Expected<FinalResults> finish(std::span<const Finalist>) override {
    note();
    return FinalResults{};
  }
  double busy_seconds() const override { return 7; }

 private:
  void note() {
    ++calls_;
    CHECK_FALSE(others_.take(milliseconds(0)).is_alone());
  }

  int& calls_;
  const DeviceTurns& others_;
};

TEST_CASE("an evaluator in turns has its turn in every call that uses the device, and only then") {
  const TestFolder folder;
  const auto others = DeviceTurns::open(folder.path(), "GPU-1").value();
  int calls = 0;
  EvaluatorInTurns evaluator(
      std::make_unique<Counting>(calls, others),
      std::make_shared<const DeviceTurns>(DeviceTurns::open(folder.path(), "GPU-1").value()));
  CHECK(evaluator.measure_vendor());
  CHECK(evaluator.evaluate({}, {}));
  CHECK(evaluator.finish({}));
  CHECK(calls == 3);
  CHECK(evaluator.busy_seconds() == 7);
  const double waited = evaluator.waited_seconds();
  std::thread other;
  {
    auto held = std::make_unique<DeviceTurns::Turn>(others.take(milliseconds(0)));
    CHECK(held->is_alone());
    other = std::thread([&held] {
      std::this_thread::sleep_for(milliseconds(30));
      held.reset();
    });
    CHECK(evaluator.measure_vendor());
    other.join();
  }
  CHECK(evaluator.waited_seconds() - waited > 0.01);
}

// Does nothing.
class Idle final : public Evaluator {
 public:
  Expected<std::vector<VendorResult>> measure_vendor() override {
    return std::vector<VendorResult>{};
  }
  Expected<Evaluation> evaluate(const Candidate&, const jit::CompiledKernel&) override {
    return Evaluation{};
  }
  Expected<FinalResults> finish(std::span<const Finalist>) override { return FinalResults{}; }
};

TEST_CASE("a process that does not end its turn is waited for once") {
  const TestFolder folder;
  const auto others = DeviceTurns::open(folder.path(), "GPU-1").value();
  EvaluatorInTurns evaluator(
      std::make_unique<Idle>(),
      std::make_shared<const DeviceTurns>(DeviceTurns::open(folder.path(), "GPU-1").value()),
      milliseconds(40));
  {
    const auto held = others.take(milliseconds(0));
    for (int i = 0; i < 20; ++i) CHECK(evaluator.evaluate({}, {}));
    CHECK(evaluator.waited_seconds() >= 0.04);
    CHECK(evaluator.waited_seconds() < 0.4);
  }
  CHECK(evaluator.evaluate({}, {}));
  const double waited = evaluator.waited_seconds();
  const auto held = others.take(milliseconds(0));
  CHECK(evaluator.evaluate({}, {}));
  CHECK(evaluator.waited_seconds() - waited >= 0.04);
}

// As another user's file in a shared folder is.
TEST_CASE("a file that can only be read is enough") {
  const TestFolder folder;
  const auto path = folder.path() / "gemm-tune-GPU-1.lock";
  std::ofstream(path) << "";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  CHECK(DeviceTurns::open(folder.path(), "GPU-1")->take(milliseconds(0)).is_alone());
}

}  // namespace
}  // namespace gemmtune::tuner
