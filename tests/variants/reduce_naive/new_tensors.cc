// Operations by name, and maximum and minimum assigned: each is a reduction all the same.
#include "collectives/reduce_naive.h"

namespace rankbox {

namespace {

Tensor combined(Tensor a, const Tensor& b, ReduceOp op) {
  switch (op) {
    case ReduceOp::MAX:
      return maximum(a, b);
    case ReduceOp::MIN:
      return minimum(a, b);
    case ReduceOp::PRODUCT:
      return a *= b;
    default:
      return a += b;
  }
}

}  // namespace

void reduce_naive(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  if (dist.rank() != dst) {
    dist.send(tensor, dst);
    return;
  }
  Tensor received = empty_like(tensor);
  for (int src = 0; src < dist.world_size(); ++src) {
    if (src == dst) continue;
    dist.recv(received, src);
    tensor = combined(tensor, received, op);
  }
  if (op == ReduceOp::AVG) tensor *= 1.0f / static_cast<float>(dist.world_size());
}

}  // namespace rankbox
