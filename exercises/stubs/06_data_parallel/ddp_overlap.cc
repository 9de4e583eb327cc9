#include "parallel/ddp_overlap.h"

#include <utility>
#include <vector>

namespace rankbox {

void ddp_overlap(Comm& dist, Sequential& model, Tensor dy, Saved& saved,
                 std::int64_t bucket_bytes) {
  // TODO: 1. plan the buckets, from the last layer to the first: which parameters travel together,
  // and after which layer's backward are all of them ready?
  // 2. Go backward through the layers:
  //      dy = model.layer(i).backward(std::move(dy), saved);
  //    and start what is ready: request = dist.all_reduce_async(flat, ReduceOp::AVG).
  // 3. Wait for all of them, and copy back.
  throw NotImplemented("ddp_overlap");
}

}  // namespace rankbox
