// The operations a reduction can apply element by element.
#pragma once

#include <cstdint>

namespace rankbox {

/// AVG is SUM followed by one division by the world size, at the very end: accumulate() treats the
/// two alike.
enum class ReduceOp : std::uint8_t { SUM, PRODUCT, MAX, MIN, AVG };

constexpr const char* name_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::SUM:
      return "SUM";
    case ReduceOp::PRODUCT:
      return "PRODUCT";
    case ReduceOp::MAX:
      return "MAX";
    case ReduceOp::MIN:
      return "MIN";
    case ReduceOp::AVG:
      return "AVG";
  }
  return "unknown";
}

}  // namespace rankbox
