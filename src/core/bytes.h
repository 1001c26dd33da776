#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace gemmtune {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie");

// Writes the binary files of this project: numbers little-endian, a text as its size (u32) and its
// bytes.
class ByteWriter {
 public:
  template <class T>
  void number(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<uint32_t>(value.size()));
    out_.append(value);
  }
  void raw(std::string_view bytes) { out_.append(bytes); }

  size_t size() const { return out_.size(); }
  std::string_view written() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Reads what ByteWriter wrote. After the first read past the end everything is empty and ok() is
// false. Texts are views of the bytes given, which outlive them.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && rest_.empty(); }
  std::string_view rest() const { return rest_; }  // what was not read yet

  std::string_view raw(size_t size) {
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  template <class T>
  T number() {
    T value{};
    const std::string_view part = raw(sizeof value);
    if (part.size() == sizeof value) std::memcpy(&value, part.data(), sizeof value);
    return value;
  }
  std::string_view text() { return raw(number<uint32_t>()); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace gemmtune
