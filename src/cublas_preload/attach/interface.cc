#include "cublas_preload/attach/interface.h"

#include <pthread.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cublas_preload/attach/hooks.h"
#include "cublas_preload/attach/own_functions.h"
#include "cublas_preload/recorder.h"

namespace gemmtune::cublas_preload {
namespace {

using Settings = std::vector<std::string>;

std::string value_in(const Settings& settings, std::string_view name) {
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == name.size() && std::string_view(setting).substr(0, equals) == name)
      return setting.substr(equals + 1);
  }
  return "";
}

// What happened to a call of the interface.
struct Outcome {
  gemmtune_cublas_status status = GEMMTUNE_CUBLAS_DONE;
  std::string message;
};

// Of this process. Calls may be in its recorders at any time, so they stay.
class Attachment {
 public:
  // Never destroyed.
  static Attachment& of_process();

  Outcome attach(Settings settings);
  Outcome detach();
  gemmtune_cublas_attached state();
  void collect();

 private:
  struct Made {
    Settings settings;
    Recorder* recorder = nullptr;
  };

  Attachment();
  // A forked child hands on: what it counts would be its parent's.
  void forget_parent();
  Recorder* recorder_for(const Settings& settings);

  std::mutex mutex_;
  Hooks hooks_{own_functions()};
  std::vector<Made> made_;
  bool attached_ = false;
  Settings settings_;  // while attached
};

Attachment& Attachment::of_process() {
  alignas(Attachment) static unsigned char storage[sizeof(Attachment)];
  static Attachment* const made = new (storage) Attachment;
  return *made;
}

Attachment::Attachment() {
  ::pthread_atfork([] { of_process().mutex_.lock(); }, [] { of_process().mutex_.unlock(); },
                   [] {
                     of_process().forget_parent();
                     of_process().mutex_.unlock();
                   });
}

void Attachment::forget_parent() {
  made_.clear();
  attached_ = false;
}

Recorder* Attachment::recorder_for(const Settings& settings) {
  for (const Made& made : made_) {
    if (made.settings == settings) return made.recorder;
  }
  auto recorder = Recorder::create([&](const char* name) { return value_in(settings, name); });
  if (recorder == nullptr) return nullptr;
  made_.push_back({settings, recorder.release()});
  return made_.back().recorder;
}

Outcome Attachment::attach(Settings settings) {
  const std::lock_guard lock(mutex_);
  const Recorder* const current = Recorder::get();
  if (current != nullptr && !current->in_running_process())
    return {GEMMTUNE_CUBLAS_REFUSED, "this process is run by gemm-tune run or capture already"};
  if (attached_ && settings != settings_)
    return {GEMMTUNE_CUBLAS_REFUSED, "other settings are in effect: detach first"};
  const std::string run = value_in(settings, kRunFolderVariable);
  const std::string folder = run.empty() ? value_in(settings, kFolderVariable) : run;
  if (folder.empty())
    return {GEMMTUNE_CUBLAS_REFUSED, "neither GEMM_TUNE_RUN_DIR nor GEMM_TUNE_CAPTURE_DIR is set"};
  Recorder* const recorder = recorder_for(settings);
  if (recorder == nullptr)
    return {GEMMTUNE_CUBLAS_REFUSED, "no file of counts can be made in " + folder};
  const auto done = hooks_.attach([recorder] { Recorder::use(recorder); }, !attached_);
  if (!done) return {GEMMTUNE_CUBLAS_FAILED, done.error().message};
  if (done->slots == 0) {
    Recorder::use(nullptr);
    attached_ = false;
    return {GEMMTUNE_CUBLAS_NOT_FOUND, "no library that calls cuBLAS is loaded"};
  }
  attached_ = true;
  settings_ = std::move(settings);
  return {};
}

Outcome Attachment::detach() {
  const std::lock_guard lock(mutex_);
  Recorder* const recorder = attached_ ? Recorder::get() : nullptr;
  if (recorder != nullptr) recorder->collect();
  const auto done = hooks_.detach([this] {
    if (attached_) Recorder::use(nullptr);
  });
  if (!done) return {GEMMTUNE_CUBLAS_FAILED, done.error().message};
  attached_ = false;
  return {};
}

gemmtune_cublas_attached Attachment::state() {
  const std::lock_guard lock(mutex_);
  const Attached count = hooks_.attached();
  return {attached_ ? 1U : 0U, static_cast<uint32_t>(count.slots),
          static_cast<uint32_t>(count.objects)};
}

void Attachment::collect() {
  const std::lock_guard lock(mutex_);
  Recorder* const recorder = attached_ ? Recorder::get() : nullptr;
  if (recorder != nullptr) recorder->collect();
}

// Exceptions end here.
template <class Work>
gemmtune_cublas_status answered(char* message, size_t capacity, const Work& work) {
  Outcome outcome;
  try {
    outcome = work();
  } catch (const std::exception& error) {
    outcome.status = GEMMTUNE_CUBLAS_FAILED;
    outcome.message = error.what();
  }
  if (message != nullptr && capacity > 0)
    std::snprintf(message, capacity, "%s", outcome.message.c_str());
  return outcome.status;
}

}  // namespace
}  // namespace gemmtune::cublas_preload

using gemmtune::cublas_preload::Attachment;

extern "C" {

gemmtune_cublas_status gemmtune_cublas_attach(const char* const* settings, char* message,
                                              size_t capacity) {
  return gemmtune::cublas_preload::answered(message, capacity, [&] {
    std::vector<std::string> texts;
    for (; settings != nullptr && *settings != nullptr; ++settings) texts.emplace_back(*settings);
    return Attachment::of_process().attach(std::move(texts));
  });
}

gemmtune_cublas_status gemmtune_cublas_detach(char* message, size_t capacity) {
  return gemmtune::cublas_preload::answered(message, capacity,
                                            [] { return Attachment::of_process().detach(); });
}

gemmtune_cublas_attached gemmtune_cublas_state(void) {
  return Attachment::of_process().state();
}

void gemmtune_cublas_collect(void) {
  Attachment::of_process().collect();
}

}  // extern "C"
