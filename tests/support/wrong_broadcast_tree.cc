// A learner's broadcast_tree with the mistake that the variable WRONG names, for
// exercise_report_test.py. A mistake shows in a world of 5 ranks, unless it is one of all worlds.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "collectives/broadcast_tree.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

/// A right tree.
void serve(Comm& dist, Tensor& tensor, int src) {
  const int world_size = dist.world_size();
  const int virtual_rank = virtual_rank_of(dist.rank(), src, world_size);
  int mask = 1;
  while (mask < world_size && (virtual_rank & mask) == 0) mask *= 2;
  if (virtual_rank != 0) dist.recv(tensor, rank_of(virtual_rank - mask, src, world_size));
  for (mask /= 2; mask > 0; mask /= 2) {
    const int child = virtual_rank + mask;
    if (child < world_size) dist.send(tensor, rank_of(child, src, world_size));
  }
}

}  // namespace

void broadcast_tree(Comm& dist, Tensor& tensor, int src) {
  const char* variable = std::getenv("WRONG");
  const std::string wrong = variable == nullptr ? "" : variable;
  const bool shows = dist.world_size() == 5 && dist.rank() == 4;

  if (wrong == "untouched") throw NotImplemented("broadcast_tree");
  if (wrong == "a star, not a tree") {
    if (dist.rank() != src) return dist.recv(tensor, src);
    for (int rank = 0; rank < dist.world_size(); ++rank) {
      if (rank != src) dist.send(tensor, rank);
    }
    return;
  }
  if (wrong == "a message too few" && shows) return;
  if (wrong == "it crashes" && shows) std::raise(SIGSEGV);
  if (wrong == "it throws what XML forbids" && shows)
    throw std::runtime_error("]]>\v\f\033 \xed\xa0\x80 \uFFFF \xff");
  if (wrong == "it exits" && shows) std::exit(0);
  if (wrong == "it never ends" && shows) {
    std::puts("never ends");
    std::fflush(stdout);
    for (volatile bool forever = true; forever;) {
    }
  }
  serve(dist, tensor, src);
  if (wrong == "a wrong element" && shows) tensor = zeros(tensor.size());
}

}  // namespace rankbox
