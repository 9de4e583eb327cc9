// Virtual time of a halo exchange: four messages a rank, by the order in which a program starts
// them. sim/clock/port_queue.h explains the figures.
#include <algorithm>
#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"
#include "tests/sim/round_cluster.h"

namespace rankbox::testing {
namespace {

constexpr int kSide = 4;
constexpr int kNone = -1;
constexpr std::array<std::array<int, 2>, 4> kDirections = {{{0, 1}, {0, -1}, {1, 0}, {-1, 0}}};
using Directions = std::array<int, 4>;  // in order

/// Returns the rank next to this one; at an edge without a rank beyond, kNone.
int neighbour(int rank, int direction, bool torus) {
  const auto& [down, right] = kDirections[static_cast<std::size_t>(direction)];
  const int row = rank / kSide + down;
  const int column = rank % kSide + right;
  const bool inside = row >= 0 && row < kSide && column >= 0 && column < kSide;
  if (!inside && !torus) return kNone;
  return (row + kSide) % kSide * kSide + (column + kSide) % kSide;
}

/// Returns the α of one exchange with four neighbours at once, by isend, irecv and wait_all.
/// @param sends int rank -> Directions
template <class Sends>
double at_once(bool torus, Sends sends, const Directions& receives) {
  const auto report = report_of(world_of(kSide * kSide), [&](Comm& dist) {
    const Tensor own = zeros({4});
    std::vector<Tensor> halo(4, own);
    std::vector<Request> requests;
    for (const int d : receives) {
      const int from = neighbour(dist.rank(), d, torus);
      if (from != kNone) requests.push_back(dist.irecv(halo[static_cast<std::size_t>(d)], from));
    }
    for (const int d : sends(dist.rank())) {
      const int to = neighbour(dist.rank(), d, torus);
      if (to != kNone) requests.push_back(dist.isend(own, to));
    }
    dist.wait_all(requests);
  });
  return report.cost.steps;
}

/// Returns the α of the same exchange direction by direction, by sendrecv.
double in_turn(bool torus) {
  const auto report = report_of(world_of(kSide * kSide), [&](Comm& dist) {
    const Tensor own = zeros({4});
    Tensor halo = zeros({4});
    for (const int d : {0, 1, 2, 3}) {
      const int to = neighbour(dist.rank(), d, torus);
      const int from = neighbour(dist.rank(), d ^ 1, torus);  // the opposite side
      if (to != kNone && from != kNone) {
        dist.sendrecv(own, to, halo, from);
      } else if (to != kNone) {
        dist.send(own, to);
      } else {
        dist.recv(halo, from);
      }
    }
  });
  return report.cost.steps;
}

TEST_CASE("a torus takes 4 steps by isend and irecv, in every order that all ranks share") {
  Directions sends = {0, 1, 2, 3};
  do {
    for (const Directions& receives : {Directions{0, 1, 2, 3}, Directions{1, 0, 3, 2},
                                       Directions{3, 2, 1, 0}, Directions{2, 0, 3, 1}}) {
      CAPTURE(sends[0]);
      CAPTURE(sends[1]);
      CAPTURE(sends[2]);
      CAPTURE(receives[0]);
      CHECK(at_once(
                true, [&](int) { return sends; }, receives) == 4);
    }
  } while (std::next_permutation(sends.begin(), sends.end()));
}

TEST_CASE("direction by direction, with or without edges, a halo exchange takes 4 steps") {
  CHECK(in_turn(true) == 4);
  CHECK(in_turn(false) == 4);
}

TEST_CASE("ranks that compete for a receiver wait, and so do the messages behind theirs") {
  const Directions same = {0, 1, 2, 3};
  // Neighbours in the order of their ranks: another direction first at each border of the torus.
  const auto by_rank = [](int rank) {
    Directions order = {0, 1, 2, 3};
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return neighbour(rank, a, true) < neighbour(rank, b, true); });
    return order;
  };
  CHECK(at_once(true, by_rank, same) == 8);
  // Open edges: a rank without one neighbour is a direction ahead of its others.
  CHECK(at_once(
            false, [&](int) { return same; }, same) == 6);
}

}  // namespace
}  // namespace rankbox::testing
