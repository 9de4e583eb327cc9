// Matrix products.
#include "training/matrix.h"

#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "tests/support/thrown.h"
#include "training/initial.h"

namespace rankbox {
namespace {

/// What a matrix's element (i, j) is, whichever way it lies.
template <class T>
double at(const MatrixOf<T>& m, std::int64_t i, std::int64_t j) {
  return m.is_transposed ? m.data[j * m.stride + i] : m.data[i * m.stride + j];
}

template <class T>
void check_product(std::int64_t rows, std::int64_t inner, std::int64_t columns, int flips) {
  TensorOf<T> a = random_tensor<T>(rows * inner, 1, Random(1));
  TensorOf<T> b = random_tensor<T>(inner * columns, 1, Random(2));
  const bool flip_a = (flips & 1) != 0, flip_b = (flips & 2) != 0;
  const auto left =
      flip_a ? MatrixOf<T>(a.data(), inner, rows).transposed() : MatrixOf<T>(a.data(), rows, inner);
  const auto right = flip_b ? MatrixOf<T>(b.data(), columns, inner).transposed()
                            : MatrixOf<T>(b.data(), inner, columns);
  for (const Into into : {Into::kOverwrite, Into::kAdd}) {
    // A piece of a wider matrix: what lies beside it must stay.
    const std::int64_t stride = columns + 3;
    TensorOf<T> c = full<T>(rows * stride, 7);
    multiply(left, right, MatrixOf<T>(c.data(), rows, columns, stride), into);
    double worst = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < stride; ++j) {
        double expected = into == Into::kAdd || j >= columns ? 7 : 0;
        for (std::int64_t k = 0; k < inner && j < columns; ++k)
          expected += at(left, i, k) * at(right, k, j);
        worst = std::max(worst, std::abs(c.data()[i * stride + j] - expected));
      }
    }
    CHECK(worst < (sizeof(T) == 4 ? 1e-4 : 1e-12));
  }
}

TEST_CASE(
    "a product is the sum of products, whatever is transposed, added or a piece of something") {
  for (const std::int64_t rows : {0, 1, 3, 17}) {
    for (const std::int64_t inner : {0, 1, 5, 64}) {
      for (const std::int64_t columns : {0, 1, 4, 33}) {
        for (int flips = 0; flips < 4; ++flips) {
          CAPTURE(rows);
          CAPTURE(inner);
          CAPTURE(columns);
          CAPTURE(flips);
          check_product<float>(rows, inner, columns, flips);
          check_product<double>(rows, inner, columns, flips);
        }
      }
    }
  }
}

TEST_CASE("sizes that do not fit are refused") {
  TensorOf<float> t(100);
  const auto sized = [&](std::int64_t rows, std::int64_t columns) {
    return MatrixOf<float>(t.data(), rows, columns);
  };
  CHECK(testing::lacks(testing::refusal([&] { multiply(sized(2, 3), sized(4, 5), sized(2, 5)); }),
                       {"2 × 3", "4 × 5", "2 × 5"}) == "");
  CHECK_THROWS_AS(multiply(sized(2, 3), sized(3, 5), sized(5, 2)), InvalidArgument);
  CHECK_THROWS_AS(multiply(sized(2, 3), sized(3, 5), sized(5, 2).transposed()), InvalidArgument);
}

TEST_CASE("many threads at once get the bits that one gets") {
  constexpr int kThreads = 300;  // many more than multiply at once
  constexpr std::int64_t kSize = 96;
  const TensorOf<float> a = random_tensor<float>(kSize * kSize, 1, Random(1));
  const TensorOf<float> b = random_tensor<float>(kSize * kSize, 1, Random(2));
  const auto product = [&] {
    TensorOf<float> c(kSize * kSize);
    for (int repeat = 0; repeat < 5; ++repeat)
      multiply(as_matrix(a, kSize), as_matrix(b, kSize), as_matrix(c, kSize));
    return to_host(c);
  };
  const std::vector<float> expected = product();
  std::vector<std::vector<float>> results(kThreads);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) threads.emplace_back([&] { result = product(); });
  }
  for (const auto& result : results) CHECK(result == expected);
}

}  // namespace
}  // namespace rankbox
