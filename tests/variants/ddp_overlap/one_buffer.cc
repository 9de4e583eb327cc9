// One buffer for all gradients, last first, filled as backward goes; buckets are pieces of it.
#include <utility>
#include <vector>

#include "parallel/ddp_overlap.h"

namespace rankbox {

void ddp_overlap(Comm& dist, Sequential& model, Tensor dy, Saved& saved,
                 std::int64_t bucket_bytes) {
  // Where gradients lie, and where buckets end.
  const std::vector<Parameter*> all = model.parameters();
  std::vector<std::int64_t> ends;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  for (std::size_t i = all.size(); i-- > 0;) {
    const std::int64_t size = all[i]->value.size();
    if (end > begin && 4 * (end + size - begin) > bucket_bytes) {
      ends.push_back(end);
      begin = end;
    }
    end += size;
  }
  if (end > 0) ends.push_back(end);

  Tensor buffer(end);
  std::vector<Request> requests;
  begin = end = 0;
  for (std::int64_t i = model.size(); i-- > 0;) {
    dy = model.layer(i).backward(std::move(dy), saved);
    const std::vector<Parameter*> own = model.layer(i).parameters();
    for (std::size_t k = own.size(); k-- > 0;) {
      copy(Slice(buffer).sub(end, end + own[k]->value.size()), own[k]->gradient);
      end += own[k]->value.size();
      if (end != ends[requests.size()]) continue;
      requests.push_back(dist.all_reduce_async(Slice(buffer).sub(begin, end), ReduceOp::AVG));
      begin = end;
    }
  }
  dist.wait_all(requests);
  for (Parameter* parameter : all) {
    copy(parameter->gradient, Slice(buffer).sub(end - parameter->value.size(), end));
    end -= parameter->value.size();
  }
}

}  // namespace rankbox
