#include "parallel/ddp_buckets.h"

namespace rankbox {

void ddp_buckets(Comm& dist, const std::vector<Parameter*>& parameters, std::int64_t bucket_bytes) {
  // TODO: go through the parameters from the last to the first. Which of them fit into one bucket
  // of bucket_bytes? Copy their gradients into one flat tensor, average that, copy them back.
  // `copy(Slice(flat).sub(begin, end), gradient)` puts a gradient into its place.
  throw NotImplemented("ddp_buckets");
}

}  // namespace rankbox
