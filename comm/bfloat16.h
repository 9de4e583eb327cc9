// A 16-bit float with the range of a float, bfloat16: 8 significant bits, largest value 3.39e38.
//
// It is the upper half of a float. Compared with Float16 it trades three significant bits for
// exponents that neither overflow nor underflow in training. As there, every operation is done in
// float and rounded once, to nearest, ties to even, as on a GPU. Keep a long sum in a float.
#pragma once

#include <bit>
#include <cstdint>

#include "comm/odd_rounding.h"

namespace rankbox {

class BFloat16 {
 public:
  constexpr BFloat16() = default;
  constexpr explicit BFloat16(float value) : bits_(rounded(value)) {}
  constexpr explicit BFloat16(double value) : BFloat16(detail::odd_rounded(value)) {}
  constexpr explicit BFloat16(int value) : BFloat16(static_cast<double>(value)) {}
  constexpr explicit BFloat16(std::int64_t value) : BFloat16(static_cast<double>(value)) {}

  constexpr operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
  }

  static constexpr BFloat16 from_bits(std::uint16_t bits) {
    BFloat16 made;
    made.bits_ = bits;
    return made;
  }
  constexpr std::uint16_t bits() const { return bits_; }

 private:
  static constexpr std::uint16_t rounded(float value) {
    const auto from = std::bit_cast<std::uint32_t>(value);
    // A NaN stays one, and becomes quiet, even if its upper half alone would be infinite.
    if (value != value) return static_cast<std::uint16_t>(from >> 16 | 0x40);
    // Half of the last bit kept, minus one, plus that bit: ties go to even.
    return static_cast<std::uint16_t>((from + 0x7fff + (from >> 16 & 1)) >> 16);
  }

  std::uint16_t bits_ = 0;
};

static_assert(sizeof(BFloat16) == 2);

}  // namespace rankbox
