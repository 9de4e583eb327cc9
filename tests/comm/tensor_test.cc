// Tensors, slices and their arithmetic, outside of any world.
#include "comm/tensor.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "tests/support/combine.h"

namespace rankbox {
namespace {

// Around the widths of vector registers and the sizes of blocks.
constexpr std::array<std::int64_t, 11> kSizes = {0, 1, 2, 3, 7, 8, 9, 17, 64, 1000, 4099};

/// Small values that no product of two makes inexact, different at every index.
template <class T>
std::vector<T> numbers(std::int64_t count, int factor) {
  std::vector<T> made;
  for (std::int64_t i = 0; i < count; ++i) made.push_back(static_cast<T>((i * factor) % 19 - 7));
  return made;
}

/// Whole numbers as elements.
template <class T>
std::vector<T> of(std::initializer_list<int> values) {
  std::vector<T> made;
  for (const int value : values) made.push_back(static_cast<T>(value));
  return made;
}

/// The message of the InvalidArgument that `fn` throws; a failed check, and
/// empty, when it does not.
template <class Fn>
std::string complaint(Fn fn) {
  try {
    fn();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  FAIL_CHECK("InvalidArgument was expected");
  return "";
}

bool says(const std::string& message, const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return message.find(word) != std::string::npos;
  });
}

TEST_CASE("a shape counts its elements, and the empty shape has none") {
  CHECK(Shape().elements() == 0);
  CHECK(Shape(7).elements() == 7);
  CHECK(Shape({3, 4, 5}).elements() == 60);
  CHECK(Shape({3, 0, 5}).elements() == 0);
  CHECK(Shape({2, 3}) == Shape(std::vector<std::int64_t>{2, 3}));
  CHECK_FALSE(Shape({2, 3}) == Shape({3, 2}));
}

TEST_CASE("a shape that cannot be is refused by naming the extent") {
  CHECK(says(complaint([] { Shape({2, -3}); }), {"-3"}));
  CHECK(says(complaint([] { Shape({std::int64_t{1} << 32, std::int64_t{1} << 32}); }), {"64"}));
}

TEST_CASE("a tensor of more bytes than can be counted is refused, not wrapped around") {
  // 2^62 elements can be counted, but their bytes would wrap around to 0.
  CHECK_THROWS_AS(Tensor(Shape(std::int64_t{1} << 62)), InvalidArgument);
  CHECK_THROWS_AS(TensorOf<double>(Shape(std::int64_t{1} << 61)), InvalidArgument);
  CHECK_THROWS_AS(TensorOf<std::int64_t>(Shape(std::numeric_limits<std::int64_t>::max())),
                  InvalidArgument);
}

TEST_CASE_TEMPLATE("zeros and full fill every element", T, float, double, std::uint8_t,
                   std::int32_t, std::int64_t, Float16, BFloat16) {
  for (std::int64_t size : kSizes) {
    CAPTURE(size);
    CHECK(to_host(zeros<T>(size)) == std::vector<T>(static_cast<std::size_t>(size), T{0}));
    CHECK(to_host(full<T>(size, T(-5))) == std::vector<T>(static_cast<std::size_t>(size), T(-5)));
  }
  const TensorOf<T> grid = full<T>({3, 5}, T{2});
  CHECK(grid.shape() == Shape({3, 5}));
  CHECK(grid.size() == 15);
  CHECK(grid.bytes() == 15 * static_cast<std::int64_t>(sizeof(T)));
  CHECK(grid.dtype() == dtype_of<T>());
  CHECK(size_of(grid.dtype()) == static_cast<std::int64_t>(sizeof(T)));
}

TEST_CASE("full keeps integers exact that no double can hold") {
  constexpr std::int64_t kOdd = (std::int64_t{1} << 62) + 1;
  CHECK(to_host(full<std::int64_t>(3, kOdd)) == std::vector<std::int64_t>(3, kOdd));
}

TEST_CASE_TEMPLATE("a trip from the host and back changes nothing", T, float, double, std::int32_t,
                   std::int64_t, Float16, BFloat16) {
  for (std::int64_t size : kSizes) {
    CAPTURE(size);
    const std::vector<T> host = numbers<T>(size, 3);
    const TensorOf<T> tensor = from_host(host);
    CHECK(tensor.shape() == Shape(size));
    CHECK(to_host(tensor) == host);
  }
  CHECK(to_host(from_host({T{3}, T{1}, T{2}})) == of<T>({3, 1, 2}));
  CHECK(to_host(from_host(std::array<T, 2>{T{4}, T{5}})) == of<T>({4, 5}));
}

TEST_CASE("elements from the host take a shape that has as many") {
  const std::vector<float> host = numbers<float>(6, 3);
  for (const Shape& shape : {Shape{2, 3}, Shape{6}, Shape{1, 6, 1}}) {
    const Tensor tensor = from_host(host, shape);
    CHECK(tensor.shape() == shape);
    CHECK(to_host(tensor) == host);
  }
  CHECK(from_host(std::vector<float>(), {0, 3}).shape() == Shape{0, 3});
  for (const Shape& shape : {Shape{2, 2}, Shape{7}, Shape()}) {
    const std::string message = complaint([&] { from_host(host, shape); });
    CHECK(says(message, {"6", std::to_string(shape.elements())}));
  }
}

TEST_CASE("a clone is deep, and so is a copy; a move leaves nothing behind") {
  Tensor original = full({2, 3}, 1.0f);
  Tensor cloned = clone(original);
  Tensor copied = original;
  Tensor assigned;
  assigned = original;
  original *= 4.0f;
  for (const Tensor* other : {&cloned, &copied, &assigned}) {
    CHECK(other->shape() == Shape({2, 3}));
    CHECK(to_host(*other) == std::vector<float>(6, 1.0f));
  }
  const float* const address = original.data();
  Tensor moved = std::move(original);
  CHECK(moved.data() == address);
  CHECK(moved.shape() == Shape({2, 3}));
  CHECK(to_host(moved) == std::vector<float>(6, 4.0f));
  CHECK(original.empty());             // NOLINT(bugprone-use-after-move): this is the promise
  CHECK(original.shape() == Shape());  // NOLINT(bugprone-use-after-move)
  Tensor& itself = moved;
  moved = itself;
  CHECK(to_host(moved) == std::vector<float>(6, 4.0f));
}

TEST_CASE("empty_like has the same shape and dtype, and its own memory") {
  const TensorOf<std::int64_t> like = zeros<std::int64_t>({4, 2});
  TensorOf<std::int64_t> made = empty_like(like);
  CHECK(made.shape() == like.shape());
  CHECK(made.data() != like.data());
  CHECK(empty_like(Tensor()).empty());
}

TEST_CASE("chunks cover a slice in order, without gaps, and differ by at most one element") {
  for (std::int64_t size : {0, 1, 2, 3, 5, 7, 8, 16, 17, 100, 1000}) {
    const Tensor tensor = zeros(size);
    const Slice whole = tensor;
    for (int n : {1, 2, 3, 4, 5, 7, 8, 16, 17, 33}) {
      CAPTURE(size);
      CAPTURE(n);
      std::int64_t begin = 0;
      std::int64_t smallest = size;
      std::int64_t largest = 0;
      for (int i = 0; i < n; ++i) {
        const Slice part = chunk(tensor, i, n);
        REQUIRE_FALSE(part.is_null());
        if (part.size() > 0) {
          REQUIRE(part.data() == static_cast<const float*>(whole.data()) + begin);
        }
        REQUIRE(part.size() == (i + 1) * size / n - i * size / n);
        begin += part.size();
        smallest = std::min(smallest, part.size());
        largest = std::max(largest, part.size());
      }
      CHECK(begin == size);
      CHECK(largest - smallest <= 1);
    }
  }
}

TEST_CASE("chunk refuses a part that does not exist") {
  const Tensor tensor = zeros(10);
  CHECK(says(complaint([&] { chunk(tensor, 4, 4); }), {"chunk 4 of 4"}));
  CHECK(says(complaint([&] { chunk(tensor, -1, 4); }), {"chunk -1 of 4"}));
  CHECK(says(complaint([&] { chunk(tensor, 0, 0); }), {"chunk 0 of 0"}));
  CHECK(says(complaint([&] { chunk(tensor, 0, -2); }), {"chunk 0 of -2"}));
}

TEST_CASE("sub is the elements from begin to end, of the same tensor") {
  Tensor tensor = from_host({0.f, 1.f, 2.f, 3.f, 4.f});
  const Slice middle = Slice(tensor).sub(1, 4);
  CHECK(middle.size() == 3);
  CHECK(middle.bytes() == 12);
  CHECK(middle.data() == tensor.data() + 1);
  CHECK(middle.sub(1, 3).data() == tensor.data() + 2);
  CHECK(middle.sub(3, 3).size() == 0);
  CHECK(Slice(tensor).sub(0, 0).size() == 0);
  middle *= 10.0;
  CHECK(to_host(tensor) == std::vector<float>{0, 10, 20, 30, 4});
  CHECK(Slice(std::as_const(tensor)).sub(1, 2).read_only());
}

TEST_CASE("sub refuses what is not inside") {
  const Tensor tensor = zeros(5);
  const Slice whole = tensor;
  for (const std::pair<int, int>& bounds : {std::pair{-1, 2}, {3, 2}, {0, 6}, {6, 6}}) {
    const int begin = bounds.first;
    const int end = bounds.second;
    CAPTURE(begin);
    CAPTURE(end);
    const std::string range = "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
    CHECK(says(complaint([&] { whole.sub(begin, end); }), {range, "5"}));
  }
}

TEST_CASE("a slice of an empty tensor is not null, the default slice is") {
  CHECK(Slice().is_null());
  Tensor empty;
  CHECK_FALSE(Slice(empty).is_null());
  CHECK(Slice(empty).size() == 0);
  accumulate(empty, empty, ReduceOp::SUM);
  copy(empty, empty);
  CHECK(empty.empty());
}

TEST_CASE_TEMPLATE("accumulate applies the operation at every index and leaves its source alone", T,
                   float, double, std::int32_t, std::int64_t, Float16, BFloat16) {
  for (ReduceOp op : kReduceOps) {
    for (std::int64_t size : kSizes) {
      CAPTURE(name_of(op));
      CAPTURE(size);
      const std::vector<T> a = numbers<T>(size, 5);
      const std::vector<T> b = numbers<T>(size, 11);
      std::vector<T> expected;
      for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(combine(a[i], b[i], op));
      TensorOf<T> into = from_host(a);
      const TensorOf<T> from = from_host(b);
      accumulate(into, from, op);
      CHECK(to_host(into) == expected);
      CHECK(to_host(from) == b);
    }
  }
}

TEST_CASE("accumulate into a chunk touches nothing outside of it") {
  for (std::int64_t size : {5, 17, 100}) {
    for (int part = 0; part < 3; ++part) {
      Tensor into = full(size, 1.0f);
      const Tensor from = full(size, 2.0f);
      accumulate(chunk(into, part, 3), chunk(from, part, 3), ReduceOp::SUM);
      std::vector<float> expected(static_cast<std::size_t>(size), 1.0f);
      for (std::int64_t i = part * size / 3; i < (part + 1) * size / 3; ++i) {
        expected[static_cast<std::size_t>(i)] = 3.0f;
      }
      CHECK(to_host(into) == expected);
    }
  }
}

TEST_CASE_TEMPLATE("the operators do what they say, on tensors and on slices", T, float, double,
                   std::int32_t, std::int64_t, Float16, BFloat16) {
  const std::vector<T> a = of<T>({6, -8, 10});
  const std::vector<T> b = of<T>({1, 2, 3});
  const TensorOf<T> other = from_host(b);
  TensorOf<T> t = from_host(a);
  CHECK(to_host(t += other) == of<T>({7, -6, 13}));
  CHECK(to_host(t *= other) == of<T>({7, -12, 39}));
  CHECK(to_host(t *= T{2}) == of<T>({14, -24, 78}));
  CHECK(to_host(t /= T{2}) == of<T>({7, -12, 39}));
  CHECK(to_host(t -= other) == of<T>({6, -14, 36}));
  axpy(t, 3, other);
  CHECK(to_host(t) == of<T>({9, -8, 45}));

  TensorOf<T> s = from_host(a);
  const Slice tail = Slice(s).sub(1, 3);
  const Slice other_tail = Slice(other).sub(1, 3);
  tail += other_tail;
  CHECK(to_host(s) == of<T>({6, -6, 13}));
  tail *= other_tail;
  CHECK(to_host(s) == of<T>({6, -12, 39}));
  tail *= 2.0;
  CHECK(to_host(s) == of<T>({6, -24, 78}));
  tail /= 2.0;
  CHECK(to_host(s) == of<T>({6, -12, 39}));
  tail -= other_tail;
  axpy(tail, -2, other_tail);
  CHECK(to_host(s) == of<T>({6, -18, 30}));
}

TEST_CASE("integers are scaled exactly, and divided towards zero") {
  constexpr std::int64_t kOdd = (std::int64_t{1} << 60) + 1;
  TensorOf<std::int64_t> big = full<std::int64_t>(2, kOdd);
  big *= 3;
  CHECK(to_host(big) == std::vector<std::int64_t>(2, 3 * kOdd));
  TensorOf<std::int32_t> odd = from_host({7, -7});
  odd /= 2;
  CHECK(to_host(odd) == std::vector<std::int32_t>{3, -3});
}

TEST_CASE("maximum and minimum are new tensors") {
  const Tensor a = from_host({1.f, 5.f, -3.f});
  const Tensor b = from_host({2.f, 4.f, -4.f});
  CHECK(to_host(maximum(a, b)) == std::vector<float>{2, 5, -3});
  CHECK(to_host(minimum(a, b)) == std::vector<float>{1, 4, -4});
  CHECK(to_host(a) == std::vector<float>{1, 5, -3});
  CHECK(to_host(b) == std::vector<float>{2, 4, -4});
}

TEST_CASE("copy copies, and onto itself is allowed") {
  Tensor into = zeros(3);
  const Tensor from = from_host({1.f, 2.f, 3.f});
  copy(into, from);
  CHECK(to_host(into) == std::vector<float>{1, 2, 3});
  copy(into, into);
  CHECK(to_host(into) == std::vector<float>{1, 2, 3});
}

TEST_CASE("arithmetic refuses sizes and dtypes that differ, null and read-only slices") {
  Tensor three = zeros(3);
  const Tensor four = zeros(4);
  const TensorOf<double> doubles = zeros<double>(3);
  const Tensor constant = full(3, 7.0f);

  CHECK(says(complaint([&] { three += four; }), {"accumulate", "3", "4"}));
  CHECK(says(complaint([&] { three *= four; }), {"3", "4"}));
  CHECK(says(complaint([&] { (void)maximum(three, four); }), {"3", "4"}));
  CHECK(says(complaint([&] { (void)minimum(three, four); }), {"3", "4"}));
  CHECK(says(complaint([&] { copy(three, four); }), {"copy", "3", "4"}));
  CHECK(says(complaint([&] { three += doubles; }), {"float32", "float64"}));
  CHECK(says(complaint([&] { copy(three, doubles); }), {"float32", "float64"}));
  CHECK(says(complaint([&] { accumulate(Slice(), three, ReduceOp::SUM); }), {"target", "null"}));
  CHECK(says(complaint([&] { accumulate(three, Slice(), ReduceOp::SUM); }), {"source", "null"}));
  CHECK(says(complaint([&] { copy(Slice(), three); }), {"target", "null"}));
  CHECK(says(complaint([&] { accumulate(constant, three, ReduceOp::SUM); }), {"const"}));
  CHECK(says(complaint([&] { Slice(constant) *= 2.0; }), {"*=", "const"}));
  CHECK(says(complaint([&] { Slice(constant) /= 2.0; }), {"/=", "const"}));
  CHECK(says(complaint([&] { Slice() *= 2.0; }), {"*=", "null"}));
  TensorOf<std::int32_t> integers = full<std::int32_t>(2, 6);
  CHECK(says(complaint([&] { integers /= 0; }), {"/=", "0"}));

  const auto is_here = [&](int line, auto call) {
    return says(complaint(call), {"tensor_test.cc:" + std::to_string(line)});
  };
  CHECK(is_here(__LINE__, [&] { three += four; }));
  CHECK(is_here(__LINE__, [&] { three *= four; }));
  CHECK(is_here(__LINE__, [&] { Slice(three) += four; }));
  CHECK(is_here(__LINE__, [&] { Slice(three) *= four; }));
  CHECK(is_here(__LINE__, [&] { Slice(constant) *= 2; }));
  CHECK(is_here(__LINE__, [&] { Slice(constant) /= 2.0; }));
  CHECK(is_here(__LINE__, [&] { Slice(integers) *= 0.5; }));
  CHECK(is_here(__LINE__, [&] { integers /= 0; }));
  CHECK(is_here(__LINE__, [&] { accumulate(three, four, ReduceOp::SUM); }));
  CHECK(is_here(__LINE__, [&] { copy(three, four); }));
  CHECK(is_here(__LINE__, [&] { (void)maximum(three, four); }));
  CHECK(is_here(__LINE__, [&] { (void)minimum(three, four); }));
  CHECK(is_here(__LINE__, [&] { (void)chunk(three, 3, 3); }));
  CHECK(is_here(__LINE__, [&] { (void)Slice(three).sub(2, 4); }));

  CHECK(to_host(three) == std::vector<float>(3, 0.0f));
  CHECK(to_host(constant) == std::vector<float>(3, 7.0f));
  CHECK(to_host(integers) == std::vector<std::int32_t>(2, 6));
}

}  // namespace
}  // namespace rankbox
