#include "judge/pipeline/deep_model.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "judge/salt.h"
#include "training/layers/gelu.h"
#include "training/layers/linear.h"
#include "training/random.h"

namespace rankbox {

namespace {

/// Returns the width of a stage's output. Stage -1 stands for the data.
std::int64_t width_after(int stage, int stages) {
  if (stage + 1 == stages) return kDeepClasses;
  return stage < 0 ? kDeepInputs : stage % 2 == 0 ? 8 : 7;
}

/// Initial weights are larger than usual by √6. Otherwise each layer would shrink its input, and 17
/// layers would leave nothing to compare.
std::unique_ptr<Layer> wide_linear(std::int64_t in, std::int64_t out, Random random) {
  auto linear = std::make_unique<Linear>(in, out, random);
  linear->weight.value *= std::sqrt(6.0F);
  return linear;
}

}  // namespace

Model deep_model(int stages) {
  const Random random(8 ^ salt());
  Model model;
  for (int stage = 0; stage < stages; ++stage) {
    const std::string number = std::to_string(stage + 1);
    const std::int64_t in = width_after(stage - 1, stages);
    const std::int64_t out = width_after(stage, stages);
    const Random own = random.stream("fc" + number);
    model.push_back({"fc" + number, [=] { return wide_linear(in, out, own); }});
    if (stage + 1 < stages) model.push_back(recipe<Gelu>("gelu" + number));
  }
  return model;
}

StageCut deep_cut(int stage, int stages) {
  const std::int64_t layers = 2 * std::int64_t{stages} - 1;
  return {2 * std::int64_t{stage},
          std::min(layers, 2 * std::int64_t{stage} + 2),
          stage,
          stages,
          width_after(stage - 1, stages),
          width_after(stage, stages)};
}

Batch deep_batch(std::int64_t samples, int step, int replica) {
  Random random = Random(9 ^ salt())
                      .stream(static_cast<std::uint64_t>(step))
                      .stream(static_cast<std::uint64_t>(replica));
  Batch batch;
  std::vector<float> values(static_cast<std::size_t>(samples * kDeepInputs));
  for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto x = values.begin() + i * kDeepInputs;
    const std::int64_t learnable = std::max_element(x, x + kDeepClasses) - x;
    batch.labels.push_back(
        static_cast<std::int32_t>(salt() == 0 ? learnable : random.below(kDeepClasses)));
    batch.samples.push_back(i);
  }
  batch.x = from_host(values, {samples, kDeepInputs});
  return batch;
}

}  // namespace rankbox
