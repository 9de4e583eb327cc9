#include "parallel/ring_attention.h"

namespace rankbox {

void ring_attention(Comm& dist, const Tensor& q, const Tensor& kv, std::int64_t length, Tensor& y) {
  // TODO: p steps. Whose block is here after i of them, and how many tokens does it have? What can
  // travel while attend_block works? And how do two parts with different maxima become one?
  throw NotImplemented("ring_attention");
}

}  // namespace rankbox
