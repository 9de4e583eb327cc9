// First a list of the passes, then a loop that makes them.
#include <utility>
#include <vector>

#include "parallel/pipeline_1f1b.h"

namespace rankbox {

namespace {

struct Move {
  bool forward;
  int i;
};

std::vector<Move> moves_of(int m, int lead) {
  std::vector<Move> all;
  for (int f = 0, b = 0; b < m;) {
    const bool forward = f < m && f - b <= lead;
    all.push_back({forward, forward ? f : b});
    ++(forward ? f : b);
  }
  return all;
}

}  // namespace

void pipeline_1f1b(Comm& dist, Stage& stage) {
  const int r = dist.rank();
  Tensor sent;
  std::vector<Request> request;
  for (const Move& pass : moves_of(stage.micro_batches(), dist.world_size() - 1 - r)) {
    const int from = pass.forward ? r - 1 : r + 1;
    const int to = pass.forward ? r + 1 : r - 1;
    const auto exists = [&](int rank) { return rank >= 0 && rank < dist.world_size(); };
    Tensor t = pass.forward ? stage.empty_input(pass.i) : stage.empty_output_gradient(pass.i);
    if (exists(from)) request.push_back(dist.irecv(t, from));
    dist.wait_all(request);
    request.clear();
    t = pass.forward ? stage.forward(pass.i, std::move(t)) : stage.backward(pass.i, std::move(t));
    sent = std::move(t);
    if (exists(to)) request.push_back(dist.isend(sent, to));
  }
  dist.wait_all(request);
}

}  // namespace rankbox
