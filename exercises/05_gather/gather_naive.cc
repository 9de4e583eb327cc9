#include "collectives/gather_naive.h"

namespace rankbox {

void gather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst) {
  // TODO: send your tensor to dst; if you are dst, receive everyone's.
  // chunk(gathered, r, dist.world_size()) is the place of rank r's tensor: receive right into it.
  // No rank sends to itself: copy(into, from) your own.
  throw NotImplemented("gather_naive");
}

}  // namespace rankbox
