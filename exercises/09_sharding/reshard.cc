#include "parallel/reshard.h"

namespace rankbox {

void reshard(Comm& dist, const Tensor& mine, const MeshLayout& from, const MeshLayout& to,
             std::int64_t rows, std::int64_t columns, Tensor& output) {
  // TODO: what does a rank hold that another one needs, and which of several holders sends it?
  // What must the sender and the receiver both know before the first byte travels?
  throw NotImplemented("reshard");
}

}  // namespace rankbox
