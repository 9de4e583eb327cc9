// Small operations that are collected: as if each had been carried out at once, in order.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "gpu/device/shared_stream.h"
#include "gpu/kernels/kernels.h"
#include "tests/gpu/guarded_memory.h"

namespace rankbox::gpu {
namespace {

using Kind = SmallOperation::Kind;
using Memory = std::vector<std::int32_t>;

SharedStream& shared_stream() { return SharedStream::of(0, launch_small_operations); }

/// A random operation on [0, elements) of int32.
struct Drawn {
  Kind kind = Kind::kCopy;
  ReduceOp op = ReduceOp::SUM;
  int into = 0;
  int from = 0;
  int count = 0;
  std::int32_t value = 1;
};

Drawn draw(std::mt19937& random, int elements, int longest) {
  const auto below = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
  };
  Drawn drawn;
  drawn.kind = static_cast<Kind>(below(5));
  drawn.op = kReduceOps[static_cast<std::size_t>(below(4))];
  drawn.count = 1 + below(longest);
  // Two ranges that do not overlap, with a random one in front.
  const int gap = elements - 2 * drawn.count;
  const int first = below(gap + 1);
  const int second = first + drawn.count + below(gap - first + 1);
  const bool forward = below(2) == 0;
  drawn.into = forward ? second : first;
  drawn.from = forward ? first : second;
  drawn.value = 1 + below(9);
  return drawn;
}

void carry_out(Memory& memory, const Drawn& drawn) {
  for (int i = 0; i < drawn.count; ++i) {
    auto& x = memory[static_cast<std::size_t>(drawn.into + i)];
    const std::int32_t y = memory[static_cast<std::size_t>(drawn.from + i)];
    const auto wrapped = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
    switch (drawn.kind) {
      case Kind::kCopy:
        x = y;
        break;
      case Kind::kFill:
        x = drawn.value;
        break;
      case Kind::kScale:
        x = wrapped(std::int64_t{x} * drawn.value);
        break;
      case Kind::kDivide:
        x /= drawn.value;
        break;
      case Kind::kAccumulate:
        x = drawn.op == ReduceOp::SUM       ? wrapped(std::int64_t{x} + y)
            : drawn.op == ReduceOp::PRODUCT ? wrapped(std::int64_t{x} * y)
            : drawn.op == ReduceOp::MAX     ? std::max(x, y)
                                            : std::min(x, y);
        break;
    }
  }
}

SmallOperation as_small(std::int32_t* data, const Drawn& drawn) {
  const bool copies = drawn.kind == Kind::kCopy;
  return {.into = data + drawn.into,
          .from = copies || drawn.kind == Kind::kAccumulate ? data + drawn.from : nullptr,
          .count = copies ? 4 * drawn.count : drawn.count,
          .kind = drawn.kind,
          .dtype = DType::kInt32,
          .op = drawn.op,
          .value = small_value(DType::kInt32, std::int64_t{drawn.value})};
}

TEST_CASE("random programs of small operations end as if each were done at once") {
  struct Row {
    int elements;
    int longest;
    int operations;
  };
  RankDevice gpu(0, 0, &shared_stream());
  for (const Row row : {Row{40, 8, 64}, Row{400, 20, 64}, Row{4000, 40, 200}, Row{9000, 4000, 70},
                        Row{100000, 300, 500}}) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      std::mt19937 random(seed);
      Memory expected(static_cast<std::size_t>(row.elements));
      for (std::int32_t& x : expected) x = static_cast<std::int32_t>(random() % 100) - 50;
      auto* const data = static_cast<std::int32_t*>(gpu.allocate(4 * row.elements));
      upload(gpu, data, expected);
      for (int i = 0; i < row.operations; ++i) {
        const Drawn drawn = draw(random, row.elements, row.longest);
        carry_out(expected, drawn);
        gpu.shared()->add(as_small(data, drawn));
      }
      gpu.synchronize(30);
      CAPTURE(row.elements);
      CAPTURE(seed);
      CHECK(download(gpu, data, expected.size()) == expected);
      gpu.release(data);
    }
  }
}

