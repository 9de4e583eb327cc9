// A name for a computation, short enough for a trace event: "F3", the forward pass of micro-batch
// 3. Drawings show it, and a judge identifies the computation by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rankbox {

class Label {
 public:
  static constexpr std::size_t kMostCharacters = 8;

  constexpr Label() = default;
  /// Characters beyond kMostCharacters are dropped.
  constexpr Label(std::string_view text) {
    for (std::size_t i = 0; i < text.size() && i < kMostCharacters; ++i)
      bits_ |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  }
  constexpr Label(const char* text) : Label(std::string_view(text)) {}

  /// Returns the bits stored in an event; 0 without a label.
  constexpr std::int64_t bits() const { return static_cast<std::int64_t>(bits_); }
  static constexpr Label of_bits(std::int64_t bits) {
    Label label;
    label.bits_ = static_cast<std::uint64_t>(bits);
    return label;
  }

  constexpr bool empty() const { return bits_ == 0; }
  std::string text() const {
    std::string text;
    for (std::uint64_t rest = bits_; rest != 0; rest >>= 8)
      text += static_cast<char>(static_cast<unsigned char>(rest & 0xff));
    return text;
  }

 private:
  std::uint64_t bits_ = 0;
};

}  // namespace rankbox
