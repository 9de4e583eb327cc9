// Ranges are kept as bounds, partners swap by requests, and the bounds of the way in are a stack.
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/average.h"
#include "collectives/reduce_scatter_gather.h"
#include "collectives/topology.h"

namespace rankbox {

void reduce_scatter_gather(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  const int p = dist.world_size();
  const int q = largest_power_of_two(p);
  const int me = virtual_rank_of(dist.rank(), dst, p);
  if (me >= q) return dist.send(tensor, rank_of(me - q, dst, p));
  Tensor buffer = empty_like(tensor);
  if (me + q < p) {
    dist.recv(buffer, rank_of(me + q, dst, p));
    accumulate(tensor, buffer, op);
  }
  const auto part = [](Tensor& of, std::int64_t begin, std::int64_t end) {
    return Slice(of).sub(begin, end);
  };
  std::int64_t begin = 0;
  std::int64_t end = tensor.size();
  std::vector<std::pair<std::int64_t, std::int64_t>> wider;
  for (int bit = 1; bit < q; bit *= 2) {
    wider.emplace_back(begin, end);
    const std::int64_t middle = begin + (end - begin) / 2;
    const int partner = rank_of(me ^ bit, dst, p);
    const bool upper = (me & bit) != 0;
    const Slice given = upper ? part(tensor, begin, middle) : part(tensor, middle, end);
    (upper ? begin : end) = middle;
    const Request leaving = dist.isend(given, partner);
    dist.recv(part(buffer, begin, end), partner);
    dist.wait(leaving);
    accumulate(part(tensor, begin, end), part(buffer, begin, end), op);
  }
  divide_if_average(part(tensor, begin, end), op, p);
  for (int bit = q / 2; bit > 0; bit /= 2) {
    const int partner = rank_of(me ^ bit, dst, p);
    if ((me & bit) != 0) return dist.send(part(tensor, begin, end), partner);
    const std::int64_t middle = end;
    std::tie(begin, end) = wider.back();
    wider.pop_back();
    dist.recv(part(tensor, middle, end), partner);
  }
}

}  // namespace rankbox
