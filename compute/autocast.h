// Products of floats from 16-bit factors, within a scope, as torch.autocast.
//
//   const Autocast scope(DType::kBFloat16);
//   Tensor y = model.forward(std::move(x), saved);   // and all products until the scope ends
//
// On a GPU multiply() of floats then rounds both factors to this type, so that tensor cores
// multiply them; products, sums and results are floats. On the host it has no effect: a CPU would
// not be faster.
//
// Cost: on a GPU a sweep over each factor, and memory for it. Thread safety: the setting is the
// calling thread's; ranks that are fibers share it, on hosts, where it has no effect. Errors: as
// multiply(); OutOfMemory.
#pragma once

#include <utility>

#include "comm/dtype.h"

namespace rankbox {

class Autocast {
 public:
  /// REQUIRES: float16, bfloat16, or float32, which turns an outer scope off.
  explicit Autocast(DType factors) : outer_(std::exchange(innermost, factors)) {}
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast() { innermost = outer_; }

  /// The type of the innermost scope on this thread; float32 if there is none.
  static DType type() { return innermost; }

 private:
  static inline thread_local DType innermost = DType::kFloat32;
  DType outer_;
};

}  // namespace rankbox
