// First a list of the passes, then a loop that makes them. Nothing but receives blocks.
#include <string>
#include <utility>
#include <vector>

#include "parallel/pipeline_zero_bubble.h"

namespace rankbox {

namespace {

struct Step {
  char pass;
  int i;
};

std::vector<Step> steps_of(int m, int rank, int ranks) {
  std::vector<Step> all;
  int f = 0, b = 0, w = 0;
  while (w < m) {
    if (f < m && f - b < ranks - rank) {
      all.push_back({'F', f++});
      continue;
    }
    if (b < m) all.push_back({'B', b++});
    if (b - w > rank || b == m) all.push_back({'W', w++});
  }
  return all;
}

}  // namespace

void pipeline_zero_bubble(Comm& dist, Stage& stage) {
  const int r = dist.rank();
  Tensor sent[2];  // down, up
  std::vector<Request> requests[2];
  const auto send = [&](Tensor t, int to) {
    const std::size_t way = to > r ? 0 : 1;
    dist.wait_all(requests[way]);
    requests[way].clear();
    sent[way] = std::move(t);
    if (!sent[way].empty()) requests[way].push_back(dist.isend(sent[way], to));
  };
  for (const Step& step : steps_of(stage.micro_batches(), r, dist.world_size())) {
    if (step.pass == 'F') {
      Tensor x = stage.empty_input(step.i);
      if (!x.empty()) dist.recv(x, r - 1);
      send(stage.forward(step.i, std::move(x)), r + 1);
    } else if (step.pass == 'B') {
      Tensor dy = stage.empty_output_gradient(step.i);
      if (!dy.empty()) dist.recv(dy, r + 1);
      send(stage.backward_input(step.i, std::move(dy)), r - 1);
    } else {
      stage.backward_weights(step.i);
    }
  }
  for (auto& each : requests) dist.wait_all(each);
}

}  // namespace rankbox
