#include "cublas_preload/product_table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include "core/output_file.h"
#include "cublas_preload/product_hash.h"

namespace gemmtune::cublas_preload {
namespace {

bool same(const Product& a, const Product& b) {
  return std::memcmp(&a, &b, sizeof(Product)) == 0;
}

// An errno, 0 for success.
int write_header(int fd, const ProductFileHeader& header) {
  const ssize_t written = ::pwrite(fd, &header, sizeof(header), 0);
  if (written == sizeof(header)) return 0;
  return written < 0 ? errno : ENOSPC;
}

// Shared memory of a new file that begins with a header. It does from the first byte on, whoever
// reads the file meanwhile, and wherever the process is killed. Its blocks are allocated: writing
// to memory of a file that the disk has no room for would end the process.
void* map_new_file(const std::string& path, const ProductFileHeader& header, size_t bytes) {
  if (!may_be_as_large_as(bytes)) {
    errno = EFBIG;
    return nullptr;
  }
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  int code = write_header(fd, header);
  if (code == 0) code = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  void* memory = MAP_FAILED;
  if (code == 0) {
    memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) code = errno;
  }
  ::close(fd);
  if (code == 0) return memory;
  ::unlink(path.c_str());
  errno = code;
  return nullptr;
}

}  // namespace

std::unique_ptr<ProductTable> ProductTable::create(const std::string& path, uint32_t capacity) {
  const size_t bytes = sizeof(ProductFileHeader) + kHandedOnLines * sizeof(HandedOnLine) +
                       capacity * sizeof(ProductRecord);
  ProductFileHeader header;
  header.capacity = capacity;
  void* const memory = map_new_file(path, header, bytes);
  if (memory == nullptr) return nullptr;
  return std::unique_ptr<ProductTable>(new ProductTable(memory, bytes, capacity));
}

ProductTable::ProductTable(void* memory, size_t bytes, uint32_t capacity)
    : memory_(memory),
      bytes_(bytes),
      capacity_(capacity),
      handed_on_(lines()),
      mask_(std::bit_ceil(size_t{2} * capacity) - 1),
      index_(new uint32_t[mask_ + 1]()) {}

ProductTable::~ProductTable() {
  ::munmap(memory_, bytes_);
}

HandedOnLine* ProductTable::lines() {
  return reinterpret_cast<HandedOnLine*>(static_cast<std::byte*>(memory_) +
                                         sizeof(ProductFileHeader));
}

ProductRecord* ProductTable::find(const Product& product, size_t& slot) {
  for (slot = product_hash(product) & mask_;; slot = (slot + 1) & mask_) {
    const uint32_t entry = std::atomic_ref<uint32_t>(index_[slot]).load(std::memory_order_acquire);
    if (entry == 0) return nullptr;
    ProductRecord& record = records()[entry - 1];
    if (same(record.product, product)) return &record;
  }
}

ProductRecord* ProductTable::find_or_add(const Product& product) {
  size_t slot = 0;
  if (ProductRecord* const found = find(product, slot); found != nullptr) return found;
  const std::lock_guard lock(adding_);
  if (ProductRecord* const found = find(product, slot); found != nullptr) return found;
  const uint64_t used = header().used;
  if (used == capacity_) {
    add_to(header().calls_left_out);
    return nullptr;
  }
  ProductRecord* const record = new (&records()[used]) ProductRecord;
  record->product = product;
  std::atomic_ref<uint64_t>(header().used).store(used + 1, std::memory_order_release);
  std::atomic_ref<uint32_t>(index_[slot])
      .store(static_cast<uint32_t>(used + 1), std::memory_order_release);
  return record;
}

void ProductTable::count(ProductRecord& record, bool under_capture) {
  add_to(record.calls);
  if (under_capture) add_to(record.graph_calls);
}

uint64_t ProductTable::calls(const ProductRecord& record) {
  return std::atomic_ref<uint64_t>(const_cast<uint64_t&>(record.calls))
      .load(std::memory_order_relaxed);
}

void ProductTable::add_sample(Samples& samples, float us) {
  const std::atomic_ref<uint64_t> taken(samples.taken);
  const uint64_t number = taken.load(std::memory_order_relaxed);
  std::atomic_ref<float>(samples.us[number % kSamplesKept]).store(us, std::memory_order_relaxed);
  taken.store(number + 1, std::memory_order_release);
}

}  // namespace gemmtune::cublas_preload
