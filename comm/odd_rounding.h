// Rounding from double to 16 bits by way of float, without rounding twice.
#pragma once

#include <bit>
#include <cstdint>

namespace rankbox::detail {

/// A double as a float whose last bit says whether anything was lost. Rounding it again, to at most
/// 22 significant bits, gives the same as rounding the double once.
constexpr float odd_rounded(double value) {
  const auto nearest = static_cast<float>(value);
  if (nearest != nearest || static_cast<double>(nearest) == value) return nearest;
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (bits & 1) return nearest;
  const bool away =
      (value < 0 ? -value : value) > static_cast<double>(nearest < 0 ? -nearest : nearest);
  return std::bit_cast<float>(away ? bits | 1 : bits - 1);
}

}  // namespace rankbox::detail
