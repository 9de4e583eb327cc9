// Judges vocab_parallel_cross_entropy: large logits, ignored labels, and more ranks than classes.
#include "parallel/vocab_parallel_cross_entropy.h"

#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "judge/compare.h"
#include "judge/formulas/formulas.h"
#include "judge/salt.h"
#include "judge/tensor_parallel/whole_and_parts.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"
#include "parallel/layer_shards.h"
#include "training/random.h"

namespace rankbox {

namespace {

using Function = decltype(&vocab_parallel_cross_entropy);

constexpr double kSumBound = 1e-5;  // relative; losses reach 500 per row
constexpr float kGradientBound = 2e-6f;
constexpr std::int64_t kCorrectBefore = 7;
constexpr std::int64_t kManyRows = 70;
constexpr std::int64_t kAllIgnored = 3;  // rows of the batch in which no label counts

/// Divisible; not divisible; fewer than ranks.
std::int64_t classes_of(int world_size, std::int64_t batch) {
  switch (batch % 3) {
    case 0:
      return 3 * world_size;
    case 1:
      return 2 * world_size + 1;
    default:
      return std::max(1, world_size / 2);
  }
}

/// Rows differ in magnitude: e^x of some elements overflows a float, and some are far below zero.
std::vector<float> logits_of(std::int64_t batch, std::int64_t classes) {
  Random random(13 ^ salt());
  std::vector<float> logits;
  for (std::int64_t row = 0; row < batch; ++row) {
    const auto level =
        static_cast<double>(drawn(fmt::format("level of row {}", row), 100 * (row % 4), 0, 300));
    const double base = row % 8 == 0 ? level - 100'000 : level - 150;
    for (std::int64_t c = 0; c < classes; ++c)
      logits.push_back(static_cast<float>(base + random.uniform(-4, 4)));
  }
  return logits;
}

/// Cycles through the classes of all ranks, or draws them. Every fourth label is ignored; in one
/// batch, every label is.
std::vector<std::int32_t> labels_of(std::int64_t batch, std::int64_t classes) {
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t label =
        drawn(fmt::format("label {}", i), (i * 5 + classes - 1) % classes, 0, classes - 1);
    labels.push_back(batch == kAllIgnored || i % 4 == 1 ? kIgnoredLabel
                                                        : static_cast<std::int32_t>(label));
  }
  return labels;
}

/// A loss computed with one mistake.
struct WrongLoss {
  bool local_classes = false;   // softmax over the rank's own classes
  bool local_largest = false;   // sums of e^(x - the rank's own maximum) are added over ranks
  bool local_labels = false;    // a label is compared with the index within the rank's classes
  bool ignored_counts = false;  // a row without a label has a loss, too
};

double sum_with(const WrongLoss& mistake, const std::vector<float>& logits,
                const std::vector<std::int32_t>& labels, int rank, int world_size) {
  const auto classes = static_cast<std::int64_t>(logits.size() / labels.size());
  const auto begin_of = [&](int r) { return classes * r / world_size; };
  double loss = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] == kIgnoredLabel && !mistake.ignored_counts) continue;
    const float* const x = logits.data() + static_cast<std::int64_t>(row) * classes;
    const double largest = *std::max_element(x, x + classes);
    double sum = 0, of_label = 0;
    for (int r = 0; r < world_size; ++r) {
      if (begin_of(r) == begin_of(r + 1) || (mistake.local_classes && r != rank)) continue;
      const double base =
          mistake.local_largest ? *std::max_element(x + begin_of(r), x + begin_of(r + 1)) : largest;
      for (std::int64_t c = begin_of(r); c < begin_of(r + 1); ++c) {
        sum += std::exp(x[c] - base);
        if (labels[row] == (mistake.local_labels ? c - begin_of(r) : c)) of_label += x[c] - base;
      }
    }
    loss += std::log(sum) - of_label;
  }
  return loss;
}

