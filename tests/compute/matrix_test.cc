// Matrix products.
#include "compute/matrix.h"

#include <cmath>
#include <thread>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "comm/dtype.h"
#include "comm/errors.h"
#include "compute/autocast.h"
#include "compute/cast.h"
#include "compute/portable.h"
#include "tests/support/thrown.h"
#include "training/initial.h"

namespace rankbox {
namespace {

/// What a matrix's element (i, j) is, whichever way it lies in these elements.
template <class T>
double at(const MatrixOf<T>& m, const std::vector<std::remove_const_t<T>>& elements, std::int64_t i,
          std::int64_t j) {
  return elements[static_cast<std::size_t>(m.is_transposed ? j * m.stride + i : i * m.stride + j)];
}

/// rows × columns, or the transpose of a matrix of the opposite size.
template <class T>
MatrixOf<const T> flipped_or_not(const TensorOf<T>& t, std::int64_t rows, std::int64_t columns,
                                 bool flip) {
  return flip ? MatrixOf<const T>(t.data(), columns, rows).transposed()
              : MatrixOf<const T>(t.data(), rows, columns);
}

template <class T>
TensorOf<T> numbers(std::int64_t size, std::uint64_t seed) {
  if constexpr (ReducedFloat<T>) {
    TensorOf<T> rounded(size);
    cast(random_tensor<float>(size, 1, Random(seed)), rounded);
    return rounded;
  } else {
    return random_tensor<T>(size, 1, Random(seed));
  }
}

template <class From, class T>
void check_product(std::int64_t rows, std::int64_t inner, std::int64_t columns, int flips) {
  const TensorOf<From> a = numbers<From>(rows * inner, 1), b = numbers<From>(inner * columns, 2);
  const std::vector<From> as = to_host(a), bs = to_host(b);
  const auto left = flipped_or_not(a, rows, inner, (flips & 1) != 0);
  const auto right = flipped_or_not(b, inner, columns, (flips & 2) != 0);
  for (const Into into : {Into::kOverwrite, Into::kAdd}) {
    // A piece of a wider matrix: what lies beside it must stay.
    const std::int64_t stride = columns + 3;
    TensorOf<T> c = full<T>(rows * stride, 7);
    multiply(left, right, MatrixOf<T>(c.data(), rows, columns, stride), into);
    const std::vector<T> results = to_host(c);
    double worst = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < stride; ++j) {
        double expected = into == Into::kAdd || j >= columns ? 7 : 0;
        for (std::int64_t k = 0; k < inner && j < columns; ++k)
          expected += at(left, as, i, k) * at(right, bs, k, j);
        worst =
            std::max(worst, std::abs(results[static_cast<std::size_t>(i * stride + j)] - expected));
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
          check_product<float, float>(rows, inner, columns, flips);
          check_product<double, double>(rows, inner, columns, flips);
          check_product<Float16, float>(rows, inner, columns, flips);
          check_product<BFloat16, float>(rows, inner, columns, flips);
        }
      }
    }
  }
}

TEST_CASE("several products at once are those that one makes after the other") {
  constexpr std::int64_t kRows = 3, kInner = 4, kColumns = 5;
  for (const std::int64_t count : {0, 1, 2, 7}) {
    CAPTURE(count);
    // Interlaced, as the heads of attention are.
    const TensorOf<double> a = numbers<double>(kRows * kInner * 7, 1);
    const TensorOf<double> b = numbers<double>(kColumns * kInner * 7, 2);
    TensorOf<double> one = full<double>(kRows * kColumns * 7, 7), all = clone(one);
    const MatricesOf<const double> as{{a.data(), kRows, kInner, 7 * kInner}, kInner};
    const MatricesOf<const double> bs{{b.data(), kColumns, kInner}, kColumns * kInner};
    const MatricesOf<double> cs{{all.data(), kRows, kColumns, 7 * kColumns}, kColumns};
    multiply(count, as, bs.transposed(), cs);
    for (std::int64_t i = 0; i < count; ++i) {
      multiply(
          MatrixOf<const double>(a.data() + i * kInner, kRows, kInner, 7 * kInner),
          MatrixOf<const double>(b.data() + i * kColumns * kInner, kColumns, kInner).transposed(),
          MatrixOf<double>(one.data() + i * kColumns, kRows, kColumns, 7 * kColumns));
    }
    CHECK(to_host(all) == to_host(one));
  }
}

