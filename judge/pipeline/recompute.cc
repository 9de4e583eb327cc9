// Judges recompute: gradients, loss and statistics to the last bit, how often each layer runs
// forward, and memory.
#include "parallel/recompute.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/judge.h"
#include "judge/memory_window.h"
#include "judge/pipeline/deep_model.h"
#include "judge/salt.h"
#include "judge/training/known_mistakes.h"
#include "judge/training/small_training.h"
#include "judge/training/watched_layer.h"
#include "judge/training_families.h"
#include "training/layers/batch_norm.h"
#include "training/layers/gelu.h"
#include "training/layers/linear.h"

namespace rankbox {

namespace {

using Function = decltype(&recompute);

constexpr std::int64_t kWidth = 16;
constexpr std::int64_t kFew = 5;
// Activations of 80 KiB exceed bookkeeping, and are not kept by an allocator when they are freed;
// those of 1 MiB are for Subject::large_cases.
constexpr std::int64_t kMany = 1280;
constexpr std::int64_t kLarge = 16384;
constexpr int kLayersOfMany = 26;
constexpr int kSteps = 2;  // a wrong state after the first spoils the second
constexpr std::int64_t kBookkeeping = std::int64_t{16} << 10;
constexpr std::int64_t kTensorsAtWork = 4;

/// Dropout whose masks follow one another, as those of a library's generator do: its state is the
/// number of masks drawn.
class DrawnDropout : public Layer {
 public:
  explicit DrawnDropout(Random random) : random_(random) {}

  Tensor forward(Tensor x, Saved& saved) override {
    if (!saved.training()) return x;
    const auto number = static_cast<std::uint64_t>(to_host(drawn_.value).front());
    drawn_.value += full(1, 1);
    const Random of_mask = random_.stream(number);
    Tensor mask;
    {
      std::vector<float> values(static_cast<std::size_t>(x.size()));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = of_mask.uniform_at(i) < 0.25 ? 0 : 4.0F / 3;
      mask = from_host(values, x.shape());
    }
    x *= mask;
    saved.push(std::move(mask));
    return x;
  }
  Tensor backward(Tensor dy, Saved& saved) override {
    dy *= saved.pop();
    return dy;
  }
  std::vector<NamedTensor*> statistics() override { return {&drawn_}; }

