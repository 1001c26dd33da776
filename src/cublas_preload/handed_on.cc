#include "cublas_preload/handed_on.h"

#include <atomic>
#include <mutex>

namespace gemmtune::cublas_preload {
namespace {

template <class Word>
Word seen(const Word& word) {
  return std::atomic_ref<Word>(const_cast<Word&>(word)).load(std::memory_order_acquire);
}

template <class Word>
void show(Word& word, Word value) {
  std::atomic_ref<Word>(word).store(value, std::memory_order_release);
}

// Calls of the product that `counted` names: `more` may wrap around, for fewer.
void add_to_record(HandedOnLine* lines, uint64_t counted, uint64_t more) {
  add_to(records_behind(lines)[HandedOnPlace::number_in(counted) - 1].calls, more);
}

// Makes room in a place's 32 bits, unless it was lost meanwhile.
[[gnu::noinline, gnu::cold]] void move_calls(HandedOnLine* lines, HandedOnPlace& place,
                                             uint64_t number) {
  const std::atomic_ref<uint64_t> word(place.counted);
  uint64_t counted = word.load(std::memory_order_relaxed);
  while (HandedOnPlace::number_in(counted) == number &&
         HandedOnPlace::calls_in(counted) >= HandedOn::kMostCalls) {
    if (word.compare_exchange_weak(counted, counted - HandedOn::kMostCalls,
                                   std::memory_order_relaxed)) {
      add_to_record(lines, counted, HandedOn::kMostCalls);
      return;
    }
  }
}

// A call was counted for the product of another one, which took its place just then.
[[gnu::noinline, gnu::cold]] void take_back(HandedOnLine* lines, uint64_t counted) {
  add_to_record(lines, counted, ~uint64_t{0});
}

}  // namespace

bool HandedOn::counts(HandedOnLine* lines, uint64_t key) {
  if (key == kNoKey) return false;
  HandedOnLine& line = lines[key % kHandedOnLines];
  const uint32_t changes = seen(line.changes);
  for (HandedOnPlace& place : line.places) {
    if (seen(place.key) != key) continue;
    const uint64_t number = HandedOnPlace::number_in(seen(place.counted));
    // Both are of this call if no other was taking a place of the line meanwhile.
    if (changes % 2 != 0 || seen(line.changes) != changes) return false;
    const uint64_t before =
        std::atomic_ref<uint64_t>(place.counted).fetch_add(1, std::memory_order_relaxed);
    if (HandedOnPlace::number_in(before) != number) [[unlikely]] {
      take_back(lines, before);
      return false;
    }
    if (HandedOnPlace::calls_in(before) == kMostCalls) [[unlikely]]
      move_calls(lines, place, number);
    return true;
  }
  return false;
}

void HandedOn::note(uint64_t key, size_t number) {
  if (key == kNoKey) return;
  const std::lock_guard lock(noting_);
  HandedOnLine& line = lines_[key % kHandedOnLines];
  for (const HandedOnPlace& place : line.places) {
    if (seen(place.key) == key) return;
  }
  const uint32_t changes = seen(line.changes);
  HandedOnPlace& place = line.places[changes / 2 % line.places.size()];
  show(line.changes, changes + 1);
  // Whoever sees one of these sees the change above, too.
  const uint64_t lost =
      std::atomic_ref<uint64_t>(place.counted)
          .exchange((uint64_t{number} + 1) << HandedOnPlace::kNumberBit, std::memory_order_acq_rel);
  show(place.key, key);
  show(line.changes, changes + 2);
  if (HandedOnPlace::number_in(lost) != 0)
    add_to_record(lines_, lost, HandedOnPlace::calls_in(lost));
}

}  // namespace gemmtune::cublas_preload
