// Comparisons that describe the first element that differs.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm/tensor.h"
#include "judge/inputs.h"
#include "judge/subject.h"

namespace rankbox {

/// Returns the shortest decimal number that equals this float.
std::string in_words(float value);

/// Returns whether the numbers are equal, or both are NaN.
inline bool is_same_number(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Compares numbers that should be equal.
template <class Number>
std::optional<Difference> compare_number(const std::string& what, Number actual, Number expected,
                                         const Hint& hint) {
  if (actual == expected) return std::nullopt;
  return Difference{what, -1, fmt::format("{}", expected), fmt::format("{}", actual), hint};
}

/// Compares the size of a tensor of any dtype; a difference reads "7 elements".
std::optional<Difference> compare_size(const std::string& what, std::int64_t actual,
                                       std::int64_t expected);

/// Compares the size, and then the shape; a difference reads "shape (2, 3)". No shape is expected
/// of an empty tensor.
std::optional<Difference> compare_shape(const std::string& what, const Shape& actual,
                                        const Shape& expected);

/// Compares every element with expected(i): exactly, unless a relative tolerance is given. A NaN
/// equals a NaN only. `origin(value, i)` explains a wrong value.
template <class Expected, class Origin>
std::optional<Difference> compare(const std::string& what, const Tensor& actual, std::int64_t size,
                                  Expected expected, Origin origin, float relative = 0) {
  if (auto difference = compare_size(what, actual.size(), size)) return difference;
  const std::vector<float> host = to_host(actual);
  for (std::int64_t i = 0; i < size; ++i) {
    const float is = host[static_cast<std::size_t>(i)];
    const float should_be = expected(i);
    if (is_same_number(is, should_be)) continue;
    const float bound = std::isinf(should_be) ? 0 : relative * std::abs(should_be);
    if (std::abs(is - should_be) <= bound) continue;
    return Difference{what, i, in_words(should_be), in_words(is), origin(is, i)};
  }
  return std::nullopt;
}

/// Describes the likely origin of a wrong value at index i where elements are only moved; empty if
/// unknown.
Hint origin_of_moved(float value, std::int64_t i, int world_size, std::uint64_t tensor = 0);

/// As compare, where elements are only moved: expected(i) is an element() of that tensor, inputs.h.
template <class Expected>
std::optional<Difference> compare_moved(const std::string& what, const Tensor& actual,
                                        std::int64_t size, int world_size, Expected expected,
                                        std::uint64_t tensor = 0) {
  return compare(what, actual, size, expected, [&](float is, std::int64_t i) {
    return origin_of_moved(is, i, world_size, tensor);
  });
}

/// Describes the origin of a wrong value in an input.
Hint is_an_input(float value, std::int64_t i);

/// Compares an input with elements_of(rank, count, tensor), which it should still equal.
std::optional<Difference> compare_unchanged(const std::string& what, const Tensor& actual, int rank,
                                            std::int64_t count, std::uint64_t tensor = 0);

}  // namespace rankbox