/// c + a b of floats within an Autocast. On the host that changes nothing.
template <class T>
void check_rounded_product(std::int64_t rows, std::int64_t inner, std::int64_t columns, int flips) {
  const TensorOf<float> a = numbers<float>(rows * inner, 1), b = numbers<float>(inner * columns, 2);
  const auto left = flipped_or_not(a, rows, inner, (flips & 1) != 0);
  const auto right = flipped_or_not(b, inner, columns, (flips & 2) != 0);
  TensorOf<float> expected = full<float>(rows * columns, 7), result = clone(expected);
  if (kOnGpu) {
    TensorOf<T> of_a(a.shape()), of_b(b.shape());
    cast(a, of_a);
    cast(b, of_b);
    multiply(flipped_or_not(of_a, rows, inner, (flips & 1) != 0),
             flipped_or_not(of_b, inner, columns, (flips & 2) != 0), as_matrix(expected, columns),
             Into::kAdd);
  } else {
    multiply(left, right, as_matrix(expected, columns), Into::kAdd);
  }
  {
    const Autocast outer(DType::kFloat32);
    const Autocast scope(dtype_of<T>());
    multiply(left, right, as_matrix(result, columns), Into::kAdd);
  }
  CHECK(Autocast::type() == DType::kFloat32);
  // On a GPU, rows that are not aligned may have another kernel, which adds in another order.
  const std::vector<float> is = to_host(result), wanted = to_host(expected);
  const double bound = kOnGpu ? 1e-6 * static_cast<double>(inner + 8) : 0;
  for (std::size_t i = 0; i < is.size(); ++i) CHECK(std::abs(is[i] - wanted[i]) <= bound);
}

TEST_CASE("within an Autocast factors of floats are rounded to 16 bits on a GPU") {
  for (const std::int64_t rows : {1, 3, 17}) {
    for (const std::int64_t inner : {0, 1, 5, 64}) {
      for (int flips = 0; flips < 4; ++flips) {
        CAPTURE(rows);
        CAPTURE(inner);
        CAPTURE(flips);
        check_rounded_product<Float16>(rows, inner, 33, flips);
        check_rounded_product<BFloat16>(rows, inner, 33, flips);
      }
    }
  }
}

TEST_CASE("within an Autocast several products at once are those of one after the other") {
  constexpr std::int64_t kRows = 3, kInner = 4, kColumns = 5, kCount = 7;
  const TensorOf<float> a = numbers<float>(kRows * kInner * kCount, 1);
  const TensorOf<float> b = numbers<float>(kColumns * kInner * kCount, 2);
  TensorOf<float> one = full<float>(kRows * kColumns * kCount, 7), all = clone(one);
  const Autocast scope(DType::kBFloat16);
  // Interlaced, as the heads of attention are.
  const MatricesOf<const float> as{{a.data(), kRows, kInner, kCount * kInner}, kInner};
  const MatricesOf<const float> bs{{b.data(), kColumns, kInner}, kColumns * kInner};
  multiply(kCount, as, bs.transposed(),
           MatricesOf<float>{{all.data(), kRows, kColumns}, kRows * kColumns});
  for (std::int64_t i = 0; i < kCount; ++i) {
    multiply(MatrixOf<const float>(a.data() + i * kInner, kRows, kInner, kCount * kInner),
             MatrixOf<const float>(b.data() + i * kColumns * kInner, kColumns, kInner).transposed(),
             MatrixOf<float>(one.data() + i * kRows * kColumns, kRows, kColumns));
  }
  CHECK(to_host(all) == to_host(one));
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
  constexpr int kThreads = kOnGpu ? 8 : 300;  // on the host, many more than multiply at once
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
