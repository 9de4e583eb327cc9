// Both exchanges are started, and waited for; sums are made by hand.
#include "parallel/alltoallv.h"

namespace rankbox {

void alltoallv(Comm& dist, const Tensor& rows, const std::vector<std::int64_t>& send_counts,
               Tensor& received, std::vector<std::int64_t>& receive_counts) {
  const TensorOf<std::int64_t> sent = from_host(send_counts);
  TensorOf<std::int64_t> numbers = empty_like(sent);
  const Request counts = dist.all_to_all_async(sent, numbers);
  const std::int64_t h = rows.shape().extents().back();
  std::vector<std::int64_t> out, in;
  for (const std::int64_t count : send_counts) out.push_back(count * h);
  dist.wait(counts);

  receive_counts.clear();
  std::int64_t all = 0;
  for (const std::int64_t count : to_host(numbers)) {
    receive_counts.push_back(count);
    in.push_back(count * h);
    all += count;
  }
  Tensor arrived({all, h});
  dist.wait(dist.all_to_all_v_async(rows, out, arrived, in));
  received = std::move(arrived);
}

}  // namespace rankbox
