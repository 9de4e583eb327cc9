#include "parallel/ring_attention_backward.h"

namespace rankbox {

void ring_attention_backward(Comm& dist, const Tensor& q, const Tensor& kv, const Tensor& y,
                             const Tensor& log_sum, const Tensor& dy, std::int64_t length,
                             Tensor& dq, Tensor& dkv) {
  // TODO: the ring of ring_attention, and a second one, of gradients. When does a block's dkv have
  // what the rank before has added to it? And who has it after the last step?
  throw NotImplemented("ring_attention_backward");
}

}  // namespace rankbox
