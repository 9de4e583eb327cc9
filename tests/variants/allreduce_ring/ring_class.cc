// A class knows the ring and its chunks; both halves are its moves.
#include "collectives/allreduce_ring.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

class Ring {
 public:
  Ring(Comm& dist, Tensor& tensor) : dist_(dist), tensor_(tensor) {}

  int size() const { return dist_.world_size(); }
  Slice part(int ahead) const { return chunk(tensor_, wrap(dist_.rank() + ahead, size()), size()); }

  void move(Slice out, Slice in) const {
    const Request leaving = dist_.isend(out, next_rank(dist_.rank(), size()));
    const Request coming = dist_.irecv(in, prev_rank(dist_.rank(), size()));
    dist_.wait(coming);
    dist_.wait(leaving);
  }

 private:
  Comm& dist_;
  Tensor& tensor_;
};

}  // namespace

void allreduce_ring(Comm& dist, Tensor& tensor, ReduceOp op) {
  const Ring ring(dist, tensor);
  for (int at = 0; at > 1 - ring.size(); --at) {
    Tensor share(ring.part(at - 1).size());
    ring.move(ring.part(at), share);
    accumulate(ring.part(at - 1), share, op);
  }
  divide_if_average(ring.part(1), op, ring.size());
  for (int at = 1; at > 2 - ring.size(); --at) ring.move(ring.part(at), ring.part(at - 1));
}

}  // namespace rankbox
