#include "cublas_preload/attach/loaded_objects.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>

namespace gemmtune::cublas_preload {
namespace {

#if defined(__x86_64__)
constexpr unsigned kJumpSlot = R_X86_64_JUMP_SLOT;
constexpr unsigned kGlobalData = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr unsigned kJumpSlot = R_AARCH64_JUMP_SLOT;
constexpr unsigned kGlobalData = R_AARCH64_GLOB_DAT;
#else
#error "the relocations of this architecture are not known here"
#endif

}  // namespace

LoadedObject::LoadedObject(const dl_phdr_info& info)
    : base_(info.dlpi_addr),
      name_(info.dlpi_name == nullptr ? "" : info.dlpi_name),
      headers_(info.dlpi_phdr),
      header_count_(info.dlpi_phnum) {
  for (size_t i = 0; i < header_count_; ++i) {
    const ElfW(Phdr)& header = headers_[i];
    if (header.p_type == PT_LOAD)
      span_ = std::max<uintptr_t>(span_, header.p_vaddr + header.p_memsz);
  }
  for (size_t i = 0; i < header_count_; ++i) {
    const ElfW(Phdr)& header = headers_[i];
    if (header.p_type != PT_DYNAMIC) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): how the loader states addresses
    read_dynamic(reinterpret_cast<const ElfW(Dyn)*>(base_ + header.p_vaddr));
  }
}

template <class Target>
const Target* LoadedObject::pointer(const ElfW(Dyn) & entry) const {
  const uintptr_t value = entry.d_un.d_ptr;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<const Target*>(value < base_ ? base_ + value : value);
}

void LoadedObject::read_dynamic(const ElfW(Dyn) * entry) {
  const ElfW(Dyn)* soname = nullptr;
  size_t relative = 0;
  bool with_addends = true;
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols_ = pointer<ElfW(Sym)>(*entry);
    if (entry->d_tag == DT_STRTAB) strings_ = pointer<char>(*entry);
    if (entry->d_tag == DT_SONAME) soname = entry;
    if (entry->d_tag == DT_JMPREL) lazy_.entries = pointer<ElfW(Rela)>(*entry);
    if (entry->d_tag == DT_PLTRELSZ) lazy_.bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_PLTREL) with_addends = entry->d_un.d_val == DT_RELA;
    if (entry->d_tag == DT_RELA) eager_.entries = pointer<ElfW(Rela)>(*entry);
    if (entry->d_tag == DT_RELASZ) eager_.bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELACOUNT) relative = entry->d_un.d_val;
  }
  if (!with_addends) lazy_ = {};
  // Those without a symbol come first; a large library has a million of them.
  const size_t skipped = std::min(relative * sizeof(ElfW(Rela)), eager_.bytes);
  if (eager_.entries != nullptr) {
    eager_.entries += relative;
    eager_.bytes -= skipped;
  }
  if (soname != nullptr && strings_ != nullptr) soname_ = strings_ + soname->d_un.d_val;
}

bool LoadedObject::contains(const void* address) const {
  const auto value = reinterpret_cast<uintptr_t>(address);
  return std::any_of(headers_, headers_ + header_count_, [&](const ElfW(Phdr) & header) {
    return header.p_type == PT_LOAD && value >= base_ + header.p_vaddr &&
           value < base_ + header.p_vaddr + header.p_memsz;
  });
}

bool LoadedObject::is_unrelocated(const void* value) const {
  return base_ != 0 && reinterpret_cast<uintptr_t>(value) < span_;
}

void LoadedObject::for_each_slot(const Table& table, const UseSlot& use) const {
  if (table.entries == nullptr || symbols_ == nullptr || strings_ == nullptr) return;
  const ElfW(Rela)* const end = table.entries + table.bytes / sizeof(ElfW(Rela));
  for (const ElfW(Rela)* entry = table.entries; entry != end; ++entry) {
    const auto type = ELF64_R_TYPE(entry->r_info);
    if (type != kJumpSlot && type != kGlobalData) continue;
    const ElfW(Sym)& symbol = symbols_[ELF64_R_SYM(entry->r_info)];
    if (symbol.st_shndx != SHN_UNDEF) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    use(strings_ + symbol.st_name, reinterpret_cast<void**>(base_ + entry->r_offset));
  }
}

void LoadedObject::for_each_slot(const UseSlot& use) const {
  for_each_slot(lazy_, use);
  for_each_slot(eager_, use);
}

const link_map* object_at(const void* address) {
  Dl_info info{};
  void* map = nullptr;
  if (::dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<const link_map*>(map);
}

bool is_cublas(std::string_view library) {
  const size_t folder = library.rfind('/');
  return library.substr(folder == std::string_view::npos ? 0 : folder + 1).starts_with("libcublas");
}

void for_each_object(const std::function<void(const LoadedObject&)>& use) {
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        (*static_cast<const std::function<void(const LoadedObject&)>*>(data))(LoadedObject(*info));
        return 0;
      },
      const_cast<void*>(static_cast<const void*>(&use)));
}

uint64_t unloaded_objects() {
  uint64_t count = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        *static_cast<uint64_t*>(data) = info->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

LoadedAddresses::LoadedAddresses() {
  for_each_object([this](const LoadedObject& loaded) {
    const LoadedObject::Identity object = loaded.identity();
    ranges_.push_back({object.base, object.end});
  });
}

bool LoadedAddresses::contain(uintptr_t address) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [address](const Range& range) {
    return address >= range.begin && address < range.end;
  });
}

void while_objects_stay(const std::function<void()>& work) {
  // The loader's list is locked while it is gone through, for others only.
  ::dl_iterate_phdr(
      [](dl_phdr_info*, size_t, void* data) {
        (*static_cast<const std::function<void()>*>(data))();
        return 1;
      },
      const_cast<void*>(static_cast<const void*>(&work)));
}

}  // namespace gemmtune::cublas_preload
