// The native reduction of ranks that share a GPU. Results stay in registers from the first input to
// the last output, the minimum memory traffic.
#include <algorithm>
#include <string>
#include <type_traits>

#include "comm/errors.h"
#include "gpu/kernels/kernel_math.cuh"
#include "gpu/kernels/kernel_sweep.cuh"
#include "gpu/kernels/kernels.h"

namespace rankbox::gpu {
namespace {

// 16-byte packs that a thread has in flight per input; more if they are single elements.
constexpr int kPacks = 4;
constexpr int kElements = 8;

/// A kernel argument: 1 KiB of the 4 KiB allowed.
struct Pointers {
  const void* inputs[kMostPointers];
  void* outputs[kMostPointers];
  int input_count;
  int output_count;
};

/// @tparam lanes kLanes<T> if all pointers have the same distance from a 16-byte boundary, else 1:
///               then cut has no head and no tail, and a pack is one element
/// @param divide_by 1: not divided
template <class T, ReduceOp op, int lanes>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce)
    reduce_to_all_kernel(const __grid_constant__ Pointers pointers, Cut cut, Wide<T> divide_by) {
  using P = Pack<T, lanes>;
  constexpr int kAtOnce = lanes == 1 ? kElements : kPacks;
  const auto input = [&](int k) { return static_cast<const T*>(pointers.inputs[k]); };
  const auto output = [&](int k) { return static_cast<T*>(pointers.outputs[k]); };
  const auto finished = [=](T x) {
    if constexpr (op == ReduceOp::SUM) {
      if (divide_by != Wide<T>{1}) return narrowed<T>(widened(x) / divide_by);
    }
    return x;
  };

  for_each_pack<kAtOnce>(cut.packs, [&](auto at_once, std::int64_t first) {
    constexpr int kNow = decltype(at_once)::kPacks;
    P x[kNow];
    P y[kNow];
    const auto load = [&](P* into, int k) {
      const auto* const packs = reinterpret_cast<const P*>(input(k) + cut.head);
      for (int p = 0; p < kNow; ++p) into[p] = packs[first + p * kThreads];
    };
    load(x, 0);
    for (int k = 1; k < pointers.input_count; ++k) {
      load(y, k);
      for (int p = 0; p < kNow; ++p) {
        for (int lane = 0; lane < lanes; ++lane) {
          x[p].lane[lane] = combined<op>(x[p].lane[lane], y[p].lane[lane]);
        }
      }
    }
    for (int p = 0; p < kNow; ++p) {
      for (T& lane : x[p].lane) lane = finished(lane);
    }
    for (int k = 0; k < pointers.output_count; ++k) {
      auto* const packs = reinterpret_cast<P*>(output(k) + cut.head);
      for (int p = 0; p < kNow; ++p) packs[first + p * kThreads] = x[p];
    }
  });

  if constexpr (lanes > 1) {
    for_each_edge<T>(cut, [&](std::int64_t i) {
      T x = input(0)[i];
      for (int k = 1; k < pointers.input_count; ++k) x = combined<op>(x, input(k)[i]);
      x = finished(x);
      for (int k = 0; k < pointers.output_count; ++k) output(k)[i] = x;
    });
  }
}

/// @param aligned whether all pointers have the same distance from a 16-byte boundary
void reduce(const Pointers& pointers, std::int64_t count, bool aligned, DType dtype, ReduceOp op,
            int divide_by, cudaStream_t stream) {
  with_device_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    with_op(op_on_bytes(op, dtype), [&](auto op_type) {
      constexpr ReduceOp kOp = decltype(op_type)::value;
      const Cut cut = aligned ? cut_at<T>(pointers.outputs[0], count) : Cut{0, count, 0};
      const Doing doing{.op = "reduce_to_all", .bytes = count * size_of(dtype)};
      launch(doing, tiles_of(cut.packs, aligned ? kPacks : kElements), stream,
             aligned ? reduce_to_all_kernel<T, kOp, kLanes<T>> : reduce_to_all_kernel<T, kOp, 1>,
             pointers, cut, static_cast<Wide<T>>(op == ReduceOp::AVG ? divide_by : 1));
    });
  });
}

void check_range(const char* what, int value, int most) {
  if (value >= 1 && value <= most) return;
  throw InvalidArgument("reduce_to_all: " + std::to_string(value) + " " + what + "; 1 to " +
                        std::to_string(most) + " are possible");
}

}  // namespace

void launch_reduce_to_all(const void* const* inputs, int input_count, void* const* outputs,
                          int output_count, std::int64_t count, DType dtype, ReduceOp op,
                          int divide_by, cudaStream_t stream) {
  check_range("inputs", input_count, kMostPointers);
  check_range("outputs", output_count, kMostPointers);
  check_range("as divisor", divide_by, 1 << 30);
  if (count == 0) return;
  Pointers pointers{};
  std::copy_n(inputs, input_count, pointers.inputs);
  std::copy_n(outputs, output_count, pointers.outputs);
  pointers.input_count = input_count;
  pointers.output_count = output_count;
  const auto as_first = [&](const void* pointer) {
    return beyond_boundary(pointer) == beyond_boundary(outputs[0]);
  };
  const bool aligned = std::all_of(inputs, inputs + input_count, as_first) &&
                       std::all_of(outputs, outputs + output_count, as_first);
  reduce(pointers, count, aligned, dtype, op, divide_by, stream);
}

void warm_reduce_to_all(cudaStream_t stream) {
  for (const DType dtype : kDTypes) {
    for (const ReduceOp op : kReduceOps) {
      for (const bool aligned : {true, false}) reduce(Pointers{}, 0, aligned, dtype, op, 1, stream);
    }
  }
}

}  // namespace rankbox::gpu
