// A tensor seen as an xtensor expression.
#include "comm/xtensor.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>

namespace rankbox {
namespace {

TEST_CASE_TEMPLATE("the view has the tensor's shape and its memory", T, float, double, std::int32_t,
                   std::int64_t) {
  TensorOf<T> tensor = full<T>({2, 3, 4}, T{1});
  auto view = as_xtensor(tensor);
  REQUIRE(view.dimension() == 3);
  CHECK(view.shape()[0] == 2);
  CHECK(view.shape()[1] == 3);
  CHECK(view.shape()[2] == 4);
  CHECK(view.data() == tensor.data());

  view(1, 2, 3) = T{9};  // the last element: rows are contiguous
  CHECK(tensor.data()[23] == T{9});
  tensor *= T{2};
  CHECK(view(1, 2, 3) == T{18});
  CHECK(view(0, 0, 0) == T{2});
}

TEST_CASE("expressions are evaluated into the tensor") {
  Tensor tensor = from_host({1.f, 4.f, 9.f});
  auto view = as_xtensor(tensor);
  xt::noalias(view) = xt::sqrt(view) + 1.0f;
  CHECK(to_host(tensor) == std::vector<float>{2, 3, 4});
}

TEST_CASE("a constant tensor has a view to read from") {
  const Tensor tensor = from_host({1.f, 2.f, 3.f});
  const auto view = as_xtensor(tensor);
  CHECK(view.data() == tensor.data());
  CHECK(xt::sum(view)() == 6.0f);
}

TEST_CASE("an empty tensor is a view of no elements") {
  Tensor nothing;
  CHECK(as_xtensor(nothing).size() == 0);
  Tensor no_rows = zeros({0, 3});
  CHECK(as_xtensor(no_rows).size() == 0);
  CHECK(as_xtensor(std::as_const(no_rows)).shape()[1] == 3);
}

}  // namespace
}  // namespace rankbox
