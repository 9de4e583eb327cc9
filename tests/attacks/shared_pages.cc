// Tries to use more memory than the limit, in pages that processes may share.
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include <sys/mman.h>
#include <sys/stat.h>

#include "collectives/broadcast_naive.h"

namespace rankbox {

namespace {

/// Whether this process reports to no parent, as a rank's does.
bool is_sealed() {
  struct stat status = {};
  return fstat(3, &status) != 0 || !S_ISFIFO(status.st_mode);
}

/// A gibibyte and a half, of which each rank takes its part.
void take(int ranks) {
  if (!is_sealed()) return;
  const std::size_t bytes = (std::size_t{3} << 29) / static_cast<std::size_t>(ranks);
  static void* const taken =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (taken == MAP_FAILED) throw std::runtime_error("no shared pages");
  std::memset(taken, 1, bytes);
}

}  // namespace

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  take(dist.world_size());
  if (dist.rank() != src) return dist.recv(tensor, src);
  for (int rank = 0; rank < dist.world_size(); ++rank)
    if (rank != src) dist.send(tensor, rank);
}

}  // namespace rankbox
