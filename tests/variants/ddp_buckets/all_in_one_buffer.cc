// One buffer for all gradients, last first; buckets are pieces of it, all under way at once.
#include "parallel/ddp_buckets.h"

namespace rankbox {

void ddp_buckets(Comm& dist, const std::vector<Parameter*>& parameters, std::int64_t bucket_bytes) {
  if (dist.world_size() == 1) {
    for (Parameter* parameter : parameters) gradient_of(*parameter);
    return;
  }
  Tensor all(count_elements(parameters));
  std::vector<Request> requests;
  std::int64_t begin = 0;  // of the bucket that is being filled
  std::int64_t end = 0;
  for (auto next = parameters.rbegin(); next != parameters.rend(); ++next) {
    const std::int64_t size = (*next)->value.size();
    if (end > begin && 4 * (end + size - begin) > bucket_bytes) {
      requests.push_back(dist.all_reduce_async(Slice(all).sub(begin, end), ReduceOp::AVG));
      begin = end;
    }
    copy(Slice(all).sub(end, end + size), gradient_of(**next));
    end += size;
  }
  if (end > begin)
    requests.push_back(dist.all_reduce_async(Slice(all).sub(begin, end), ReduceOp::AVG));
  dist.wait_all(requests);

  for (Parameter* parameter : parameters) {
    copy(parameter->gradient, Slice(all).sub(end - parameter->value.size(), end));
    end -= parameter->value.size();
  }
}

}  // namespace rankbox
