// Judges bf16_gradients: sums that 8 significant bits cannot hold, over micro-batches and ranks.
#include "parallel/bf16_gradients.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "comm/comm.h"
#include "judge/case_lists.h"
#include "judge/checks.h"
#include "judge/compare.h"
#include "judge/salt.h"
#include "judge/training/native_calls.h"
#include "judge/training/parameters.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&bf16_gradients);

constexpr std::int64_t kInfiniteElement = 43;  // the element of rank 0 that is infinite
constexpr std::int64_t kTinyElement = 45;      // the element that is tiny

constexpr float kLeftOver = 7;  // in the main gradient, before the first step

/// Returns 1 to 5. A salt draws it for each element.
float number_at(int rank, int step, int micro_batch, std::int64_t i) {
  if (salt() == 0) return static_cast<float>(rank % 5 + 1);
  const std::uint64_t bits = salted("gradients")
                                 .stream(static_cast<std::uint64_t>(rank))
                                 .stream(static_cast<std::uint64_t>(step))
                                 .stream(static_cast<std::uint64_t>(micro_batch))
                                 .at(static_cast<std::uint64_t>(i));
  return static_cast<float>(bits % 5 + 1);
}

/// Some gradients add up to more than 8 bits. Others are beyond the range of Float16. All sums are
/// exact in 32 bits. In step 1, rank 0 has a NaN. One element is infinite on rank 0, and another
/// one is below the smallest normal number on some ranks.
float gradient_at(int rank, int step, int micro_batch, std::int64_t i) {
  if (rank == 0 && step == 1 && micro_batch == 0 && i == 1)
    return std::numeric_limits<float>::quiet_NaN();
  const float number = number_at(rank, step, micro_batch, i);
  const auto later = static_cast<float>(micro_batch % 3 + 1);
  if (i == kInfiniteElement && rank == 0 && micro_batch == 0)
    return std::numeric_limits<float>::infinity();
  if (i == kTinyElement) return number * later * 0x1p-127F;
  switch (i % 3) {
    case 0:
      // Odd, so that sums need the last bit. All the same without a salt.
      return std::ldexp(micro_batch == 0 ? 256 * number : salt() == 0 ? 1 : 2 * number - 1, step);
    case 1:
      return number * later * std::ldexp(1.0F, 90 + step);
    default:
      return -number * later * std::ldexp(1.0F, step - 90);
  }
}

double sum_of(int rank, int step, int micro_batches, std::int64_t i) {
  double sum = 0;
  for (int m = 0; m < micro_batches; ++m) sum += gradient_at(rank, step, m, i);
  return sum;
}

float mean_of(const Case& example, int step, std::int64_t i) {
  double sum = 0;
  for (int rank = 0; rank < example.world_size; ++rank)
    sum += sum_of(rank, step, *example.segments, i);
  return static_cast<float>(sum / example.world_size);
}

Hint origin(float is, const Case& example, int rank, int step, std::int64_t i) {
  const auto p = static_cast<double>(example.world_size);
  const int micro_batches = *example.segments;
  const double mean = mean_of(example, step, i);
  const auto near = [&](double value) { return std::abs(is - value) <= 1e-5 * std::abs(value); };
  if (!std::isfinite(is) && *example.count == 1)
    return {
        "left-over",
        "what was left over from the step before is still in it: begin anew with micro-batch 0"};
  if (std::isinf(mean))
    return {"infinity-must-show", "rank 0 has an infinite one here: it has to show, on all ranks"};
  if (std::isnan(mean))
    return {"nan-must-show", "rank 0 has a NaN here: it has to show in the mean, on all ranks"};
  if (std::isinf(is) || (is == 0 && mean < 0))
    return {"float16-range",
            "Float16 has not the range for it: BFloat16 widens to a float without a loss"};
  if (near(mean + (step == 0 ? kLeftOver : double{mean_of(example, step - 1, i)})))
    return {
        "left-over",
        "what was left over from the step before is still in it: begin anew with micro-batch 0"};
  if (near(mean * p))
    return {"sum-not-mean", "that is the sum of all ranks' gradients: their mean is wanted"};
  if (near(mean / p)) return {"averaged-twice", "averaged over the ranks twice"};
  if (near(mean / micro_batches))
    return {"divided-by-micro-batches",
            "divided by micro_batches: their losses were divided already, so only ranks are "
            "averaged"};
  if (near(sum_of(rank, step, micro_batches, i)))
    return {"own-sum-alone", "that is this rank's own sum: the other ranks' are missing"};
  if (is == float{BFloat16(is)} && std::abs(is - mean) <= 0.1 * std::abs(mean)) {
    return {
        "added-in-8-bits",
        "it has the 8 bits of a BFloat16, where 256 + 1 = 256: widen before adding, and send 32 "
        "bits"};
  }
  return {"mean-of-sums-in-32-bits",
          "the mean over the ranks of the sum over the micro-batches, in 32 bits"};
}

