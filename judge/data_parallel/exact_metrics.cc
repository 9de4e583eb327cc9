// Judges exact_metrics: loss and accuracy over all ranks' samples.
#include "parallel/exact_metrics.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/salt.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"
#include "parallel/metrics.h"
#include "training/cross_entropy.h"

namespace rankbox {

namespace {

using Function = decltype(&exact_metrics);

/// Each rank has a different number of the `count` samples, and some may have none. Rank 0 has 2^33
/// more, and half of them right: floats round such counts, and 32 bits do not hold them. A salt
/// draws counts, right answers and losses of each rank on their own. Of two samples none is right,
/// and the loss is infinite.
Loss share_of(int rank, int world_size, std::int64_t count) {
  Random random = salted("losses")
                      .stream(static_cast<std::uint64_t>(count))
                      .stream(static_cast<std::uint64_t>(world_size))
                      .stream(static_cast<std::uint64_t>(rank));
  const std::int64_t begin = count * rank * rank / (world_size * world_size);
  const std::int64_t end = count * (rank + 1) * (rank + 1) / (world_size * world_size);
  Loss loss;
  loss.counted = end - begin;
  if (loss.counted > 0 && salt() != 0) loss.counted += random.below(50);
  loss.correct = salt() == 0 ? loss.counted - loss.counted / 3 : random.below(loss.counted + 1);
  if (rank == 0 && count > world_size) {
    loss.counted += (std::int64_t{1} << 33) + 1;
    loss.correct += std::int64_t{1} << 32;
  }
  if (count == 2) loss.correct = 0;
  const double mean = count == 2    ? std::numeric_limits<double>::infinity()
                      : salt() == 0 ? 0.5 + rank
                                    : random.uniform(0.1, 4);
  if (loss.counted > 0) loss.sum = static_cast<double>(loss.counted) * mean;
  return loss;
}

std::optional<Difference> compare_quotient(const char* what, double is, double should_be,
                                           const Hint& hint) {
  if (is == should_be) return std::nullopt;  // also where both are infinite
  if (std::isfinite(should_be) && std::abs(is - should_be) <= 1e-12 * std::abs(should_be))
    return std::nullopt;
  return Difference{what, -1, fmt::format("{}", should_be), fmt::format("{}", is), hint};
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size();
  Loss together;
  for (int rank = 0; rank < p; ++rank) {
    const Loss share = share_of(rank, p, *example.count);
    together.sum += share.sum;
    together.correct += share.correct;
    together.counted += share.counted;
  }

  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Metrics all{kNan, kNan, -1};
  function(dist, share_of(dist.rank(), p, *example.count), all);

  if (auto wrong = compare_number("samples", all.samples, together.counted,
                                  {"count-of-counted",
                                   "what counts is mine.counted: it has no padding; and doubles "
                                   "count further than floats"}))
    return wrong;
  const Hint hint = {"not-mean-of-means",
                     "the sum over all ranks by the count of all ranks, not the mean of means"};
  if (auto wrong = compare_quotient("loss", all.loss, together.mean(), hint)) return wrong;
  return compare_quotient("accuracy", all.accuracy, together.accuracy(), hint);
}

NativeCalls calls(const Case& /*example*/) {
  return {{CollectiveKind::kAllReduce, 6}};  // as many bytes as 3 doubles
}

}  // namespace

Family family::exact_metrics() {
  return make_family<Function>("exact_metrics", "(Comm& dist, const Loss& mine, Metrics& all)",
                               subject_with_calls(cases_by_count, calls), run);
}

}  // namespace rankbox
