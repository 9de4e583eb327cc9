// Ranges are bounds in arrays, one for each round, and partners swap by requests.
#include <array>

#include "collectives/allreduce_rabenseifner.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_rabenseifner(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int p = dist.world_size();
  const int log = floor_log2(p);
  const int q = 1 << log;
  const int me = dist.rank();
  if (me >= q) {
    dist.wait(dist.isend(tensor, me - q));
    dist.wait(dist.irecv(tensor, me - q));
    return;
  }
  Tensor buffer = empty_like(tensor);
  if (me + q < p) {
    dist.recv(buffer, me + q);
    accumulate(tensor, buffer, op);
  }
  std::array<std::int64_t, 32> begin = {0};
  std::array<std::int64_t, 32> end = {tensor.size()};
  const auto part = [&](Tensor& of, std::int64_t from, std::int64_t to) {
    return Slice(of).sub(from, to);
  };
  const auto swap = [&](Slice out, Slice in, int partner) {
    dist.wait_all({dist.isend(out, partner), dist.irecv(in, partner)});
  };
  for (int k = 0; k < log; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const bool upper = (me >> k) % 2 == 1;
    const std::int64_t middle = (begin[i] + end[i]) / 2;
    begin[i + 1] = upper ? middle : begin[i];
    end[i + 1] = upper ? end[i] : middle;
    const Slice given = upper ? part(tensor, begin[i], middle) : part(tensor, middle, end[i]);
    const Slice kept = part(tensor, begin[i + 1], end[i + 1]);
    swap(given, part(buffer, 0, kept.size()), me ^ (1 << k));
    accumulate(kept, part(buffer, 0, kept.size()), op);
  }
  const auto last = static_cast<std::size_t>(log);
  divide_if_average(part(tensor, begin[last], end[last]), op, p);
  for (std::size_t i = last; i-- > 0;) {
    const bool upper = begin[i + 1] != begin[i] || end[i + 1] == end[i];
    const Slice missing =
        upper ? part(tensor, begin[i], begin[i + 1]) : part(tensor, end[i + 1], end[i]);
    swap(part(tensor, begin[i + 1], end[i + 1]), missing, me ^ (1 << i));
  }
  if (me + q < p) dist.send(tensor, me + q);
}

}  // namespace rankbox
