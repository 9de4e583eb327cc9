#include "collectives/allreduce_double_tree.h"

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/average.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

constexpr int kNone = -1;

/// This rank's place in one of the trees.
struct TreePlace {
  Slice half;  // of the tensor, for which the tree works
  int position;
  int depth;
  int parent;
  int children[2];  // left and right
};

TreePlace place_in(int tree, Tensor& tensor, int rank, int world_size) {
  const int position = tree_position(tree, rank, world_size);
  const auto rank_or_none = [&](int at) {
    return at >= 1 && at <= world_size ? rank_at(tree, at, world_size) : kNone;
  };
  return {chunk(tensor, tree, 2),
          position,
          floor_log2(position),
          rank_or_none(position / 2),
          {rank_or_none(2 * position), rank_or_none(2 * position + 1)}};
}

}  // namespace

void allreduce_double_tree(Comm& dist, Tensor& tensor, ReduceOp op, int segments) {
  if (segments < 1) {
    throw InvalidArgument("allreduce_double_tree: " + std::to_string(segments) +
                          " segments cannot hold a half: segments >= 1 is needed");
  }
  const int world_size = dist.world_size();
  if (world_size == 1) return;  // AVG of one is itself
  const TreePlace places[] = {place_in(0, tensor, dist.rank(), world_size),
                              place_in(1, tensor, dist.rank(), world_size)};

  // A round has two turns: messages of left children in the first, of right ones in the second. So
  // no rank sends two in a turn, or receives two. Segments follow each other by a round. Going up,
  // a level takes two rounds: one in which a segment arrives, one in which it is added. Going down
  // it takes one. The first segment must be at the root, and added, before it can go down.
  const int deepest = floor_log2(world_size);
  const int rounds_up = 2 * (deepest - 1) + std::max(segments, 2);
  const int rounds_down = deepest - 1 + segments;
  const auto exists = [&](int k) { return k >= 0 && k < segments; };
  const auto part = [&](const TreePlace& at, int k) { return segment(at.half, k, segments); };

  // While one buffer is being filled, the other is added.
  const std::int64_t half_size = (tensor.size() + 1) / 2;
  Tensor buffers[] = {Tensor((half_size + segments - 1) / segments),
                      Tensor((half_size + segments - 1) / segments)};
  const auto received = [&](const TreePlace& at, int k, int side) {
    return Slice(buffers[side]).sub(0, part(at, k).size());
  };

  std::vector<Request> in_flight;
  const auto start = [&](int turn) {
    in_flight.clear();
    const int round = turn / 2;
    const int side = turn % 2;
    for (const TreePlace& at : places) {
      const int child = at.children[side];
      const int parent = at.position % 2 == side ? at.parent : kNone;
      if (round < rounds_up) {
        // 1. Up: the sum of the subtree to the parent, while a child's arrives.
        const int k = round - 2 * (deepest - at.depth);
        if (parent != kNone && exists(k)) in_flight.push_back(dist.isend(part(at, k), parent));
        if (child != kNone && exists(k + 2))
          in_flight.push_back(dist.irecv(received(at, k + 2, side), child));
      } else {
        // 2. Down: what came from the parent a round ago to the children. The root has it complete.
        const int k = round - rounds_up - at.depth;
        if (at.depth == 0 && side == 0 && exists(k)) divide_if_average(part(at, k), op, world_size);
        if (child != kNone && exists(k)) in_flight.push_back(dist.isend(part(at, k), child));
        if (parent != kNone && exists(k + 1))
          in_flight.push_back(dist.irecv(part(at, k + 1), parent));
      }
    }
  };
  const auto add = [&](int turn) {
    const int side = turn % 2;
    for (const TreePlace& at : places) {
      const int k = turn / 2 - 2 * (deepest - at.depth) + 2;
      if (turn / 2 < rounds_up && at.children[side] != kNone && exists(k))
        accumulate(part(at, k), received(at, k, side), op);
    }
  };

  // Every message waits for messages of earlier turns only, so there is no deadlock.
  start(0);
  for (int turn = 0; turn < 2 * (rounds_up + rounds_down); ++turn) {
    dist.wait_all(in_flight);
    start(turn + 1);
    add(turn);
  }
}

}  // namespace rankbox
