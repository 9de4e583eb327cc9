// The fused reduction of ranks that share a GPU, against plain loops.
#include <memory>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "gpu/device/devices.h"
#include "gpu/device/rank_device.h"
#include "gpu/kernels/kernels.h"
#include "tests/gpu/guarded_memory.h"
#include "tests/gpu/reference_math.h"

namespace rankbox::gpu {
namespace {

template <class T>
using Memories = std::vector<std::unique_ptr<GuardedMemory<T>>>;

template <class T>
std::vector<T> expected(const std::vector<std::vector<T>>& inputs, ReduceOp op, int divide_by) {
  std::vector<T> result = inputs[0];
  for (std::size_t k = 1; k < inputs.size(); ++k) result = reference(op, result, inputs[k]);
  if (op == ReduceOp::AVG) {
    for (T& value : result) value = reference_quotient(value, divide_by);
  }
  return result;
}

struct Shape {
  int inputs;
  int outputs;
  std::int64_t count;
  bool aligned;  // whether all begin at the same distance from a 16-byte boundary
};

template <class T>
void test_reduce(RankDevice& gpu, ReduceOp op, const Shape& shape) {
  CAPTURE(name_of(op));
  CAPTURE(shape.inputs);
  CAPTURE(shape.outputs);
  CAPTURE(shape.count);
  CAPTURE(shape.aligned);
  const auto offset = [&](int k) { return shape.aligned ? 1 : k % 5; };
  std::vector<std::vector<T>> values;
  Memories<T> inputs;
  Memories<T> outputs;
  std::vector<const void*> input_data;
  std::vector<void*> output_data;
  for (int k = 0; k < shape.inputs; ++k) {
    values.push_back(some_values<T>(shape.count, k));
    // Products of many values would all be infinite, or 0.
    if (op == ReduceOp::PRODUCT && k > 1) values.back().assign(values.back().size(), T(-1));
    inputs.push_back(std::make_unique<GuardedMemory<T>>(gpu, values.back(), offset(k)));
    input_data.push_back(inputs.back()->data());
  }
  for (int k = 0; k < shape.outputs; ++k) {
    outputs.push_back(
        std::make_unique<GuardedMemory<T>>(gpu, some_values<T>(shape.count, 99), offset(k)));
    output_data.push_back(outputs.back()->data());
  }
  const int divide_by = shape.inputs + 1;  // not a value the kernel could count itself
  launch_reduce_to_all(input_data.data(), shape.inputs, output_data.data(), shape.outputs,
                       shape.count, dtype_of<T>(), op, divide_by, gpu.stream());
  const std::vector<T> result = expected(values, op, divide_by);
  for (const auto& output : outputs) {
    CHECK(first_difference(output->values(), result) == -1);
    CHECK(output->guards_hold());
  }
  for (const auto& input : inputs) CHECK(input->unchanged());
}

TEST_CASE("reduce_to_all gives every output the reduction of all inputs") {
  RankDevice gpu(0, 0);
  constexpr Shape kShapes[] = {
      {1, 1, 5, true},    {2, 2, 0, true},    {2, 1, 1, true},    {3, 2, 7, false},
      {2, 2, 33, true},   {4, 4, 33, false},  {8, 8, 4097, true}, {5, 3, 4097, false},
      {2, 2, 8193, true}, {64, 64, 19, true}, {64, 1, 19, false}, {1, 64, 130, true},
  };
  for (const DType dtype : kDTypes) {
    CAPTURE(name_of(dtype));
    with_number_type(dtype, [&]<class T>(T) {
      for (const ReduceOp op : kReduceOps) {
        for (const Shape& shape : kShapes) test_reduce<T>(gpu, op, shape);
      }
    });
  }
}

TEST_CASE("reduce_to_all goes around the grid more than once") {
  RankDevice gpu(0, 0);
  // 64 blocks per multiprocessor, 1024 packs of 2 per block, or 2048 elements.
  const std::int64_t count = std::int64_t{device_info(0).multiprocessors} * 64 * 2048 + 5000;
  test_reduce<double>(gpu, ReduceOp::AVG, {2, 1, count, true});
  test_reduce<double>(gpu, ReduceOp::AVG, {2, 1, count, false});
}

TEST_CASE("reduce_to_all in place: every input is an output") {
  RankDevice gpu(0, 0);
  for (const bool aligned : {true, false}) {
    std::vector<std::vector<float>> values;
    Memories<float> memories;
    std::vector<void*> data;
    for (int k = 0; k < 3; ++k) {
      values.push_back(some_values<float>(5000, k));
      memories.push_back(
          std::make_unique<GuardedMemory<float>>(gpu, values.back(), aligned ? 2 : k));
      data.push_back(memories.back()->data());
    }
    launch_reduce_to_all(data.data(), 3, data.data(), 3, 5000, DType::kFloat32, ReduceOp::SUM, 1,
                         gpu.stream());
    const std::vector<float> result = expected(values, ReduceOp::SUM, 1);
    for (const auto& memory : memories) {
      CHECK(first_difference(memory->values(), result) == -1);
      CHECK(memory->guards_hold());
    }
  }
}

TEST_CASE("reduce_to_all of special values: what wraps, is infinite or NaN") {
  RankDevice gpu(0, 0);
  for (const DType dtype : kDTypes) {
    CAPTURE(name_of(dtype));
    with_number_type(dtype, [&]<class T>(T) {
      const std::vector<T> special = special_values<T>();
      std::vector<std::vector<T>> values(2);
      for (const T x : special) {
        values[0].insert(values[0].end(), special.size(), x);
        values[1].insert(values[1].end(), special.begin(), special.end());
      }
      const GuardedMemory<T> first(gpu, values[0], 0);
      const GuardedMemory<T> second(gpu, values[1], 0);
      const GuardedMemory<T> into(gpu, values[0], 0);
      const void* const inputs[] = {first.data(), second.data()};
      void* const outputs[] = {into.data()};
      for (const ReduceOp op : kReduceOps) {
        CAPTURE(name_of(op));
        launch_reduce_to_all(inputs, 2, outputs, 1, static_cast<std::int64_t>(values[0].size()),
                             dtype, op, 2, gpu.stream());
        CHECK(first_difference(into.values(), expected(values, op, 2)) == -1);
      }
    });
  }
}

TEST_CASE("reduce_to_all refuses more pointers than it can carry") {
  RankDevice gpu(0, 0);
  void* const none[kMostPointers + 1] = {};
  const auto launch = [&](int inputs, int outputs, int divide_by) {
    launch_reduce_to_all(none, inputs, none, outputs, 0, DType::kFloat32, ReduceOp::SUM, divide_by,
                         gpu.stream());
  };
  CHECK_NOTHROW(launch(kMostPointers, kMostPointers, 1));
  CHECK_THROWS_AS(launch(kMostPointers + 1, 1, 1), InvalidArgument);
  CHECK_THROWS_AS(launch(1, kMostPointers + 1, 1), InvalidArgument);
  CHECK_THROWS_AS(launch(0, 1, 1), InvalidArgument);
  CHECK_THROWS_AS(launch(1, 1, 0), InvalidArgument);
}

}  // namespace
}  // namespace rankbox::gpu
