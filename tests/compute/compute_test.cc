// The primitives of compute/ against plain loops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "compute/all_finite.h"
#include "compute/cast.h"
#include "compute/strided.h"
#include "tests/compute/sweeps.h"
#include "tests/support/run_tests.h"
#include "tests/support/thrown.h"
#include "training/initial.h"

namespace rankbox {
namespace {

// None, one, a few, more than a block of threads, than a stripe, than a row of first_of.
constexpr std::int64_t kSizes[] = {0, 1, 2, 31, 33, 257, 5000, 70000};

TEST_CASE("for_each visits every element once, and every place of a grid") {
  for (const std::int64_t n : kSizes) {
    CAPTURE(n);
    std::vector<double> expected;
    for (std::int64_t i = 0; i < n; ++i) expected.push_back(static_cast<double>(i * i));
    CHECK(testing::squares(n) == expected);
  }
  for (const std::int64_t rows : {0, 1, 3, 300}) {
    for (const std::int64_t columns : {0, 1, 7, 256}) {
      CAPTURE(rows);
      CAPTURE(columns);
      std::vector<std::int64_t> expected;
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t c = 0; c < columns; ++c) expected.push_back(100 * row + c);
      CHECK(testing::places(rows, columns) == expected);
    }
  }
}

TEST_CASE("for_each_row sums and searches each row, whatever its width") {
  for (const std::int64_t width : {0, 1, 31, 32, 33, 100}) {
    CAPTURE(width);
    const Tensor x = random_tensor<float>(Shape{5, width}, 1, Random(1));
    const std::vector<float> xs = to_host(x);
    const testing::RowResults found = testing::of_rows(x, width);
    for (std::size_t row = 0; row < found.sums.size(); ++row) {
      double sum = 0, squares = 0, largest = -std::numeric_limits<double>::infinity();
      for (std::size_t i = row * static_cast<std::size_t>(width);
           i < (row + 1) * static_cast<std::size_t>(width); ++i) {
        sum += xs[i];
        squares += double{xs[i]} * xs[i];
        largest = std::max(largest, double{xs[i]});
        CHECK(found.doubled[i] == 2 * xs[i]);
      }
      CHECK(found.sums[row] == doctest::Approx(sum).epsilon(1e-12));
      CHECK(found.squares[row] == doctest::Approx(squares).epsilon(1e-12));
      CHECK(found.largest[row] == largest);
    }
  }
}

TEST_CASE("sum_columns adds the sum of each column, one sum or two, for any number of rows") {
  for (const std::int64_t rows : {0, 1, 15, 16, 33, 1000}) {
    for (const std::int64_t columns : {0, 1, 5, 130}) {
      CAPTURE(rows);
      CAPTURE(columns);
      const Tensor x = random_tensor<float>(Shape{rows, columns}, 1, Random(1));
      const std::vector<float> xs = to_host(x);
      const auto both = testing::column_sums(x, columns, 7);
      const std::vector<float> alone = testing::column_sums_alone(x, columns, 7);
      REQUIRE(both.first.size() == static_cast<std::size_t>(columns));
      for (std::size_t c = 0; c < both.first.size(); ++c) {
        double sum = 7, squares = 7;
        for (std::size_t i = c; i < xs.size(); i += static_cast<std::size_t>(columns)) {
          sum += xs[i];
          squares += double{xs[i]} * xs[i];
        }
        CHECK(both.first[c] == doctest::Approx(sum).epsilon(1e-12));
        CHECK(both.second[c] == doctest::Approx(squares).epsilon(1e-12));
        CHECK(alone[c] == doctest::Approx(sum).epsilon(1e-4));
      }
      CHECK(testing::column_sums_alone(x, columns, 7) == alone);  // the same bits again
    }
  }
}

TEST_CASE("first_of finds the first, wherever it is") {
  for (const std::int64_t n : kSizes) {
    CAPTURE(n);
    std::vector<std::int32_t> host(static_cast<std::size_t>(n), 0);
    CHECK(testing::first_that_is(from_host(host), 1) == n);
    for (const std::int64_t at : {n - 1, n / 2, n / 3, std::int64_t{0}}) {
      if (at < 0 || at >= n) continue;
      host[static_cast<std::size_t>(at)] = 1;
      CHECK(testing::first_that_is(from_host(host), 1) == at);
    }
  }
}

TEST_CASE("all_finite: no infinity and no NaN, in any type") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double odd : {kInfinity, -kInfinity, std::nan("")}) {
    CAPTURE(odd);
    TensorOf<double> wide = full<double>(5000, 1e300);
    CHECK(all_finite(wide));
    copy(Slice(wide).sub(4999, 5000), from_host({odd}));
    CHECK(!all_finite(wide));
    CHECK(all_finite(Slice(wide).sub(0, 4999)));
    CHECK(!all_finite(from_host({1.0F, static_cast<float>(odd)})));
    CHECK(!all_finite(from_host({Float16(1.0F), Float16(odd)})));
    CHECK(all_finite(from_host({Float16(65504.0F), Float16(-65504.0F)})));
  }
  CHECK(all_finite(Tensor()));
  CHECK(all_finite(from_host({1, -1})));
}

