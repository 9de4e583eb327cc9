// Numbers and texts as bytes: numbers of 32 bits, high byte first; a text is its length and its
// bytes. The reader trusts nothing: what is too short throws.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "comm/errors.h"

namespace rankbox::launcher {

class WireWriter {
 public:
  /// @param size about how many bytes will be written
  explicit WireWriter(std::size_t size = 0) { bytes_.reserve(size); }

  WireWriter& u32(std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes_ += static_cast<char>(value >> shift & 0xff);
    return *this;
  }
  WireWriter& text(std::string_view value) {
    u32(static_cast<std::uint32_t>(value.size()));
    return raw(value);
  }
  /// Without its length: the last of a message, as rest() reads it.
  WireWriter& raw(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : left_(bytes) {}

  std::uint32_t u32() {
    std::uint32_t value = 0;
    for (const char byte : raw(4)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }
  std::string text() {
    const std::uint32_t size = u32();
    return std::string(raw(size));
  }
  std::string rest() { return std::string(raw(left_.size())); }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view raw(std::size_t size) {
    if (size > left_.size()) throw Error("a message is shorter than it says");
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }

  std::string_view left_;
};

/// Several texts as one.
inline std::string pack(const std::vector<std::string>& texts) {
  WireWriter writer;
  for (const std::string& text : texts) writer.text(text);
  return writer.take();
}

inline std::vector<std::string> unpack(std::string_view bytes) {
  std::vector<std::string> texts;
  for (WireReader reader(bytes); !reader.at_end();) texts.push_back(reader.text());
  return texts;
}

}  // namespace rankbox::launcher
