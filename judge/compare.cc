#include "judge/compare.h"

#include <fmt/format.h>

namespace rankbox {

std::string in_words(float value) { return fmt::format("{}", value); }

std::optional<Difference> compare_size(const std::string& what, std::int64_t actual,
                                       std::int64_t expected) {
  if (actual == expected) return std::nullopt;
  return Difference{
      what, -1, fmt::format("{} elements", expected), fmt::format("{} elements", actual),
      actual == 0 && what.ends_with("gradient")
          ? Hint("gradient-empty",
                 "it is empty: a gradient that this rank did not use has to be made, too "
                 "(gradient_of() makes zeros)")
          : Hint("write-in-place", "write into the tensor you are given instead of replacing it")};
}

std::optional<Difference> compare_shape(const std::string& what, const Shape& actual,
                                        const Shape& expected) {
  if (auto difference = compare_size(what, actual.elements(), expected.elements()))
    return difference;
  if (actual == expected || expected.elements() == 0) return std::nullopt;
  const auto written = [](const Shape& shape) {
    return fmt::format("shape ({})", fmt::join(shape.extents(), ", "));
  };
  return Difference{
      what,
      -1,
      written(expected),
      written(actual),
      {"shape-changed",
       "its rows and columns count, too: write into the tensor you are given, or into "
       "one of its shape (empty_like())"}};
}

Hint origin_of_moved(float value, std::int64_t i, int world_size, std::uint64_t tensor) {
  double sum = 0;
  bool is_of_one_rank = false;
  for (int rank = 0; rank < world_size; ++rank) {
    sum += element(rank, i, tensor);
    is_of_one_rank = is_of_one_rank || value == element(rank, i, tensor);
  }
  // By chance, a mean is also some other element, far beyond the end of the tensor.
  if (!is_of_one_rank && value == static_cast<float>(sum / world_size))
    return {
        "mean-of-elements",
        fmt::format("that is the mean of all ranks' elements {}: here one rank's is wanted", i)};
  if (!is_of_one_rank && value == static_cast<float>(sum))
    return {"sum-of-elements",
            fmt::format("that is the sum of all ranks' elements {}: here one rank's is wanted", i)};
  return origin_of_element(value, world_size, tensor);
}

Hint is_an_input(float /*value*/, std::int64_t /*i*/) {
  return {"input-unchanged", "it is an input, and has to stay as it was"};
}

std::optional<Difference> compare_unchanged(const std::string& what, const Tensor& actual, int rank,
                                            std::int64_t count, std::uint64_t tensor) {
  return compare(
      what, actual, count, [&](std::int64_t i) { return element(rank, i, tensor); }, is_an_input);
}

}  // namespace rankbox
