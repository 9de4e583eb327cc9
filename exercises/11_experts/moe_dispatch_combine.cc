#include "parallel/moe_dispatch_combine.h"

namespace rankbox {

void moe_dispatch_combine(Comm& dist, const Tensor& x, const Tensor& scores, const Tensor& weights,
                          int k, std::int64_t capacity, Tensor& y) {
  // TODO: in which order must the rows lie before they travel, and in which order do they arrive?
  // What must a rank remember, to know which token a row that comes back belongs to?
  throw NotImplemented("moe_dispatch_combine");
}

}  // namespace rankbox
