#include "cublas_preload/attach/hooks.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "cublas_preload/attach/called_functions.h"
#include "cublas_preload/real_functions.h"

namespace gemmtune::cublas_preload {
namespace {

constexpr std::string_view kPrefix = "cublas";  // of all names

void* load(void** place) {
  return std::atomic_ref<void*>(*place).load(std::memory_order_acquire);
}

void store(void** place, void* value) {
  std::atomic_ref<void*>(*place).store(value, std::memory_order_seq_cst);
}

}  // namespace

Hooks::Hooks(std::vector<Hook> hooks) : hooks_(std::move(hooks)) {}

bool Hooks::leads_here(const void* function) const {
  return std::any_of(hooks_.begin(), hooks_.end(),
                     [&](const Hook& hook) { return hook.function == function; });
}

// --- What there is -------------------------------------------------------------------------------

void Hooks::find_in(const LoadedObject& loaded, std::vector<Object>& found) const {
  if (is_cublas(loaded.name()) || is_cublas(loaded.soname()) ||
      loaded.contains(hooks_.front().function))
    return;
  Object object{loaded.identity(), {}};
  loaded.for_each_slot([&](const char* symbol, void** place) {
    if (!std::string_view(symbol).starts_with(kPrefix)) return;
    const auto hook = std::find_if(hooks_.begin(), hooks_.end(), [&](const Hook& candidate) {
      return std::strcmp(candidate.name, symbol) == 0;
    });
    if (hook == hooks_.end()) return;
    void* const before = load(place);
    // Null: a function that the object can do without, and has to.
    if (before == nullptr || loaded.is_unrelocated(before) || leads_here(before)) return;
    const bool bound = !loaded.contains(before);
    object.slots.push_back({static_cast<size_t>(hook - hooks_.begin()), place, before, bound});
  });
  if (!object.slots.empty()) found.push_back(std::move(object));
}

std::vector<Hooks::Object> Hooks::find() const {
  std::vector<Object> found;
  for_each_object([&](const LoadedObject& loaded) { find_in(loaded, found); });
  return found;
}

// Whether the address is of a stub by which one of the objects calls others itself: a program at a
// fixed address has one that stands for the function in all libraries.
bool Hooks::is_stub(const void* function, size_t hook, const std::vector<Object>& objects) {
  const auto address = reinterpret_cast<uintptr_t>(function);
  return std::any_of(objects.begin(), objects.end(), [&](const Object& object) {
    return address >= object.identity.base && address < object.identity.end &&
           std::any_of(object.slots.begin(), object.slots.end(),
                       [&](const Slot& slot) { return slot.hook == hook; });
  });
}

// What a call by the slot is to be handed on to; null where that cannot be found.
void* Hooks::function_behind(const Object& object, const Slot& slot,
                             const std::vector<Object>& found) const {
  const auto leads_back = [&](const void* function) {
    return is_stub(function, slot.hook, found) || is_stub(function, slot.hook, attached_);
  };
  if (slot.bound && !leads_back(slot.before)) return slot.before;
  const char* const name = hooks_[slot.hook].name;
  void* const function = look_up_for(object.identity.name.c_str(), name);
  return function == nullptr || leads_back(function) ? nullptr : function;
}

// Keeps the slots whose calls can be handed on, and remembers to what.
void Hooks::keep_callable(std::vector<Object>& found) const {
  std::vector<Object> kept;
  for (const Object& object : found) {
    Object callable{object.identity, {}};
    for (const Slot& slot : object.slots) {
      void* const function = function_behind(object, slot, found);
      if (function == nullptr) continue;
      CalledFunctions::of_process().remember(object.identity.base, hooks_[slot.hook].name,
                                             function);
      callable.slots.push_back(slot);
    }
    if (!callable.slots.empty()) kept.push_back(std::move(callable));
  }
  found = std::move(kept);
  if (!found.empty()) RealFunction::forget_callers();
}

void Hooks::drop_unloaded(std::vector<Object>& objects) {
  std::vector<LoadedObject::Identity> present;
  for_each_object([&](const LoadedObject& loaded) { present.push_back(loaded.identity()); });
  std::erase_if(objects, [&](const Object& object) {
    return std::find(present.begin(), present.end(), object.identity) == present.end();
  });
}

bool Hooks::Object::all_bound() const {
  return std::all_of(slots.begin(), slots.end(), [](const Slot& slot) { return slot.bound; });
}

Attached Hooks::attached() const {
  Attached count;
  for (const Object& object : attached_) count.slots += object.slots.size();
  count.objects = attached_.size();
  return count;
}

// --- Changing it ---------------------------------------------------------------------------------

Expected<void> Hooks::make_writable(const std::vector<Object>& objects, PageAccess& access) {
  for (const Object& object : objects) {
    for (const Slot& slot : object.slots) {
      if (access.make_writable(slot.place)) continue;
      const std::string& file = object.identity.name;
      const std::string name = file.empty() ? "the program" : file;
      return make_error(ErrorKind::failed,
                        "the addresses that " + name + " calls cannot be changed: " +
                            std::generic_category().message(errno) + "; nothing was changed");
    }
  }
  return {};
}

Expected<void> Hooks::patch(std::vector<Object>& found, const std::function<void()>& begin,
                            bool again) {
  Expected<void> done;
  while_objects_stay([&] {
    drop_unloaded(found);
    PageAccess access;
    done = make_writable(found, access);
    if (!done) return;
    const auto write = [&](bool computes) {
      for (const Object& object : found) {
        for (const Slot& slot : object.slots) {
          const Hook& hook = hooks_[slot.hook];
          if (hook.computes == computes) store(slot.place, hook.function);
        }
      }
    };
    write(false);
    if (again || !found.empty()) begin();
    write(true);
  });
  return done;
}

void Hooks::remember(std::vector<Object>&& patched) {
  for (Object& object : patched) {
    const auto known = std::find_if(attached_.begin(), attached_.end(), [&](const Object& other) {
      return other.identity == object.identity;
    });
    if (known == attached_.end()) {
      attached_.push_back(std::move(object));
      continue;
    }
    for (const Slot& slot : object.slots) {
      std::erase_if(known->slots, [&](const Slot& old) { return old.place == slot.place; });
      known->slots.push_back(slot);
    }
  }
}

Expected<Attached> Hooks::attach(const std::function<void()>& begin, bool again) {
  // A slot that another thread was binding at that very moment holds the old address afterwards:
  // these are found by looking again.
  constexpr int kMostLooks = 3;
  constexpr useconds_t kBindingUs = 2000;
  drop_unloaded(attached_);
  for (int look = 0; look < kMostLooks; ++look) {
    std::vector<Object> found = find();
    keep_callable(found);
    if (found.empty() && !(again && look == 0)) break;
    if (auto patched = patch(found, begin, again && look == 0); !patched) {
      if (look > 0) break;  // what was found first leads here
      return tl::unexpected(patched.error());
    }
    const bool all_bound = std::all_of(found.begin(), found.end(),
                                       [](const Object& object) { return object.all_bound(); });
    remember(std::move(found));
    if (all_bound) break;
    ::usleep(kBindingUs);
  }
  return attached();
}

Expected<void> Hooks::detach(const std::function<void()>& end) {
  Expected<void> done;
  while_objects_stay([&] {
    drop_unloaded(attached_);
    PageAccess access;
    done = make_writable(attached_, access);
    if (!done) return;
    const auto write = [&](bool computes) {
      for (const Object& object : attached_) {
        for (const Slot& slot : object.slots) {
          const Hook& hook = hooks_[slot.hook];
          if (hook.computes == computes && load(slot.place) == hook.function)
            store(slot.place, slot.before);
        }
      }
    };
    write(true);
    end();
    write(false);
    attached_.clear();
  });
  return done;
}

}  // namespace gemmtune::cublas_preload
