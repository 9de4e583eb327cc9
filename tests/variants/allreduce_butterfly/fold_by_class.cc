// What is folded and unfolded is a class, around the rounds of a power of two.
#include "collectives/allreduce_butterfly.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

/// Lets the ranks beyond the power of two take part through another one.
class Fold {
 public:
  Fold(Comm& dist, Tensor& tensor, ReduceOp op) : dist_(dist), tensor_(tensor) {
    const int core = largest_power_of_two(dist.world_size());
    stands_in_ = dist.rank() + core < dist.world_size();
    is_out_ = dist.rank() >= core;
    other_ = is_out_ ? dist.rank() - core : dist.rank() + core;
    if (is_out_) dist.send(tensor, other_);
    if (!stands_in_) return;
    Tensor share = empty_like(tensor);
    dist.recv(share, other_);
    accumulate(tensor, share, op);
  }
  bool is_out() const { return is_out_; }
  void undo() const {
    if (is_out_) dist_.recv(tensor_, other_);
    if (stands_in_) dist_.send(tensor_, other_);
  }

 private:
  Comm& dist_;
  Tensor& tensor_;
  bool stands_in_ = false;
  bool is_out_ = false;
  int other_ = 0;
};

}  // namespace

void allreduce_butterfly(Comm& dist, Tensor& tensor, ReduceOp op) {
  const Fold fold(dist, tensor, op);
  if (!fold.is_out()) {
    for (int k = 0; k < floor_log2(dist.world_size()); ++k) {
      const int partner = dist.rank() ^ (1 << k);
      Tensor theirs = empty_like(tensor);
      dist.sendrecv(tensor, partner, theirs, partner);
      accumulate(theirs, tensor, op);
      copy(tensor, theirs);
    }
    divide_if_average(tensor, op, dist.world_size());
  }
  fold.undo();
}

}  // namespace rankbox