std::vector<Case> cases() {
  const auto most = static_cast<int>(drawn("micro-batches", 24, 17, 30));
  return cases_with_each(
      {{.segments = 1, .count = 1, .steps = 1},
       {.segments = 2, .count = 1, .steps = 1},
       {.segments = 4, .count = drawn("count", 10, 4, 20), .steps = 1},
       {.segments = 1, .count = 3, .steps = 2},
       {.segments = most, .count = drawn("large count", 97, 50, 150), .steps = 3}});
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const std::int64_t count = *example.count;
  const int micro_batches = *example.segments;
  // After an overflow: 0 times infinity is no zero.
  const bool was_infinite = count == 1 && *example.steps == 1;
  const Shape shape = parameter_shape(count);
  Tensor main_gradient =
      full(shape, was_infinite ? std::numeric_limits<float>::infinity() : kLeftOver);
  for (int step = 0; step < *example.steps; ++step) {
    for (int m = 0; m < micro_batches; ++m) {
      std::vector<BFloat16> values;
      for (std::int64_t i = 0; i < count; ++i)
        values.emplace_back(gradient_at(dist.rank(), step, m, i));
      const TensorOf<BFloat16> gradient = from_host(values, shape);
      function(dist, gradient, m, micro_batches, main_gradient);
    }
    auto wrong = compare(
        *example.steps == 1 ? "main_gradient" : fmt::format("main_gradient of step {}", step),
        main_gradient, count, [&](std::int64_t i) { return mean_of(example, step, i); },
        [&](float is, std::int64_t i) { return origin(is, example, dist.rank(), step, i); }, 4e-6F);
    if (!wrong) wrong = compare_parameter_shape("main_gradient", main_gradient);
    if (wrong) return wrong;
  }
  return std::nullopt;
}

NativeCalls calls(const Case& example) {
  return repeated(*example.steps, {{CollectiveKind::kAllReduce, *example.count}});
}

/// A bound: `main_gradient += wide` counts as additions, a loop over elements does not.
Cost cost(const Case& example) {
  Cost most = cost_of(calls(example), example.world_size);
  most.reduced +=
      static_cast<double>(*example.steps * *example.segments * *example.count * kElementBytes);
  return most;
}

std::optional<Difference> compare_schedule(const RunReport& report, const Case& example) {
  if (example.world_size == 1) return std::nullopt;
  const auto& events = report.trace.ranks.front();
  const auto actual = std::count_if(events.begin(), events.end(), [](const Event& event) {
    return event.kind == EventKind::kCollective && event.collective == CollectiveKind::kAllReduce;
  });
  // As many bytes in more calls are another mistake, which the cost names.
  if (actual <= *example.steps || report.cost.bytes <= cost(example).bytes) return std::nullopt;
  return Difference{"all-reduces",
                    -1,
                    fmt::format("{}", *example.steps),
                    fmt::format("{}", actual),
                    {"send-once-a-step",
                     "gradients add up without messages, and travel once a step, after the last "
                     "micro-batch"},
                    0};
}

Subject subject() {
  Subject made = subject_with_calls(cases, calls, {check_of(FailureKind::kCost, compare_schedule)});
  made.cost = cost;
  made.may_cost_less = [](const Case&) { return true; };
  return made;
}

}  // namespace

Family family::bf16_gradients() {
  return make_family<Function>(
      "bf16_gradients",
      "(Comm& dist, const TensorOf<BFloat16>& gradient, int micro_batch, int micro_batches, "
      "Tensor& "
      "main_gradient)",
      subject(), run);
}

}  // namespace rankbox
