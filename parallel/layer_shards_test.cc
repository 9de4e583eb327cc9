// Ranks' parts of a layer are its rows and columns, and a bias belongs to every row.
#include "parallel/layer_shards.h"

#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"

namespace rankbox {
namespace {

constexpr std::int64_t kRows = 7, kColumns = 5;

/// Element i is i.
Tensor counted(const Shape& shape) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.elements(); ++i) values.push_back(static_cast<float>(i));
  return from_host(values, shape);
}

TEST_CASE("ranks' parts put together are the whole") {
  const Tensor whole = counted({kRows, kColumns});
  for (const int p : {1, 2, 3, 5, 8}) {
    CAPTURE(p);
    std::vector<float> rows;
    std::vector<float> columns(static_cast<std::size_t>(whole.size()), -1);
    std::int64_t first = 0;
    for (int r = 0; r < p; ++r) {
      for (const float value : to_host(row_part(whole, r, p))) rows.push_back(value);
      const Tensor part = column_part(whole, r, p);
      const std::int64_t width = part.shape().extents()[1];
      REQUIRE(part.shape() == Shape{kRows, width});
      const std::vector<float> values = to_host(part);
      for (std::int64_t i = 0; i < part.size(); ++i) {
        const std::int64_t place = i / width * kColumns + first + i % width;
        columns[static_cast<std::size_t>(place)] = values[static_cast<std::size_t>(i)];
      }
      first += width;
    }
    CHECK(rows == to_host(whole));
    CHECK(columns == to_host(whole));
  }
}

TEST_CASE("a vector is cut as the rows of a matrix are") {
  const Tensor whole = counted(kRows);
  CHECK(to_host(row_part(whole, 0, 3)) == std::vector<float>{0, 1});
  CHECK(to_host(row_part(whole, 2, 3)) == std::vector<float>{4, 5, 6});
  CHECK(row_part(whole, 0, 8).empty());
}

TEST_CASE("a bias is added to every row, and its gradient is the sum of all rows, added") {
  for (const std::int64_t rows : {0, 1, 7}) {
    CAPTURE(rows);
    Tensor y = counted({rows, 3});
    add_bias(y, from_host({100.0f, 200.0f, 300.0f}));
    std::vector<float> expected, sums = {10, 20, 30};
    for (std::int64_t i = 0; i < 3 * rows; ++i) {
      expected.push_back(static_cast<float>(i + 100 * (i % 3 + 1)));
      sums[static_cast<std::size_t>(i % 3)] += static_cast<float>(i);
    }
    CHECK(to_host(y) == expected);
    Tensor gradient = from_host({10.0f, 20.0f, 30.0f});
    add_bias_gradient(counted({rows, 3}), gradient);
    CHECK(to_host(gradient) == sums);
  }
}

TEST_CASE("elements that are not rows of the bias are refused, and so is no bias") {
  for (const std::int64_t bias : {0, 4}) {
    CAPTURE(bias);
    Tensor y = zeros(6), other = zeros(bias);
    CHECK_THROWS_AS(add_bias(y, other), InvalidArgument);
    CHECK_THROWS_AS(add_bias_gradient(y, other), InvalidArgument);
  }
}

}  // namespace
}  // namespace rankbox