/// Returns the bytes after `by_itself` and after `small`, both begun with the same ones.
template <class Alone>
void compare(RankDevice& gpu, const std::vector<char>& begin, const SmallOperation& small,
             Alone alone) {
  const auto bytes = static_cast<std::int64_t>(begin.size());
  auto* const expected = static_cast<char*>(gpu.allocate(bytes));
  auto* const got = static_cast<char*>(gpu.allocate(bytes));
  upload(gpu, expected, begin);
  upload(gpu, got, begin);
  alone(expected);
  SmallOperation operation = small;
  operation.into = got;
  gpu.shared()->add(operation);
  gpu.synchronize(30);
  CHECK(download(gpu, got, begin.size()) == download(gpu, expected, begin.size()));
  gpu.release(expected);
  gpu.release(got);
}

TEST_CASE("values of small operations are those of the large ones, bit by bit") {
  RankDevice gpu(0, 0, &shared_stream());
  std::mt19937 random(1);
  for (const DType dtype : kDTypes) {
    for (const int count : {1, 33, 1000}) {
      std::vector<char> begin(static_cast<std::size_t>(count * size_of(dtype)));
      for (char& byte : begin) byte = static_cast<char>(random() % 64);  // no NaN: finite values
      std::vector<char> others = begin;
      std::shuffle(others.begin(), others.end(), random);
      for (std::size_t i = 0; i < others.size(); ++i) others[i] = static_cast<char>(others[i] & 63);
      void* const from = gpu.allocate(static_cast<std::int64_t>(others.size()));
      upload(gpu, static_cast<char*>(from), others);
      gpu.synchronize(30);
      CAPTURE(name_of(dtype));
      CAPTURE(count);
      for (const ReduceOp op : kReduceOps) {
        compare(gpu, begin,
                {.from = from, .count = count, .kind = Kind::kAccumulate, .dtype = dtype, .op = op},
                [&](void* into) { launch_accumulate(into, from, count, dtype, op, gpu.stream()); });
      }
      const auto of = [&](Kind kind, double value) {
        return SmallOperation{
            .count = count, .kind = kind, .dtype = dtype, .value = small_value(dtype, value)};
      };
      compare(gpu, begin, of(Kind::kFill, 2.7), [&](void* into) {
        launch_change(Kind::kFill, into, count, dtype, small_value(dtype, 2.7), gpu.stream());
      });
      compare(gpu, begin, of(Kind::kScale, -3.0), [&](void* into) {
        launch_change(Kind::kScale, into, count, dtype, small_value(dtype, -3.0), gpu.stream());
      });
      compare(gpu, begin, of(Kind::kDivide, 7.0), [&](void* into) {
        launch_change(Kind::kDivide, into, count, dtype, small_value(dtype, 7.0), gpu.stream());
      });
      gpu.release(from);
    }
  }
}

TEST_CASE("copies of any length, from and to any address") {
  RankDevice gpu(0, 0, &shared_stream());
  std::vector<char> begin(256);
  for (std::size_t i = 0; i < begin.size(); ++i) begin[i] = static_cast<char>(i);
  auto* const data = static_cast<char*>(gpu.allocate(256));
  for (const int into : {128, 129, 130, 132, 136}) {
    for (const int from : {0, 1, 2, 4, 16}) {
      for (const int bytes : {1, 2, 3, 4, 8, 16, 31, 32, 64}) {
        std::vector<char> expected = begin;
        std::copy_n(begin.begin() + from, bytes, expected.begin() + into);
        upload(gpu, data, begin);
        gpu.synchronize(30);
        gpu.shared()->add({.into = data + into, .from = data + from, .count = bytes});
        gpu.synchronize(30);
        CAPTURE(into);
        CAPTURE(from);
        CAPTURE(bytes);
        CHECK(download(gpu, data, begin.size()) == expected);
      }
    }
  }
  gpu.release(data);
}

TEST_CASE("a kernel takes a bounded number of small operations") {
  const std::vector<SmallOperation> many(kMostSmallOperations + 1);
  CHECK_THROWS_AS(launch_small_operations(many, shared_stream().stream()), InvalidArgument);
}

}  // namespace
}  // namespace rankbox::gpu
