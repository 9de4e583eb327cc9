// The first stage, the last one and those between have a function each.
#include <utility>

#include "parallel/model_parallel.h"

namespace rankbox {

namespace {

void first(Comm& dist, Stage& stage, int i) {
  const Tensor y = stage.forward(i, Tensor());
  dist.send(y, 1);
  Tensor dy = stage.empty_output_gradient(i);
  dist.recv(dy, 1);
  stage.backward(i, std::move(dy));
}

void last(Comm& dist, Stage& stage, int i) {
  Tensor x = stage.empty_input(i);
  dist.recv(x, dist.rank() - 1);
  stage.forward(i, std::move(x));
  dist.send(stage.backward(i, Tensor()), dist.rank() - 1);
}

void between(Comm& dist, Stage& stage, int i) {
  Tensor x = stage.empty_input(i);
  dist.recv(x, dist.rank() - 1);
  dist.send(stage.forward(i, std::move(x)), dist.rank() + 1);
  Tensor dy = stage.empty_output_gradient(i);
  dist.recv(dy, dist.rank() + 1);
  dist.send(stage.backward(i, std::move(dy)), dist.rank() - 1);
}

void alone(Comm& /*dist*/, Stage& stage, int i) {
  stage.forward(i, Tensor());
  stage.backward(i, Tensor());
}

}  // namespace

void model_parallel(Comm& dist, Stage& stage) {
  const auto run =
      stage.is_first() ? (stage.is_last() ? alone : first) : (stage.is_last() ? last : between);
  for (int i = 0; i < stage.micro_batches(); ++i) run(dist, stage, i);
}

}  // namespace rankbox