TEST_CASE("cast rounds to the nearest, and refuses what does not fit") {
  const std::vector<double> values = {0, -1.5, 1e-7, 65504, 70000, 1.0 / 3};
  const TensorOf<double> wide = from_host(values);
  TensorOf<float> single(wide.shape());
  TensorOf<Float16> half(wide.shape()), again(wide.shape());
  cast(wide, single);
  cast(wide, half);
  cast(single, again);
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(to_host(single)[i] == static_cast<float>(values[i]));
    CHECK(to_host(half)[i].bits() == Float16(values[i]).bits());
    CHECK(to_host(again)[i].bits() == Float16(static_cast<float>(values[i])).bits());
  }
  cast(half, single);
  CHECK(to_host(single)[5] == float{Float16(1.0 / 3)});
  TensorOf<std::int32_t> integers(6);
  CHECK(testing::lacks(testing::refusal([&] { cast(wide, integers); }), {"cast", "int32"}) == "");
  CHECK(testing::lacks(testing::refusal([&] { cast(wide, zeros(5)); }), {"cast", "6", "5"}) == "");
  const Tensor constant = zeros(6);
  CHECK_THROWS_AS(cast(wide, constant), InvalidArgument);
}

TEST_CASE("add_rows adds every row where it belongs, several to the same") {
  const std::vector<std::int32_t> targets = {2, 0, 2, 2, 4};
  const Tensor x = random_tensor<float>({5, 3}, 1, Random(1));
  const std::vector<float> xs = to_host(x);
  std::vector<float> expected(6 * 3, 1);
  for (std::size_t row = 0; row < 5; ++row)
    for (std::size_t c = 0; c < 3; ++c)
      expected[static_cast<std::size_t>(targets[row]) * 3 + c] += xs[row * 3 + c];
  CHECK(testing::table_after(from_host(targets), x, 3, 6) == expected);
  CHECK(testing::table_after(from_host(std::vector<std::int32_t>{}), Tensor({0, 3}), 3, 2) ==
        std::vector<float>(6, 1));
}

template <class T>
TensorOf<T> counting(Shape shape) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < shape.elements(); ++i) values.push_back(static_cast<T>(float(i)));
  return from_host(values, shape);
}

TEST_CASE_TEMPLATE("columns are packed and unpacked, and their neighbours stay as they are", T,
                   float, double, std::int32_t, Float16, std::uint8_t) {
  for (const std::int64_t rows : {0, 1, 5, 300}) {
    for (const std::int64_t begin : {0, 1, 3, 7}) {
      for (const std::int64_t width : {0, 1, 4}) {
        if (begin + width > 7) continue;
        CAPTURE(rows);
        CAPTURE(begin);
        CAPTURE(width);
        const TensorOf<T> matrix = counting<T>({rows, 7});
        TensorOf<T> packed = zeros<T>(rows * width);
        pack(packed, columns_of(matrix, begin, begin + width));
        TensorOf<T> copied = zeros<T>({rows, 7});
        unpack(packed, columns_of(copied, begin, begin + width));
        const std::vector<T> all = to_host(matrix);
        std::vector<T> expected;
        std::vector<T> expected_copied(all.size(), T(0.0f));
        for (std::size_t i = 0; i < all.size(); ++i) {
          const auto column = static_cast<std::int64_t>(i % 7);
          if (column < begin || column >= begin + width) continue;
          expected.push_back(all[i]);
          expected_copied[i] = all[i];
        }
        CHECK(to_host(packed) == expected);
        CHECK(to_host(copied) == expected_copied);
      }
    }
  }
}

TEST_CASE("pieces that are not there, do not fit or overlap are refused") {
  Tensor matrix = counting<float>({4, 6});
  Tensor packed = zeros(4);
  const auto refused = [&](auto call) { CHECK_THROWS_AS(call(), InvalidArgument); };
  refused([&] { pack(packed, columns_of(matrix, 6, 7)); });
  refused([&] { pack(packed, columns_of(matrix, 3, 2)); });
  refused([&] { pack(packed, columns_of(packed, 0, 1)); });
  refused([&] { pack(packed, columns_of(matrix, 0, 2)); });
  refused([&] { pack(packed, {matrix, 0, 4, 1, 8}); });  // beyond the end
  refused([&] { pack(packed, {matrix, 0, 2, 2, 1}); });  // overlapping pieces
  refused([&] { pack(packed, {matrix, -1, 4, 1, 1}); });
  refused([&] { pack(Slice(matrix).sub(1, 5), columns_of(matrix, 0, 1)); });
  refused([&] { pack(zeros<double>(4), columns_of(matrix, 0, 1)); });
  const Tensor constant = clone(matrix);
  refused([&] { unpack(packed, columns_of(constant, 0, 1)); });
  pack(packed, columns_of(constant, 5, 6));
  CHECK(to_host(packed) == std::vector<float>{5, 11, 17, 23});
}

}  // namespace
}  // namespace rankbox
