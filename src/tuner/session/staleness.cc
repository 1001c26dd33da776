#include "tuner/session/staleness.h"

#include <map>

#include "codegen/emitter.h"
#include "codegen/search_space.h"
#include "tuner/session/candidate.h"

namespace gemmtune::tuner {
namespace {

int major(int driver_version) {
  return driver_version / 1000;
}

// Changes with whatever the emitter makes of a strategy.
std::string sources_fingerprint() {
  std::string all;
  for (const codegen::Strategy* strategy : codegen::strategies()) {
    const auto space = codegen::default_search_space(*strategy);
    if (!space) continue;
    const codegen::KernelSpec first{strategy, space->at(0), {}, DataType::f32};
    all += codegen::source_hash(codegen::emit(first)) + " ";
  }
  return all;
}

// The source hash of a record's kernel as it would be emitted now; empty if it could not be.
class CurrentSources {
 public:
  const std::string& hash(const store::Record& record) {
    const auto spec = kernel_of(record);
    if (!spec) return none_;
    std::string& hash = hashes_[codegen::kernel_name(*spec)];
    if (hash.empty()) hash = codegen::source_hash(codegen::emit(*spec));
    return hash;
  }

 private:
  std::map<std::string, std::string> hashes_;  // by the kernel's name
  const std::string none_;
};

}  // namespace

Expected<int64_t> judge_records(store::RecordStore& store, const Toolchain& now) {
  CurrentSources sources;
  store::Judge judge;
  judge.fingerprint = sources_fingerprint() + now.compiler_version + " " +
                      std::to_string(major(now.driver_version));
  judge.is_outdated = [&](const store::Record& record, int driver_version) {
    const bool other_driver = driver_version != 0 && now.driver_version != 0 &&
                              major(driver_version) != major(now.driver_version);
    if (other_driver || record.outcome == store::Outcome::vendor) return other_driver;
    return record.key.compiler_version != now.compiler_version ||
           record.key.source_hash != sources.hash(record);
  };
  return store.judge(judge);
}

}  // namespace gemmtune::tuner
