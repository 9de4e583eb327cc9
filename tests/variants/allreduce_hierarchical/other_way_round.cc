// The rings run backwards, with isend and irecv, and the tensor is padded in every case. The
// average is divided in two steps: both divide a sum over all ranks.
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void swap_with_neighbours(Comm& ring, Slice leaving, Slice coming) {
  const Request received = ring.irecv(coming, next_rank(ring.rank(), ring.world_size()));
  const Request sent = ring.isend(leaving, prev_rank(ring.rank(), ring.world_size()));
  ring.wait_all({received, sent});
}

}  // namespace

void allreduce_hierarchical(Comm& node, Comm& counterparts, Tensor& tensor, ReduceOp op) {
  const int m = node.world_size();
  const std::int64_t size = (tensor.size() + m - 1) / m;
  Tensor whole = zeros(size * m);
  copy(Slice(whole).sub(0, tensor.size()), tensor);
  const auto piece = [&](int owner) { return chunk(whole, wrap(owner, m), m); };

  Tensor incoming(size);
  for (int step = 1; step < m; ++step) {
    swap_with_neighbours(node, piece(node.rank() + step), incoming);
    accumulate(piece(node.rank() + step + 1), incoming, sum_if_average(op));
  }
  copy(incoming, piece(node.rank()));
  allreduce_rabenseifner(counterparts, incoming, sum_if_average(op));
  divide_if_average(incoming, op, m);
  divide_if_average(incoming, op, counterparts.world_size());
  copy(piece(node.rank()), incoming);
  for (int step = 0; step < m - 1; ++step) {
    swap_with_neighbours(node, piece(node.rank() + step), piece(node.rank() + step + 1));
  }
  copy(tensor, Slice(whole).sub(0, tensor.size()));
}

}  // namespace rankbox
