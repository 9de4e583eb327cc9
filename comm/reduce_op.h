// The operations a reduction can apply element by element.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rankbox {

/// AVG is SUM followed by one division by the world size, at the very end: accumulate() treats the
/// two alike.
enum class ReduceOp : std::uint8_t { SUM, PRODUCT, MAX, MIN, AVG };

inline constexpr std::array kReduceOps = {ReduceOp::SUM, ReduceOp::PRODUCT, ReduceOp::MAX,
                                          ReduceOp::MIN, ReduceOp::AVG};

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

/// Returns the operation with this name, as name_of() spells it.
constexpr std::optional<ReduceOp> find_reduce_op(std::string_view name) {
  for (const ReduceOp op : kReduceOps) {
    if (name == name_of(op)) return op;
  }
  return std::nullopt;
}

}  // namespace rankbox
