// Counts of elements travel, and are divided by the width; an old tensor is used again if it fits.
#include "parallel/alltoallv.h"

namespace rankbox {

void alltoallv(Comm& dist, const Tensor& rows, const std::vector<std::int64_t>& send_counts,
               Tensor& received, std::vector<std::int64_t>& receive_counts) {
  const std::int64_t width = rows.shape().extents()[1];
  TensorOf<std::int64_t> sizes = from_host(send_counts);
  sizes *= width;
  TensorOf<std::int64_t> arriving = zeros<std::int64_t>(dist.world_size());
  dist.all_to_all(sizes, arriving);

  const std::vector<std::int64_t> in = to_host(arriving);
  receive_counts.assign(in.size(), 0);
  std::int64_t all = 0;
  for (std::size_t r = 0; r < in.size(); ++r) all += receive_counts[r] = in[r] / width;
  const Shape shape = {all, width};
  if (received.shape() != shape) received = zeros(shape);
  dist.all_to_all_v(rows, to_host(sizes), received, in);
}

}  // namespace rankbox
