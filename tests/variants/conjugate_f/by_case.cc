// A switch; the sum is made of a copy on the host.
#include <vector>

#include "parallel/conjugate_f.h"

namespace rankbox {

namespace {

void add_up(Comm& dist, Tensor& tensor) {
  Tensor sum = from_host(to_host(tensor), tensor.shape());
  const Request request = dist.all_reduce_async(sum, ReduceOp::SUM);
  dist.wait(request);
  copy(tensor, sum);
}

}  // namespace

void conjugate_f(Comm& dist, Direction direction, Tensor& tensor) {
  switch (direction) {
    case Direction::kForward:
      return;
    case Direction::kBackward:
      return add_up(dist, tensor);
  }
}

}  // namespace rankbox