Hint hint_for(double is, const std::vector<float>& logits, const std::vector<std::int32_t>& labels,
              int rank, int world_size) {
  const std::pair<Hint, WrongLoss> mistakes[] = {
      {{"softmax-over-own-classes",
        "that is softmax over this rank's own classes: sums are of all ranks'"},
       {.local_classes = true}},
      {{"own-largest-subtracted",
        "each rank subtracted its own largest: such sums cannot be added up; the largest of all "
        "ranks"},
       {.local_largest = true}},
      {{"labels-of-all-classes", "labels are of all classes: this rank's begin with C·r/p"},
       {.local_labels = true}},
      {{"ignored-rows-counted", "rows labelled kIgnoredLabel have no loss"},
       {.ignored_counts = true}},
  };
  for (const auto& [hint, mistake] : mistakes) {
    const double wrong = sum_with(mistake, logits, labels, rank, world_size);
    if (std::abs(is - wrong) <= 1e-4 * std::abs(wrong)) return hint;
  }
  if (!std::isfinite(is))
    return {"subtract-largest",
            "e^x of a float ends at x = 88: subtract each row's largest logit, of all ranks"};
  return {"loss-rule",
          "the sum over rows of log Σ e^(x - m) - (x_label - m), over the classes of all ranks"};
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int r = dist.rank(), p = dist.world_size();
  const std::int64_t batch = *example.count, classes = classes_of(p, batch);
  const std::vector<float> values = logits_of(batch, classes);
  const Tensor logits = from_host(values, {batch, classes});
  const std::vector<std::int32_t> labels = labels_of(batch, classes);
  const Tensor own = column_part(logits, r, p);
  const std::vector<float> before = to_host(own);

  Loss loss;
  loss.sum = std::numeric_limits<double>::quiet_NaN();
  loss.counted = -1;
  loss.correct = kCorrectBefore;
  function(dist, own, classes, labels, loss);

  const LossOf<double> expected = formula::cross_entropy(
      from_host(std::vector<double>(values.begin(), values.end()), {batch, classes}), labels);
  if (auto wrong = compare_number("loss.counted", loss.counted, expected.counted,
                                  {"rows-counted",
                                   "rows whose label is not kIgnoredLabel, whichever rank has the "
                                   "class"}))
    return wrong;
  if (!(std::abs(loss.sum - expected.sum) <= kSumBound * (1 + std::abs(expected.sum)))) {
    return Difference{"loss.sum", -1, fmt::format("{:.6g}", expected.sum),
                      fmt::format("{:.6g}", loss.sum), hint_for(loss.sum, values, labels, r, p)};
  }
  const std::vector<double> gradient = to_host(expected.gradient);
  const Tensor part = column_part(
      from_host(std::vector<float>(gradient.begin(), gradient.end()), {batch, classes}), r, p);
  const auto ranks = static_cast<float>(p);
  const auto counted = static_cast<float>(expected.counted);
  if (auto wrong = compare_tensor(
          "loss.gradient", loss.gradient,
          {part,
           {{{"divided-by-p",
              "it was divided by p: all ranks have the same batch, so there is no mean to take"},
             scaled(part, 1 / ranks)},
            {{"derivative-of-sum",
              "that is the derivative of the sum: divide by how many samples count"},
             scaled(part, counted)},
            {{"divided-by-all-rows",
              "that is divided by all rows: those labelled kIgnoredLabel do not count"},
             scaled(part, counted / static_cast<float>(batch))}},
           {"gradient-rule",
            "(softmax - (1 for the label)) / counted, for this rank's classes; 0 in rows labelled "
            "kIgnoredLabel"}},
          kGradientBound))
    return wrong;
  if (auto wrong = compare_number(
          "loss.correct", loss.correct, kCorrectBefore,
          {"correct-unchanged", "it has to stay as it was: no rank alone knows the largest logit"}))
    return wrong;
  if (to_host(own) != before)
    return Difference{"logits",
                      -1,
                      "unchanged",
                      "changed",
                      {"input-unchanged", "an input, which stays as it was"}};
  return std::nullopt;
}

NativeCalls calls(const Case& example) {
  return {{CollectiveKind::kAllReduce, *example.count},
          {CollectiveKind::kAllReduce, 2 * *example.count}};
}

}  // namespace

Family family::vocab_parallel_cross_entropy() {
  return make_family<Function>(
      "vocab_parallel_cross_entropy",
      "(Comm& dist, const Tensor& logits, std::int64_t classes, std::span<const std::int32_t> "
      "labels, Loss& loss)",
      subject_with_calls(
          [] {
            std::vector<Case> cases = cases_by_rows({1, 2, kAllIgnored, 4, 9});
            cases.push_back({.world_size = 2, .count = kManyRows});
            return cases;
          },
          calls, {check_of_calls(calls)}),
      run);
}

}  // namespace rankbox
