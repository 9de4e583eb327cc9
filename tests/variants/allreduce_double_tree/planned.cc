// All messages are planned before the first one leaves: a list sorted by turn. Right children have
// the even turns, every message its own buffer, and AVG divides at the end.
#include <algorithm>
#include <vector>

#include "collectives/allreduce_double_tree.h"
#include "collectives/average.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

struct Message {
  int turn;
  int peer;
  bool leaves;
  Slice data;
  Slice sum;  // to which the data are added; null: none
};

}  // namespace

void allreduce_double_tree(Comm& dist, Tensor& tensor, ReduceOp op, int segments) {
  const int p = dist.world_size();
  const int height = floor_log2(p);
  std::vector<Message> plan;
  std::vector<Tensor> buffers;
  buffers.reserve(static_cast<std::size_t>(4 * segments));

  for (const int tree : {1, 0}) {
    const int me = tree_position(tree, dist.rank(), p);
    const int depth = floor_log2(me);
    for (int k = 0; k < segments; ++k) {
      const Slice here = segment(chunk(tensor, tree, 2), k, segments);
      // Segment k crosses the edge above a position of this depth in these rounds.
      const auto up = [&](int below) { return k + 2 * (height - below); };
      const auto down = [&](int below) {
        return 2 * (height - 1) + std::max(segments, 2) + k + below - 1;
      };
      const auto turn = [](int round, int position) { return 2 * round + 1 - position % 2; };
      if (me > 1) {
        const int parent = rank_at(tree, me / 2, p);
        plan.push_back({turn(up(depth), me), parent, true, here, Slice()});
        plan.push_back({turn(down(depth), me), parent, false, here, Slice()});
      }
      for (int child = 2 * me; child <= std::min(2 * me + 1, p); ++child) {
        const int rank = rank_at(tree, child, p);
        buffers.emplace_back(here.size());
        plan.push_back({turn(up(depth + 1), child), rank, false, buffers.back(), here});
        plan.push_back({turn(down(depth + 1), child), rank, true, here, Slice()});
      }
    }
  }
  std::stable_sort(plan.begin(), plan.end(),
                   [](const Message& a, const Message& b) { return a.turn < b.turn; });

  std::vector<Message> arrived;
  const auto add = [&] {
    for (const Message& message : arrived) accumulate(message.sum, message.data, op);
    arrived.clear();
  };
  int last = 0;
  for (std::size_t i = 0; i < plan.size();) {
    const int turn = plan[i].turn;
    if (turn > last + 1) add();
    last = turn;
    std::vector<Request> requests;
    std::vector<Message> coming;
    for (; i < plan.size() && plan[i].turn == turn; ++i) {
      const Message& message = plan[i];
      requests.push_back(message.leaves ? dist.isend(message.data, message.peer)
                                        : dist.irecv(message.data, message.peer));
      if (!message.sum.is_null()) coming.push_back(message);
    }
    add();
    dist.wait_all(requests);
    arrived = coming;
  }
  add();
  divide_if_average(tensor, op, p);
}

}  // namespace rankbox
