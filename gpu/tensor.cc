// The arithmetic of comm/tensor.h on device memory. Kernels run on the rank's stream; only copies
// from and to the host block.
#include "comm/tensor.h"

#include <optional>

#include <fmt/format.h>

#include "comm/tensor_checks.h"
#include "gpu/device/device_memory.h"
#include "gpu/device/devices.h"
#include "gpu/device/shared_stream.h"
#include "gpu/device_here.h"
#include "gpu/kernels/kernels.h"
#include "sim/reduction.h"

namespace rankbox {
namespace {

using gpu::Doing;
using gpu::RankDevice;
using gpu::SmallOperation;
using Kind = SmallOperation::Kind;

/// Memory for the duration of one call.
class Scratch {
 public:
  Scratch(RankDevice& gpu, std::int64_t bytes) : gpu_(gpu), data_(gpu.allocate(bytes)) {}
  ~Scratch() { gpu_.release(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* data() const { return data_; }

 private:
  RankDevice& gpu_;
  void* data_;
};

void enqueue_copy(RankDevice& gpu, void* into, int into_device, Slice from, const Doing& doing) {
  const int from_device = gpu::device_of(from, gpu.device());
  if (gpu.shared() != nullptr) {
    gpu.make_room(doing);
    return gpu.shared()->copy(into, into_device, from.data(), from_device, from.bytes(), doing);
  }
  gpu.before_work(doing);
  gpu::copy_on(gpu.stream(), into, into_device, from.data(), from_device, from.bytes(), doing);
}

/// Throws if another GPU holds the slice: a kernel cannot write there.
void check_is_here(const char* function, Slice into, const RankDevice& gpu) {
  const int device = gpu::device_of(into, gpu.device());
  if (device != gpu.device()) {
    refuse_arithmetic(function, fmt::format("the target was made outside of any rank, on GPU {}, "
                                            "and this rank's is GPU {}: work on a clone() of it",
                                            device, gpu.device()));
  }
}

/// Carries out an operation on one slice: later with other small ones, if ranks share the stream.
void on_device(const char* function, Slice into, SmallOperation operation) {
  RankDevice& gpu = gpu::device_here();
  check_is_here(function, into, gpu);
  const Doing doing = {.op = function, .bytes = into.bytes()};
  if (gpu.shared() != nullptr && into.bytes() <= gpu::kMostSmallBytes) {
    gpu.make_room(doing);
    operation.into = into.data();
    operation.count = static_cast<std::int32_t>(into.size());
    operation.dtype = into.dtype();
    return gpu.shared()->add(operation);
  }
  gpu.before_work(doing);
  if (operation.kind == Kind::kAccumulate) {
    gpu::launch_accumulate(into.data(), operation.from, into.size(), into.dtype(), operation.op,
                           gpu.stream());
  } else {
    gpu::launch_change(operation.kind, into.data(), into.size(), into.dtype(), operation.value,
                       gpu.stream());
  }
  gpu::settle_here(doing);
}

template <class Scalar>
void change(const char* function, Slice into, Kind kind, Scalar value) {
  if (into.size() == 0) return;
  on_device(function, into, {.kind = kind, .value = gpu::small_value(into.dtype(), value)});
}

template <class Scalar>
void fill_with(Slice into, Scalar value) {
  if (into.size() > 0) check_written("full", into);
  change("full", into, Kind::kFill, value);
}

template <class Scalar>
void scale_by(Slice into, Scalar factor, Place place) {
  check_written("*=", into, place);
  check_factor("*=", into, factor, place);
  change("*=", into, Kind::kScale, factor);
}

template <class Scalar>
void divide_by(Slice into, Scalar divisor, Place place) {
  check_written("/=", into, place);
  check_divisor(into, divisor, place);
  change("/=", into, Kind::kDivide, divisor);
}

}  // namespace

void accumulate(Slice into, Slice from, ReduceOp op, Place place) {
  check_pair("accumulate", into, from, place);
  Event* const event = sim::begin_reduction(into, from, op);
  if (into.size() > 0) {
    RankDevice& gpu = gpu::device_here();
    // A tensor that was created outside any rank may be on another GPU.
    std::optional<Scratch> here;
    const void* data = from.data();
    if (gpu::device_of(from, gpu.device()) != gpu.device()) {
      here.emplace(gpu, from.bytes());
      enqueue_copy(gpu, here->data(), gpu.device(), from, {.op = "accumulate"});
      data = here->data();
    }
    on_device("accumulate", into, {.from = data, .kind = Kind::kAccumulate, .op = op});
  }
  sim::end_reduction(event, Slice());  // its values are not known yet
}

/// A copy, which is scaled and then added: rarely used, so it has no kernel.
void detail::add_scaled(Slice into, double factor, Slice from, Place place) {
  check_pair("axpy", into, from, place);
  check_factor("axpy", into, factor, place);
  Event* const event = sim::begin_reduction(into, from, ReduceOp::SUM);
  if (into.size() > 0) {
    RankDevice& gpu = gpu::device_here();
    const Scratch product(gpu, from.bytes());
    const Slice scaled(product.data(), from.size(), from.dtype(), /*read_only=*/false,
                       into.owner());
    enqueue_copy(gpu, scaled.data(), gpu.device(), from, {.op = "axpy", .bytes = from.bytes()});
    on_device("axpy", scaled,
              {.kind = Kind::kScale, .value = gpu::small_value(from.dtype(), factor)});
    on_device("axpy", into,
              {.from = scaled.data(), .kind = Kind::kAccumulate, .op = ReduceOp::SUM});
  }
  sim::end_reduction(event, Slice());
}

void copy(Slice into, Slice from, Place place) {
  check_pair("copy", into, from, place);
  if (from.size() == 0 || into.data() == from.data()) return;
  const Doing doing = {.op = "copy", .bytes = from.bytes()};
  RankDevice& gpu = gpu::device_here();
  enqueue_copy(gpu, into.data(), gpu::device_of(into, gpu.device()), from, doing);
  gpu::settle_here(doing);
}

namespace detail {

void copy_from_host(Slice into, const void* from) {
  if (into.bytes() == 0) return;
  const Doing doing = {.op = "from_host", .bytes = into.bytes()};
  gpu::wait_here(doing);
  gpu::device_here().copy_from_host(into.data(), from, into.bytes(), doing);
}

void copy_to_host(void* into, Slice from) {
  if (from.bytes() == 0) return;
  const Doing doing = {.op = "to_host", .bytes = from.bytes()};
  gpu::wait_here(doing);
  gpu::device_here().copy_to_host(into, from.data(), from.bytes(), doing);
}

void fill(Slice into, double value) { fill_with(into, value); }
void fill(Slice into, std::int64_t value) { fill_with(into, value); }
void scale(Slice into, double factor, Place place) { scale_by(into, factor, place); }
void scale(Slice into, std::int64_t factor, Place place) { scale_by(into, factor, place); }
void divide(Slice into, double divisor, Place place) { divide_by(into, divisor, place); }
void divide(Slice into, std::int64_t divisor, Place place) { divide_by(into, divisor, place); }

}  // namespace detail
}  // namespace rankbox
