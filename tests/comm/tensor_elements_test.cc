// Elements of tensors: by index, in bytes and bools, and in sums of products.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "comm/tensor.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

/// Returns what the message of the InvalidArgument that `fn` throws lacks.
template <class Fn>
std::string refused(Fn fn, const std::vector<std::string>& words) {
  try {
    fn();
  } catch (const InvalidArgument& error) {
    return testing::lacks(error.what(), words);
  }
  return "InvalidArgument";
}

TEST_CASE("axpy rounds the product, and then the sum") {
  // 0.1 in float is 0.100000001490116…; ten times that, exactly, is not 1.
  Tensor t = full(1, -1.0f);
  axpy(t, 10, full(1, 0.1f));
  CHECK(to_host(t).front() == 0.0f);
  TensorOf<BFloat16> half = full<BFloat16>(1, BFloat16(1.0f));
  axpy(half, 1 / 3.0, half);  // 0.333984375 in 8 bits, then 1.333984375 in 8
  CHECK(float{to_host(half).front()} == 1.3359375f);
}

#if !defined(RANKBOX_ELEMENTS_ARE_REMOTE)
TEST_CASE("elements are found by their indices, the last of which runs fastest") {
  Tensor cube({2, 3, 4});
  float next = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (std::int64_t k = 0; k < 4; ++k) cube(i, j, k) = next++;
  const std::vector<float> all = to_host(cube);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<float>(i));
  const Tensor& constant = cube;
  CHECK(constant(1, 2, 3) == 23);
  CHECK(refused([&] { (void)cube(0, 3, 0); }, {"(0, 3, 0)", "(2, 3, 4)"}) == "");
  CHECK(refused([&] { (void)cube(-1, 0, 0); }, {"(-1, 0, 0)"}) == "");
  CHECK(refused([&] { (void)cube(1); }, {"(1)", "(2, 3, 4)"}) == "");
  CHECK(refused([&] { (void)Tensor()(0); }, {"(0)", "()"}) == "");
}
#endif

TEST_CASE("a list of extents makes a tensor, with and without parentheses") {
  const std::int64_t n = 5;
  Tensor one({n});
  Tensor braces{n, 2};
  CHECK(one.shape() == Shape(5));
  CHECK(braces.shape() == Shape({5, 2}));
}

TEST_CASE("bytes wrap around; bools are or and and, and have no product with a number") {
  TensorOf<std::uint8_t> bytes = from_host(std::vector<std::uint8_t>{250, 3});
  bytes += from_host(std::vector<std::uint8_t>{10, 1});
  CHECK(to_host(bytes) == std::vector<std::uint8_t>{4, 4});
  bytes -= from_host(std::vector<std::uint8_t>{5, 1});
  CHECK(to_host(bytes) == std::vector<std::uint8_t>{255, 3});
  CHECK(refused([&] { Slice(bytes) *= 256.0; }, {"256", "uint8"}) == "");
  TensorOf<bool> bools = from_host({true, true, false, false});
  CHECK(Slice(bools).bytes() == 4);
  accumulate(bools, from_host({true, false, true, false}));
  CHECK(to_host(bools) == std::vector<bool>{true, true, true, false});
  bools *= Slice(from_host({false, true, true, true}));
  CHECK(to_host(bools) == std::vector<bool>{false, true, true, false});
  CHECK(to_host(full<bool>(2, true)) == std::vector<bool>{true, true});
  CHECK(refused([&] { Slice(bools) *= 2.0; }, {"bool"}) == "");
  CHECK(refused([&] { Slice(bools) /= 2.0; }, {"bool"}) == "");
  CHECK(refused([&] { axpy(bools, 1, bools); }, {"axpy", "bool"}) == "");
}

}  // namespace
}  // namespace rankbox
