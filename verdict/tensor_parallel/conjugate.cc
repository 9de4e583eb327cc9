#include "verdict/tensor_parallel/conjugate.h"

#include "verdict/compare.h"
#include "verdict/inputs.h"
#include "verdict/tables.h"

namespace rankbox {

namespace {

std::string origin(float is, float own, float sum, bool sums, int world_size) {
  if (sums && is == own) return "that is this rank's own: the others' are to be added";
  if (sums && is == sum / static_cast<float>(world_size))
    return "that is the mean: each rank's is a summand, so their sum is wanted";
  if (!sums && is == sum)
    return "that is the sum over the ranks: in this direction all have the whole of it, and "
           "nothing "
           "travels (f and g the wrong way round?)";
  return origin_of_reduction(ReduceOp::SUM, is, 0, world_size);
}

}  // namespace

std::vector<Case> Conjugate::cases() const { return cases_by_count(); }

std::optional<Difference> Conjugate::run(Comm& dist, const Case& example) const {
  const int p = dist.world_size();
  const std::int64_t count = *example.count;
  Tensor forward = shares_of(ReduceOp::SUM, dist.rank(), count, p);
  Tensor backward = clone(forward);
  function_(dist, Direction::kForward, forward);
  function_(dist, Direction::kBackward, backward);

  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    const bool is_forward = direction == Direction::kForward;
    const bool sums = direction == summing_;
    const auto own = [&](std::int64_t i) { return share(ReduceOp::SUM, dist.rank(), i, p); };
    const auto sum = [&](std::int64_t i) { return reduced(ReduceOp::SUM, i, p); };
    auto difference = compare(
        is_forward ? "forward: tensor" : "backward: tensor", is_forward ? forward : backward, count,
        [&](std::int64_t i) { return sums ? sum(i) : own(i); },
        [&](float is, std::int64_t i) { return origin(is, own(i), sum(i), sums, p); });
    if (difference) return difference;
  }
  return std::nullopt;
}

std::vector<NativeCall> Conjugate::exchanges(const Case& example) const {
  return {{CollectiveKind::kAllReduce, *example.count}};
}

}  // namespace rankbox
