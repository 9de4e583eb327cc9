// Inputs that a layer refuses.
#include <cmath>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "tests/support/run_tests.h"
#include "tests/support/thrown.h"
#include "training/layers/attention.h"
#include "training/layers/conv.h"
#include "training/layers/dropout.h"
#include "training/layers/embedding.h"
#include "training/layers/first_token.h"
#include "training/layers/linear.h"
#include "training/layers/max_pool.h"

namespace rankbox {
namespace {

TEST_CASE("inputs that do not fit are refused in one line that says what was expected") {
  Saved saved;
  Linear linear(4, 3, Random(1));
  CHECK(testing::lacks(testing::refusal([&] {
                         linear.forward(zeros({2, 5}), saved);
                       }),
                       {"linear", "[2, 5]", "4"}) == "");
  linear.forward(zeros({2, 4}), saved);
  CHECK(testing::lacks(testing::refusal([&] {
                         linear.backward(zeros({2, 4}), saved);
                       }),
                       {"linear", "8", "6"}) == "");
  Conv conv({.channels = 2, .kernel = 5, .padding = 0}, Random(1));
  CHECK_THROWS_AS(conv.forward(zeros({1, 8, 8, 3}), saved), InvalidArgument);
  CHECK_THROWS_AS(conv.forward(zeros({1, 8, 4, 2}), saved), InvalidArgument);
  CHECK_THROWS_AS(MaxPool(3).forward(zeros({1, 2, 3, 1}), saved), InvalidArgument);
  CHECK_THROWS_AS(Attention(2).forward(zeros({1, 2, 8}), saved), InvalidArgument);
  CHECK_THROWS_AS(FirstToken().forward(zeros({1, 2}), saved), InvalidArgument);
  CHECK_THROWS_AS(Dropout(1, Random(1)), InvalidArgument);
  CHECK_THROWS_AS(Dropout(-.1, Random(1)), InvalidArgument);
  Embedding embedding({.vocabulary = 4, .longest = 3, .width = 2}, Random(1));
  CHECK(testing::lacks(testing::refusal([&] {
                         embedding.forward(full({1, 2}, 4), saved);
                       }),
                       {"embedding", "4", "0 to 3"}) == "");
  CHECK_THROWS_AS(embedding.forward(full({1, 2}, -1), saved), InvalidArgument);
  CHECK_THROWS_AS(embedding.forward(full({1, 2}, .5), saved), InvalidArgument);
  CHECK_THROWS_AS(embedding.forward(full({1, 2}, std::nanf("")), saved), InvalidArgument);
  CHECK_THROWS_AS(embedding.forward(zeros({1, 4}), saved), InvalidArgument);
  Saved short_one(Pass{.lengths = {0}});
  CHECK_THROWS_AS(Attention(1).forward(zeros({1, 2, 3}), short_one), InvalidArgument);
  Saved wrong_samples(Pass{.samples = {1, 2, 3}});
  CHECK_THROWS_AS(Dropout(.5, Random(1)).forward(zeros({2, 4}), wrong_samples), InvalidArgument);
}

}  // namespace
}  // namespace rankbox
