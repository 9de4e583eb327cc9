// A round has four turns, up and down, left and right: early segments go down while late ones go
// up. Every level takes one round, because an addition has the turns of the way down to hide in.
#include <vector>

#include "collectives/allreduce_double_tree.h"
#include "collectives/average.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_double_tree(Comm& dist, Tensor& tensor, ReduceOp op, int segments) {
  const int p = dist.world_size();
  const int deepest = floor_log2(p);
  Tensor arrived[] = {empty_like(tensor), empty_like(tensor)};
  std::vector<Request> in_flight;

  const auto each_tree = [&](int turn, auto visit) {
    for (const int tree : {0, 1}) {
      const int position = tree_position(tree, dist.rank(), p);
      const int child = 2 * position + turn % 2;
      const int parent = position % 2 == turn % 2 ? position / 2 : 0;
      visit(tree, position, child <= p ? rank_at(tree, child, p) : -1,
            parent > 0 ? rank_at(tree, parent, p) : -1);
    }
  };
  const auto has = [&](int k) { return 0 <= k && k < segments; };
  const auto part = [&](int tree, int k) { return segment(chunk(tensor, tree, 2), k, segments); };
  const auto into = [&](int tree, int k, int turn) {
    return segment(chunk(arrived[turn % 2], tree, 2), k, segments);
  };
  const auto start = [&](int turn) {
    in_flight.clear();
    each_tree(turn, [&](int tree, int position, int child, int parent) {
      const int depth = floor_log2(position);
      if (turn % 4 < 2) {
        const int k = turn / 4 - (deepest - depth);
        if (child >= 0 && has(k + 1))
          in_flight.push_back(dist.irecv(into(tree, k + 1, turn), child));
        if (parent >= 0 && has(k)) in_flight.push_back(dist.isend(part(tree, k), parent));
        return;
      }
      const int k = turn / 4 - deepest - depth;
      if (position == 1 && turn % 2 == 0 && has(k)) divide_if_average(part(tree, k), op, p);
      if (parent >= 0 && has(k + 1)) in_flight.push_back(dist.irecv(part(tree, k + 1), parent));
      if (child >= 0 && has(k)) in_flight.push_back(dist.isend(part(tree, k), child));
    });
  };
  const auto add = [&](int turn) {
    if (turn % 4 >= 2) return;
    each_tree(turn, [&](int tree, int position, int child, int /*parent*/) {
      const int k = turn / 4 - (deepest - floor_log2(position)) + 1;
      if (child >= 0 && has(k)) accumulate(part(tree, k), into(tree, k, turn), op);
    });
  };

  const int turns = 4 * (segments + 2 * deepest);
  start(0);
  for (int turn = 0; turn < turns; ++turn) {
    dist.wait_all(in_flight);
    start(turn + 1);
    add(turn);
  }
}

}  // namespace rankbox
