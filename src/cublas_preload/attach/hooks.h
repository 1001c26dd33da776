#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "cublas_preload/attach/loaded_objects.h"
#include "cublas_preload/attach/page_access.h"

namespace gemmtune::cublas_preload {

// A function of ours, and the name of those that it is to be called in place of.
struct Hook {
  const char* name = nullptr;
  void* function = nullptr;
  // It computes something, by what was told to the functions that do not.
  bool computes = false;
};

// How much of a process leads here.
struct Attached {
  size_t slots = 0;
  size_t objects = 0;
};

// Puts functions of ours in front of others in the running process: in each loaded object, the
// slots that hold the addresses of what it calls by their names get ours. cuBLAS's own libraries
// and this one are left alone. Not thread-safe; the functions may be called meanwhile, and by other
// threads objects may be loaded and unloaded.
class Hooks {
 public:
  explicit Hooks(std::vector<Hook> hooks);

  // Patches each slot of now that does not lead to us yet. Calls `begin` after the functions that
  // describe and before those that compute, if there is anything to patch, or if `again` is set;
  // so what was described before is older than that. `begin` must not do what
  // while_objects_stay() forbids. With ErrorKind::failed nothing is changed, and `begin` was not
  // called.
  Expected<Attached> attach(const std::function<void()>& begin, bool again);

  // Gives each slot that still leads to us what it led to. Calls `end` after the functions that
  // compute and before those that describe. With ErrorKind::failed nothing is changed.
  Expected<void> detach(const std::function<void()>& end);

  Attached attached() const;

 private:
  struct Slot {
    size_t hook = 0;
    void** place = nullptr;
    void* before = nullptr;  // what it held
    bool bound = false;      // that was the function, and not what finds it with the first call
  };
  struct Object {
    LoadedObject::Identity identity;
    std::vector<Slot> slots;

    bool all_bound() const;
  };

  std::vector<Object> find() const;
  void find_in(const LoadedObject& loaded, std::vector<Object>& found) const;
  void keep_callable(std::vector<Object>& found) const;
  void* function_behind(const Object& object, const Slot& slot,
                        const std::vector<Object>& found) const;
  static bool is_stub(const void* function, size_t hook, const std::vector<Object>& objects);
  Expected<void> patch(std::vector<Object>& found, const std::function<void()>& begin, bool again);
  void remember(std::vector<Object>&& patched);
  bool leads_here(const void* function) const;
  static void drop_unloaded(std::vector<Object>& objects);
  static Expected<void> make_writable(const std::vector<Object>& objects, PageAccess& access);

  std::vector<Hook> hooks_;
  std::vector<Object> attached_;
};

}  // namespace gemmtune::cublas_preload