 private:
  Random random_;
  NamedTensor drawn_ = {"masks drawn", zeros(1)};
};

/// Returns a linear layer, gelu, both kinds of dropout and batch norm, and again.
Model model_of(int layers) {
  const Random random(11 ^ salt());
  Model model;
  for (int i = 0; i < layers; ++i) {
    const Random own = random.stream(static_cast<std::uint64_t>(i));
    const bool is_last = i + 1 == layers;
    switch (is_last ? 0 : i % 5) {
      case 0:
        model.push_back(recipe<Linear>(fmt::format("fc{}", i), i == 0 ? kDeepInputs : kWidth,
                                       is_last ? kDeepClasses : kWidth, own));
        break;
      case 1:
        model.push_back(recipe<DrawnDropout>(fmt::format("drawn_dropout{}", i), own));
        break;
      case 2:
        model.push_back(recipe<Gelu>(fmt::format("gelu{}", i)));
        break;
      case 3:
        model.push_back(dropout_of_samples(fmt::format("dropout{}", i).c_str()));
        break;
      default:
        model.push_back(recipe<BatchNorm>(fmt::format("norm{}", i), kWidth));
    }
  }
  return model;
}

std::int64_t first_layer(std::int64_t segment, const Case& example) {
  return *example.layers * segment / *example.segments;
}

/// Returns the layer that begins the last segment.
std::int64_t begin_of_last(const Case& example) {
  return first_layer(*example.segments - 1, example);
}

/// Runs forward and backward without segments. Returns the loss, and in `inputs` and `saves` the
/// bytes that go into each layer, and that it saves.
Loss run_whole(Sequential& model, const Batch& batch, int step,
               std::vector<std::int64_t>* inputs = nullptr,
               std::vector<std::int64_t>* saves = nullptr) {
  Saved saved(batch.pass(Mode::kTraining, step));
  Tensor x = clone(batch.x);
  for (std::int64_t i = 0; i < model.size(); ++i) {
    const std::int64_t before = saved.bytes();
    if (inputs != nullptr) inputs->push_back(x.bytes());
    x = model.layer(i).forward(std::move(x), saved);
    if (saves != nullptr) saves->push_back(saved.bytes() - before);
  }
  Loss loss = cross_entropy(x, batch.labels);
  model.backward(std::exchange(loss.gradient, {}), saved);
  return loss;
}

/// Returns what the contract allows a call to hold.
std::int64_t allowed_bytes(const Case& example, const Batch& batch) {
  Sequential model(model_of(*example.layers));
  std::vector<std::int64_t> inputs, saves;
  run_whole(model, batch, 0, &inputs, &saves);
  std::int64_t kept = 0;
  std::int64_t most = 0;
  for (std::int64_t s = 0; s < *example.segments; ++s) {
    const std::int64_t begin = first_layer(s, example);
    const std::int64_t end = first_layer(s + 1, example);
    if (begin == end) continue;
    if (begin > 0) kept += inputs[static_cast<std::size_t>(begin)];
    std::int64_t saved = 0;
    for (std::int64_t i = begin; i < end; ++i) saved += saves[static_cast<std::size_t>(i)];
    most = std::max(most, kept + saved);
  }
  return most + kTensorsAtWork * *std::ranges::max_element(inputs) + kBookkeeping;
}

/// Bytes that a call held at most, and that it still holds.
struct Held {
  std::int64_t peak = 0;
  std::int64_t kept = 0;
};

std::optional<Difference> compare_memory(const Held& held, const Case& example,
                                         const Batch& batch) {
  if (judges_only_values()) return std::nullopt;  // libraries hold their own memory
  const std::int64_t allowed = allowed_bytes(example, batch);
  const bool keeps = held.kept > kBookkeeping;
  if (!keeps && held.peak <= allowed) return std::nullopt;
  Difference excess{
      keeps ? "memory still held after the call" : "memory held at the worst moment",
      -1,
      fmt::format("at most {} bytes", keeps ? kBookkeeping : allowed),
      fmt::format("{} bytes", keeps ? held.kept : held.peak),
      {"segments-leave-inputs",
       "a segment leaves its input; what its layers save is dropped in the first forward, and used "
       "up by the backward that follows the second"}};
  excess.kind = FailureKind::kMemory;
  return excess;
}

std::string described(const Loss& loss) {
  return fmt::format("{:.9g} on average, of {} samples, {} of them correct", loss.mean(),
                     loss.counted, loss.correct);
}

std::optional<Difference> compare_loss(const Loss& actual, const Loss& expected) {
  if (!actual.gradient.empty()) {
    return Difference{"the loss's gradient",
                      -1,
                      "none",
                      fmt::format("{} elements", actual.gradient.size()),
                      {"loss-without-gradient", "give it to backward, and leave none"}};
  }
  if (actual.sum == expected.sum && actual.counted == expected.counted &&
      actual.correct == expected.correct)
    return std::nullopt;
  return Difference{"the loss",
                    -1,
                    described(expected),
                    described(actual),
                    {"first-forward-is-forward",
                     "does every Saved have saved.pass(), and does each segment begin with the "
                     "output of the one before?"}};
}

std::vector<NamedTensor> statistics_of(Sequential& model) {
  std::vector<NamedTensor> all;
  for (const NamedTensor* statistic : model.statistics()) all.push_back(*statistic);
  return all;
}

/// Compares how often each layer ran forward, in the order of layers.
std::optional<Difference> compare_counts(const std::vector<int>& forwards, Sequential& model,
                                         const Case& example) {
  for (std::size_t i = 0; i < forwards.size(); ++i) {
    const bool is_in_last = static_cast<std::int64_t>(i) >= begin_of_last(example);
    const int expected = is_in_last ? 1 : 2;
    if (forwards[i] == expected) continue;
    Difference wrong{fmt::format("forward passes of {}", model.name(static_cast<std::int64_t>(i))),
                     -1, std::to_string(expected), std::to_string(forwards[i]),
                     is_in_last ? Hint("last-segment-once",
                                       "the last segment goes back right after its forward: it "
                                       "can keep what it saves")
                                : Hint("segments-run-twice",
                                       "once to get the loss, and once before its backward")};
    wrong.kind = FailureKind::kCost;
    return wrong;
  }
  return std::nullopt;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  std::map<const Layer*, std::size_t> number_of;
  std::vector<int> forwards;
  const OnPass count = [&](const Layer& layer, bool is_backward) {
    const auto found = number_of.find(&layer);
    if (!is_backward && found != number_of.end()) ++forwards[found->second];
  };
  Model watched;
  for (const auto& recipe : model_of(*example.layers)) {
    watched.push_back(
        {recipe.name, [=] { return std::make_unique<WatchedLayer>(recipe.make(), count); }});
  }
  Sequential model(watched);
  Sequential whole(model_of(*example.layers));
  for (std::int64_t i = 0; i < model.size(); ++i)
    number_of.emplace(&model.layer(i), static_cast<std::size_t>(i));
  for (Parameter* parameter : model.parameters()) gradient_of(*parameter);

  // Memory and counts are reported only if all values are right: they follow from a wrong order.
  std::optional<Difference> excess;
  for (int step = 0; step < kSteps; ++step) {
    const Batch batch = deep_batch(*example.count, step, dist.rank());
    Saved saved(batch.pass(Mode::kTraining, step));
    Loss loss;
    forwards.assign(static_cast<std::size_t>(model.size()), 0);
    const Held held = [&] {
      const MemoryWindow window;
      function(model, batch, *example.segments, saved, loss);
      return Held{window.peak(), window.kept()};
    }();
    if (!excess && *example.count >= kMany) excess = compare_memory(held, example, batch);
    if (!saved.empty()) {
      return Difference{"what is left in `saved`",
                        -1,
                        "nothing",
                        fmt::format("{} bytes", saved.bytes()),
                        {"backward-takes-what-forward-saved",
                         "backward uses up what forward saved: run each layer back once"}};
    }

    if (auto wrong = compare_loss(loss, run_whole(whole, batch, step))) return wrong;
    if (auto wrong = compare_tensors(
            statistics_of(model), statistics_of(whole), 0, {},
            {"state-as-after-one-forward",
             "one forward and backward leave that: the second forward of a segment must begin with "
             "the state that its first one began with"}))
      return wrong;
    if (auto wrong = compare_tensors(
            gradients_of(model), gradients_of(whole), 0, {},
            {"second-forward-is-the-first",
             "one forward and backward give that, to the last bit. Does the second forward get the "
             "same input, pass and state as the first, and so the same masks?"}))
      return wrong;
    if (!excess) excess = compare_counts(forwards, model, example);
  }
  return excess;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto drawn_layers = static_cast<int>(drawn("layers", 12, 8, 16));
  for (const int layers : {1, 2, 6, drawn_layers}) {
    for (const int segments : {1, 2, 3, 5, 17}) {
      all.push_back({.world_size = 1, .segments = segments, .count = kFew, .layers = layers});
    }
  }
  all.push_back({.world_size = 3, .segments = 3, .count = kFew, .layers = drawn_layers});
  for (const int segments : {1, 5, kLayersOfMany, 2 * kLayersOfMany}) {
    all.push_back({.world_size = 1, .segments = segments, .count = kMany, .layers = kLayersOfMany});
  }
  return all;
}

std::vector<Case> large_cases() {
  return {{.world_size = 1, .segments = 5, .count = kLarge, .layers = kLayersOfMany}};
}

}  // namespace

Family family::recompute() {
  return make_family<Function>(
      "recompute",
      "(Sequential& model, const Batch& batch, int segments, Saved& saved, Loss& loss)",
      {.cases = cases,
       .large_cases = large_cases(),
       .sends_messages = false,
       .limits_memory = true},
      run);
}

}  // namespace rankbox
