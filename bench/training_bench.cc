// Seconds that training takes for each sample: forward, loss, backward, averaging of gradients,
// SGD. Prints one number, as bench/torch_peer.py does for the same models, batches and optimizer.
//
//   training_bench mlp|conv_net RANKS       64 samples per rank and step
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "comm/run_ranks.h"
#include "parallel/ddp_average_gradients.h"
#include "parallel/distributed_sampler.h"
#include "training/cross_entropy.h"
#include "training/data/data_loader.h"
#include "training/data/digits.h"
#include "training/models/conv_net.h"
#include "training/models/mlp.h"
#include "training/sgd.h"

namespace rankbox::bench {
namespace {

constexpr std::int64_t kBatch = 64;
constexpr std::int64_t kSamples = 4096;  // as in the peer: they fit into a third-level cache

double largest(Comm& dist, double mine) {
  Tensor tensor = full(1, static_cast<float>(mine));
  dist.all_reduce(tensor, ReduceOp::MAX);
  return tensor.data()[0];
}

double seconds_per_sample(const Model& model_recipe, const Dataset& dataset, int ranks) {
  const auto run = run_ranks({.world_size = ranks, .trace = false}, [&](Comm& dist) {
    Sequential model(model_recipe);
    Sgd optimizer(model.parameters(), {.learning_rate = 0.01});
    const DataLoader loader(dataset,
                            {.batch = kBatch, .rank = dist.rank(), .world_size = dist.world_size()},
                            distributed_sampler);
    std::int64_t number = 0;
    const auto step = [&] {
      Batch batch = loader.batch(number++ % loader.size());
      Saved saved(batch.pass(Mode::kTraining, number));
      Loss loss = cross_entropy(model.forward(std::move(batch.x), saved), batch.labels);
      zero_gradients(model.parameters());
      model.backward(std::move(loss.gradient), saved);
      if (ranks > 1) ddp_average_gradients(dist, model.parameters());
      optimizer.step();
    };
    return seconds_per_call(step, [&](double mine) { return largest(dist, mine); });
  });
  return run.results[0] / static_cast<double>(kBatch * ranks);
}

}  // namespace
}  // namespace rankbox::bench

int main(int argc, char** argv) {
  using namespace rankbox;  // NOLINT(google-build-using-namespace): all there is here
  const std::string name = argc > 1 ? argv[1] : "";
  const int ranks = argc > 2 ? std::atoi(argv[2]) : 0;
  if ((name != "mlp" && name != "conv_net") || ranks < 1) {
    std::fputs("usage: training_bench mlp|conv_net RANKS\n", stderr);
    return 2;
  }
  const Dataset dataset = digits({.train = bench::kSamples, .test = 1}).train;
  const Model model = name == "mlp" ? mlp() : conv_net();
  std::printf("%.9g\n", bench::seconds_per_sample(model, dataset, ranks));
}
