#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// What the dynamic loader has in this process, and where it keeps the addresses of the functions
// that one object calls of another.
namespace gemmtune::cublas_preload {

// The program, or a library that is loaded. A view: good as long as the object stays loaded.
class LoadedObject {
 public:
  // What tells it from all others, also from one that is loaded to the same place later.
  struct Identity {
    uintptr_t base = 0;
    uintptr_t end = 0;
    const ElfW(Phdr) * headers = nullptr;
    std::string name;  // what it is known by to the loader; empty for the program itself

    bool operator==(const Identity&) const = default;
  };

  explicit LoadedObject(const dl_phdr_info& info);

  Identity identity() const { return {base_, base_ + span_, headers_, name_}; }
  const char* name() const { return name_; }
  // DT_SONAME; empty where it has none.
  std::string_view soname() const { return soname_; }
  bool contains(const void* address) const;

  // Calls use(symbol, place) for each slot that holds the address of a function that the object
  // does not define itself: JUMP_SLOT, which may be bound with the first call, and GLOB_DAT.
  using UseSlot = std::function<void(const char* symbol, void** place)>;
  void for_each_slot(const UseSlot& use) const;

  // Whether `value` is what a slot holds before the loader has come to it: an offset.
  bool is_unrelocated(const void* value) const;

 private:
  struct Table {
    const ElfW(Rela) * entries = nullptr;
    size_t bytes = 0;
  };

  void read_dynamic(const ElfW(Dyn) * entry);
  // A pointer of the dynamic section, which the loader may have relocated.
  template <class Target>
  const Target* pointer(const ElfW(Dyn) & entry) const;
  void for_each_slot(const Table& table, const UseSlot& use) const;

  uintptr_t base_;
  const char* name_;
  const ElfW(Phdr) * headers_;
  size_t header_count_;
  uintptr_t span_ = 0;  // of all segments
  std::string_view soname_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  Table lazy_;
  Table eager_;
};

// The object that an address lies in, as the loader knows it; null where it is in none.
const link_map* object_at(const void* address);

// Whether that is the file or the soname of cuBLAS or cuBLASLt: "/a/libcublas.so.12",
// "libcublasLt.so.12".
bool is_cublas(std::string_view library);

// Calls `use` for each object. None is loaded or unloaded meanwhile; so `use` must not call
// dlopen, dlsym, dladdr or what does.
void for_each_object(const std::function<void(const LoadedObject&)>& use);

// How many objects have been unloaded from this process.
uint64_t unloaded_objects();

// The addresses that loaded objects take up, as of when it is made.
class LoadedAddresses {
 public:
  LoadedAddresses();
  bool contain(uintptr_t address) const;

 private:
  struct Range {
    uintptr_t begin = 0;
    uintptr_t end = 0;
  };
  std::vector<Range> ranges_;
};

// Calls `work` while no object is loaded or unloaded; in it for_each_object() may be called. What
// that forbids, `work` must not do either.
void while_objects_stay(const std::function<void()>& work);

}  // namespace gemmtune::cublas_preload
