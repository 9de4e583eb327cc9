#include "parallel/alltoallv.h"

#include <numeric>

namespace rankbox {

namespace {

/// Rows in elements.
std::vector<std::int64_t> times(std::int64_t width, std::vector<std::int64_t> counts) {
  for (std::int64_t& count : counts) count *= width;
  return counts;
}

}  // namespace

void alltoallv(Comm& dist, const Tensor& rows, const std::vector<std::int64_t>& send_counts,
               Tensor& received, std::vector<std::int64_t>& receive_counts) {
  // 1. The counts: one number for each rank.
  TensorOf<std::int64_t> arriving(dist.world_size());
  dist.all_to_all(from_host(send_counts), arriving);
  receive_counts = to_host(arriving);

  // 2. The rows, in elements. A rank without rows knows their width, too.
  const std::int64_t width = rows.shape().extents()[1];
  received = Tensor(
      {std::accumulate(receive_counts.begin(), receive_counts.end(), std::int64_t{0}), width});
  dist.all_to_all_v(rows, times(width, send_counts), received, times(width, receive_counts));
}

}  // namespace rankbox
