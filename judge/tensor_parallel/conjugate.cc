// Judges conjugate_f and conjugate_g: a sum over ranks in one direction, and nothing in the other.
#include <algorithm>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/inputs.h"
#include "judge/origin_of_reduction.h"
#include "judge/training/native_calls.h"
#include "judge/training/parameters.h"
#include "judge/training_families.h"
#include "parallel/conjugate_f.h"
#include "parallel/conjugate_g.h"
#include "parallel/direction.h"
#include "training/rows.h"

namespace rankbox {

namespace {

using Function = decltype(&rankbox::conjugate_f);
static_assert(std::is_same_v<Function, decltype(&rankbox::conjugate_g)>);

Hint origin(float is, float own, float sum, bool sums, const std::vector<float>& summands) {
  if (sums && is == own)
    return {"own-summand-alone", "that is this rank's own: the others' are to be added"};
  if (sums && is == sum / static_cast<float>(summands.size()))
    return {"mean-not-sum", "that is the mean: sum across ranks; do not average"};
  if (!sums && is == sum)
    return {"sum-in-wrong-direction",
            "that is the sum over the ranks: in this direction all have the whole of it, and "
            "nothing travels (f and g the wrong way round?)"};
  return sums ? origin_of_reduction(ReduceOp::SUM, is, summands) : Hint();
}

/// In some cases one rank's summand is all zeros. That rank takes part nevertheless.
bool is_zero(int rank, const Case& example) {
  return *example.count == 2 && rank > 0 && rank == example.world_size - 1;
}

/// In some cases the last element of rank 0 is NaN.
bool has_nan(std::int64_t i, const Case& example) {
  return *example.count > 2 && i == *example.count - 1;
}

template <Direction kSumming>
std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size();
  const Shape shape = *example.count == 0 ? Shape{2, 0} : parameter_shape(*example.count);
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> shares =
      to_host(shares_of(ReduceOp::SUM, dist.rank(), *example.count, p));
  std::vector<float> summands = shares;
  if (is_zero(dist.rank(), example)) std::fill(summands.begin(), summands.end(), 0.0F);
  if (dist.rank() == 0 && has_nan(*example.count - 1, example)) summands.back() = kNaN;
  const Tensor summed = from_host(summands, shape);
  // What stays as it is may be anything.
  std::vector<float> anything = shares;
  if (anything.size() > 1) anything.back() = kNaN;
  if (anything.size() > 2) anything.front() = -kInfinity;
  const Tensor kept = from_host(anything, shape);

  Tensor forward = kSumming == Direction::kForward ? summed : kept;
  Tensor backward = kSumming == Direction::kBackward ? summed : kept;
  function(dist, Direction::kForward, forward);
  function(dist, Direction::kBackward, backward);
  if (!is_exact(example)) return std::nullopt;  // too large to judge: only drawn

  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    const bool is_forward = direction == Direction::kForward;
    const bool sums = direction == kSumming;
    const Tensor& actual = is_forward ? forward : backward;
    const char* const what = is_forward ? "forward: tensor" : "backward: tensor";
    if (auto wrong = compare_shape(what, actual.shape(), shape)) return wrong;
    const auto own = [&](std::int64_t i) {
      return (sums ? summands : anything)[static_cast<std::size_t>(i)];
    };
    const auto sum = [&](std::int64_t i) {
      if (has_nan(i, example)) return kNaN;
      const float all = reduced(ReduceOp::SUM, i, p);
      return is_zero(p - 1, example) ? all - share(ReduceOp::SUM, p - 1, i, p) : all;
    };
    auto wrong = compare(
        what, actual, *example.count, [&](std::int64_t i) { return sums ? sum(i) : own(i); },
        [&](float is, std::int64_t i) {
          std::vector<float> all = shares_at(ReduceOp::SUM, i, p);
          if (is_zero(p - 1, example)) all.back() = 0;
          return origin(is, own(i), sum(i), sums, all);
        });
    if (wrong) return wrong;
  }
  return std::nullopt;
}

NativeCalls calls(const Case& example) { return {{CollectiveKind::kAllReduce, *example.count}}; }

Family conjugate(const char* name, RunFunction<Function> run) {
  return make_family<Function>(name, "(Comm& dist, Direction direction, Tensor& tensor)",
                               subject_with_calls(cases_by_count, calls, {check_of_calls(calls)}),
                               run);
}

}  // namespace

Family family::conjugate_f() { return conjugate("conjugate_f", run<Direction::kBackward>); }
Family family::conjugate_g() { return conjugate("conjugate_g", run<Direction::kForward>); }

}  // namespace rankbox
