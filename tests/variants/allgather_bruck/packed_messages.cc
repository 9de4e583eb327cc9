// Each block is a separate tensor. A message is packed by its sender and unpacked by its receiver.
#include <algorithm>
#include <vector>

#include "collectives/allgather_bruck.h"
#include "collectives/topology.h"

namespace rankbox {

void allgather_bruck(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int p = dist.world_size();
  const std::int64_t n = tensor.size();
  std::vector<Tensor> row = {clone(tensor)};
  while (static_cast<int>(row.size()) < p) {
    const int have = static_cast<int>(row.size());
    const int count = std::min(have, p - have);
    Tensor out(count * n);
    Tensor in(count * n);
    for (int i = 0; i < count; ++i) copy(chunk(out, i, count), row[static_cast<std::size_t>(i)]);
    const Request leaving = dist.isend(out, wrap(dist.rank() - have, p));
    dist.recv(in, wrap(dist.rank() + have, p));
    dist.wait(leaving);
    for (int i = 0; i < count; ++i) {
      row.push_back(empty_like(tensor));
      copy(row.back(), chunk(in, i, count));
    }
  }
  for (int i = 0; i < p; ++i)
    copy(chunk(gathered, wrap(dist.rank() + i, p), p), row[static_cast<std::size_t>(i)]);
}

}  // namespace rankbox
