// Judges conjugate_f and conjugate_g: a sum over ranks in one direction, and nothing in the other.
#include <type_traits>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/inputs.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"
#include "parallel/conjugate_f.h"
#include "parallel/conjugate_g.h"
#include "parallel/direction.h"

namespace rankbox {

namespace {

using Function = decltype(&rankbox::conjugate_f);
static_assert(std::is_same_v<Function, decltype(&rankbox::conjugate_g)>);

std::string origin(float is, float own, float sum, bool sums, int world_size) {
  if (sums && is == own) return "that is this rank's own: the others' are to be added";
  if (sums && is == sum / static_cast<float>(world_size))
    return "that is the mean: sum across ranks; do not average";
  if (!sums && is == sum)
    return "that is the sum over the ranks: in this direction all have the whole of it, and "
           "nothing travels (f and g the wrong way round?)";
  return origin_of_reduction(ReduceOp::SUM, is, 0, world_size);
}

template <Direction kSumming>
std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size();
  Tensor forward = shares_of(ReduceOp::SUM, dist.rank(), *example.count, p);
  Tensor backward = clone(forward);
  function(dist, Direction::kForward, forward);
  function(dist, Direction::kBackward, backward);
  if (!is_exact(example)) return std::nullopt;  // too large to judge: only drawn

  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    const bool is_forward = direction == Direction::kForward;
    const bool sums = direction == kSumming;
    const auto own = [&](std::int64_t i) { return share(ReduceOp::SUM, dist.rank(), i, p); };
    const auto sum = [&](std::int64_t i) { return reduced(ReduceOp::SUM, i, p); };
    auto wrong = compare(
        is_forward ? "forward: tensor" : "backward: tensor", is_forward ? forward : backward,
        *example.count, [&](std::int64_t i) { return sums ? sum(i) : own(i); },
        [&](float is, std::int64_t i) { return origin(is, own(i), sum(i), sums, p); });
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
