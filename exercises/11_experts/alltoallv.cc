#include "parallel/alltoallv.h"

namespace rankbox {

void alltoallv(Comm& dist, const Tensor& rows, const std::vector<std::int64_t>& send_counts,
               Tensor& received, std::vector<std::int64_t>& receive_counts) {
  // TODO: how many rows will arrive, and from which rank? Only their senders know.
  // Which exchange brings each rank one number from every other?
  throw NotImplemented("alltoallv");
}

}  // namespace rankbox
