// A 16-bit float, IEEE 754 binary16: 11 significant bits, largest value 65504.
//
// For storage and messages, where half the bytes take half the time. Every operation is computed in
// float and rounded once, to nearest, ties to even, as on a GPU. Accumulate long sums in a float.
#pragma once

#include <bit>
#include <cstdint>

#include "comm/odd_rounding.h"

namespace rankbox {

class Float16 {
 public:
  constexpr Float16() = default;
  constexpr explicit Float16(float value) : bits_(rounded(value)) {}
  constexpr explicit Float16(double value) : Float16(detail::odd_rounded(value)) {}
  constexpr explicit Float16(int value) : Float16(static_cast<double>(value)) {}
  constexpr explicit Float16(std::int64_t value) : Float16(static_cast<double>(value)) {}

  constexpr operator float() const { return widened(bits_); }

  static constexpr Float16 from_bits(std::uint16_t bits) {
    Float16 made;
    made.bits_ = bits;
    return made;
  }
  constexpr std::uint16_t bits() const { return bits_; }

 private:
  static constexpr std::uint16_t rounded(float value) {
    const auto from = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(from >> 16 & 0x8000);
    const std::uint32_t magnitude = from & 0x7fffffff;
    if (magnitude > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7e00);   // NaN
    if (magnitude >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);  // infinite
    std::uint32_t bits = 0;
    if (magnitude < 0x38800000) {
      // Subnormal: the float addition shifts and rounds. The last bit of 0.5 is worth 2^-24.
      const float sum = std::bit_cast<float>(magnitude) + 0.5f;
      bits = std::bit_cast<std::uint32_t>(sum) - 0x3f000000;
    } else {
      // Half of the last bit kept, minus one, plus that bit: ties go to even.
      bits = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
    }
    return static_cast<std::uint16_t>(sign | bits);
  }

  static constexpr float widened(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
    const std::uint32_t magnitude = bits & 0x7fff;
    if (magnitude >= 0x7c00) {
      return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    }
    if (magnitude < 0x400) {
      const float value = static_cast<float>(magnitude) * 0x1p-24f;
      return sign != 0 ? -value : value;
    }
    return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  }

  std::uint16_t bits_ = 0;
};

static_assert(sizeof(Float16) == 2);

}  // namespace rankbox
