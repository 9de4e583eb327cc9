// Quantiles of few and of many samples.
#include "cli/compare/measure/measure.h"

#include <numeric>

#include <doctest/doctest.h>

namespace rankbox::cli {

namespace {

TEST_CASE("a quantile lies between the samples around it, in whatever order they come") {
  std::vector<double> hundred(100);
  std::iota(hundred.rbegin(), hundred.rend(), 1.0);  // 100, 99, …, 1
  const struct {
    std::vector<double> samples;
    double q;
    double value;
  } table[] = {
      {{7}, 0.99, 7},         {{3, 1, 2}, 0.5, 2},  {{4, 1, 2, 3}, 0.5, 2.5},
      {{4, 1, 2, 3}, 0, 1},   {{4, 1, 2, 3}, 1, 4}, {{5, 1, 2, 3, 4}, 0.25, 2},
      {hundred, 0.99, 99.01}, {hundred, 0.5, 50.5}, {{1, 9}, 0.99, 8.92},
  };
  for (const auto& row : table) {
    CAPTURE(row.q);
    CHECK(quantile(row.samples, row.q) == doctest::Approx(row.value));
  }
}

TEST_CASE("a summary has the median, the quartiles and the number of samples") {
  const Times times = summarize({5, 1, 4, 2, 3});
  CHECK(times.median == 3);
  CHECK(times.q1 == 2);
  CHECK(times.q3 == 4);
  CHECK(times.iterations == 5);
}

}  // namespace

}  // namespace rankbox::cli
