// Optimizers against steps computed by hand.
#include <cmath>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "tests/support/thrown.h"
#include "training/adam.h"
#include "training/sgd.h"

namespace rankbox {
namespace {

TEST_CASE("sgd_step: velocity gathers gradients, weights follow, decay pulls to zero") {
  Tensor value = from_host({1.0F, -2.0F}), gradient = from_host({0.5F, 1.0F});
  Tensor velocity = zeros(2);
  const SgdOptions options{.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01};
  sgd_step(value, gradient, velocity, options);
  // v = 0.5 + 0.01 · 1 = 0.51, w = 1 - 0.051; v = 1 - 0.02 = 0.98, w = -2 - 0.098
  CHECK(to_host(velocity)[0] == doctest::Approx(0.51));
  CHECK(to_host(value)[0] == doctest::Approx(0.949));
  CHECK(to_host(value)[1] == doctest::Approx(-2.098));
  sgd_step(value, gradient, velocity, options);
  // v = 0.459 + 0.5 + 0.00949 = 0.96849
  CHECK(to_host(velocity)[0] == doctest::Approx(0.96849));
  CHECK(to_host(value)[0] == doctest::Approx(0.949 - 0.096849));
}

TEST_CASE("sgd_step without momentum wants no velocity") {
  Tensor value = from_host({1.0F}), none;
  sgd_step(value, from_host({2.0F}), none, {.learning_rate = 0.25, .momentum = 0});
  CHECK(to_host(value)[0] == 0.5F);
}

TEST_CASE("adam_step: the first step is the learning rate, whatever the size of the gradient") {
  for (const double gradient : {1e-3, 1.0, -50.0}) {
    TensorOf<double> value = from_host({3.0}), m = zeros<double>(1), v = zeros<double>(1);
    adam_step(value, from_host({gradient}), m, v, 1, {.learning_rate = 0.01});
    CHECK(to_host(value)[0] == doctest::Approx(3 - std::copysign(0.01, gradient)).epsilon(1e-5));
    CHECK(to_host(m)[0] == doctest::Approx(0.1 * gradient));
    CHECK(to_host(v)[0] == doctest::Approx(0.001 * gradient * gradient));
  }
}

TEST_CASE("adam_step: the second step, and decoupled weight decay, by hand") {
  TensorOf<double> value = from_host({1.0}), m = from_host({0.1}), v = from_host({0.001});
  adam_step(value, from_host({3.0}), m, v, 2,
            {.learning_rate = 0.1, .epsilon = 0, .weight_decay = 0.5});
  const double mean = (0.9 * 0.1 + 0.1 * 3) / (1 - 0.81);
  const double square = (0.999 * 0.001 + 0.001 * 9) / (1 - 0.999 * 0.999);
  CHECK(to_host(value)[0] == doctest::Approx(0.95 - 0.1 * mean / std::sqrt(square)));
}

TEST_CASE("an optimizer on pieces does what it does on the whole: element by element") {
  const Tensor gradient = from_host({1.0F, 2.0F, 3.0F, 4.0F, 5.0F});
  Tensor whole = full(5, 1), pieces = full(5, 1);
  Tensor m = zeros(5), v = zeros(5), m2 = zeros(5), v2 = zeros(5);
  adam_step(whole, gradient, m, v, 1, {});
  for (int i = 0; i < 3; ++i)
    adam_step(chunk(pieces, i, 3), chunk(gradient, i, 3), chunk(m2, i, 3), chunk(v2, i, 3), 1, {});
  CHECK(to_host(whole) == to_host(pieces));
}

TEST_CASE("Sgd and Adam step every parameter that has a gradient, and name their state") {
  Parameter with{"a.weight", full({2, 2}, 1), full({2, 2}, 1)};
  Parameter without{"a.bias", full(2, 1)};
  Sgd sgd({&with, &without}, {.learning_rate = 0.5, .momentum = 0.5});
  sgd.step();
  CHECK(to_host(with.value)[3] == 0.5F);
  CHECK(to_host(without.value)[0] == 1);
  REQUIRE(sgd.state().size() == 2);
  CHECK(sgd.state()[0]->name == "a.weight.velocity");
  CHECK(Sgd({&with}, {.momentum = 0}).state().empty());

  Adam adam({&with, &without});
  adam.step();
  adam.step();
  CHECK(to_host(with.value)[0] == doctest::Approx(0.5 - 0.002));
  REQUIRE(adam.state().size() == 5);
  CHECK(to_host(adam.state()[0]->value)[0] == 2);  // steps
}

TEST_CASE("an optimizer that is given another's state goes on as the other would have") {
  const auto stepped = [](int before, int after) {
    Parameter p{"w", full(3, 1), from_host({1.0F, -2.0F, 0.5F})};
    Adam first({&p});
    for (int i = 0; i < before; ++i) first.step();
    Adam second({&p});
    for (std::size_t i = 0; i < first.state().size(); ++i)
      second.state()[i]->value = first.state()[i]->value;
    for (int i = 0; i < after; ++i) second.step();
    return to_host(p.value);
  };
  CHECK(stepped(3, 2) == stepped(0, 5));
}

TEST_CASE("zero_gradients forgets anything, even what is not a number") {
  Parameter p{"w", full(2, 1), full(2, std::nanf(""))};
  Parameter empty{"b", full(2, 1)};
  zero_gradients<float>({&p, &empty});
  CHECK(to_host(p.gradient)[1] == 0);
  CHECK(empty.gradient.empty());
}

TEST_CASE("slices that do not belong together are refused") {
  Tensor two = zeros(2), three = zeros(3);
  TensorOf<double> doubles = zeros<double>(2);
  TensorOf<std::int32_t> integers = zeros<std::int32_t>(2);
  CHECK(testing::lacks(testing::refusal([&] { sgd_step(two, three, two, {}); }),
                       {"sgd_step", "2", "3", "float32"}) == "");
  CHECK_THROWS_AS(sgd_step(two, two, three, {}), InvalidArgument);
  CHECK_THROWS_AS(sgd_step(two, doubles, two, {}), InvalidArgument);
  CHECK_THROWS_AS(sgd_step(integers, integers, integers, {}), InvalidArgument);
  CHECK_THROWS_AS(adam_step(two, two, two, three, 1, {}), InvalidArgument);
  CHECK_THROWS_AS(adam_step(two, two, two, two, 0, {}), InvalidArgument);
}

}  // namespace
}  // namespace rankbox
