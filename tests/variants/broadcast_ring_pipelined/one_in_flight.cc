// A class that remembers the one send in flight, and waits for it before the next.
#include <optional>

#include "collectives/broadcast_ring_pipelined.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

class Outlet {
 public:
  Outlet(Comm& dist, int next) : dist_(dist), next_(next) {}

  void put(Slice part) {
    flush();
    leaving_ = dist_.isend(part, next_);
  }
  void flush() {
    if (leaving_) dist_.wait(*leaving_);
    leaving_.reset();
  }

 private:
  Comm& dist_;
  int next_;
  std::optional<Request> leaving_;
};

}  // namespace

void broadcast_ring_pipelined(Comm& dist, Tensor& tensor, int src, int segments) {
  const int p = dist.world_size();
  const int place = virtual_rank_of(dist.rank(), src, p);
  Outlet outlet(dist, next_rank(dist.rank(), p));
  for (int i = 0; i < segments; ++i) {
    const Slice part = segment(tensor, i, segments);
    if (place != 0) dist.recv(part, prev_rank(dist.rank(), p));
    if (place != p - 1) outlet.put(part);
  }
  outlet.flush();
}

}  // namespace rankbox
