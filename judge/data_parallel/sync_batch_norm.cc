// Judges sync_batch_norm: batch norm over the global batch, whose parts differ in size.
#include "parallel/sync_batch_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/formulas/formulas.h"
#include "judge/salt.h"
#include "judge/training/native_calls.h"
#include "judge/training/parameters.h"
#include "judge/training_families.h"
#include "training/random.h"

namespace rankbox {

namespace {

using Function = decltype(&sync_batch_norm);

constexpr std::int64_t kMostOfMostCases = 160;
constexpr std::int64_t kManyRows = 1000;  // one case has more, and one between the two

/// Some cases have other features and another ε than most.
std::int64_t features_of(std::int64_t count) {
  if (count == 1) return 1;
  if (count > kManyRows) return 40;
  if (count > kMostOfMostCases) return drawn("many features", 130, 100, 200);
  return count == 2 ? 5 : drawn("features", 3, 2, 6);
}
float epsilon_of(std::int64_t count) {
  if (count == 3) return 1e-7F;
  return static_cast<float>(count == 2 ? 5000 : drawn("epsilon", 10, 1, 1000)) * 1e-4f;
}

constexpr double kBound = 2e-4;  // float error after subtracting numbers of about 30

/// How far x is from 0: in some cases so far that a mean in 32 bits would be wrong.
double distance_of(std::int64_t count) {
  const double distance = count > 20 ? 20'000 : 30;
  return count % 2 == 0 ? distance : -distance;
}

/// Likewise dy, of which there have to be many.
double distance_of_dy(std::int64_t count) { return count > kManyRows ? 200 : 0; }

/// The part sizes of the batch: a different number of samples on every rank, none on some.
std::int64_t rows_of(int rank, std::int64_t count) { return (count + 2 * rank) % (count + 3); }

/// A rank's part: x is far from 0, so its variance is a small difference of large numbers.
struct Part {
  std::vector<float> x;
  std::vector<float> dy;
};

Part part_of(int rank, std::int64_t count) {
  Random random = Random(5 ^ salt()).stream(static_cast<std::uint64_t>(rank));
  Part part;
  const std::int64_t features = features_of(count);
  for (std::int64_t i = 0; i < rows_of(rank, count) * features; ++i) {
    const std::int64_t feature = i % features;
    // A feature may be the same in all samples; then its variance is 0.
    const double noise = feature > 0 && feature == features - 1
                             ? 0
                             : rank + static_cast<double>(feature + 1) * random.normal();
    part.x.push_back(static_cast<float>(distance_of(count) + noise));
    part.dy.push_back(static_cast<float>(distance_of_dy(count) + random.uniform(-1, 1)));
  }
  // In one case a feature is NaN in a sample of rank 0.
  if (count == 2 && rank == 0) part.x.front() = std::numeric_limits<float>::quiet_NaN();
  return part;
}

/// Normalizes a batch, feature by feature, as the formulas state.
formula::Normalized normalize(const Part& batch, std::int64_t count) {
  const std::int64_t features = features_of(count);
  const Shape shape = {std::ssize(batch.x) / features, features};
  const auto doubles = [&](const std::vector<float>& elements) {
    return from_host(std::vector<double>(elements.begin(), elements.end()), shape);
  };
  return formula::batch_norm(doubles(batch.x), doubles(batch.dy), double{epsilon_of(count)});
}

/// Compares this rank's part, which begins at row `begin` of the whole.
std::optional<Difference> compare_part(const char* what, const Tensor& actual,
                                       const TensorOf<double>& of_whole, std::size_t begin,
                                       const TensorOf<double>& of_alone) {
  const std::vector<double> whole = to_host(of_whole), alone = to_host(of_alone);
  const std::vector<float> is = to_host(actual);
  for (std::size_t i = 0; i < is.size(); ++i) {
    const double should_be = whole[begin + i];
    if (std::isnan(should_be) && std::isnan(is[i])) continue;
    if (std::abs(is[i] - should_be) <= kBound * (1 + std::abs(should_be))) continue;  // not NaN
    const bool local = std::abs(is[i] - alone[i]) <= kBound * (1 + std::abs(alone[i]));
    return Difference{
        what, static_cast<std::int64_t>(i), in_words(static_cast<float>(should_be)),
        in_words(is[i]),
        local ? Hint("own-samples-alone",
                     "that is what this rank's own samples give: the others' are "
                     "missing")
        : std::isnan(should_be)
            ? Hint("nan-of-feature", "a sample of this feature is NaN: so all of them become NaN")
        : std::isnan(is[i]) ? Hint("never-written-or-0-by-0", "it was never written, or is 0/0")
                            : Hint("sums-before-division",
                                   "sums and counts of all ranks first, then divide: as "
                                   "doubles")};
  }
  return std::nullopt;
}

std::vector<Case> cases() {
  std::vector<Case> cases = cases_by_count();
  std::erase_if(cases, [](const Case& example) { return *example.count > kMostOfMostCases; });
  cases.push_back({.world_size = 2, .count = drawn("some rows", 200, 180, 240)});
  cases.push_back({.world_size = 2, .count = drawn("rows", 5000, 4200, 6000)});
  return cases;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  Part whole;
  std::size_t begin = 0;
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    if (rank == dist.rank()) begin = whole.x.size();
    const Part part = part_of(rank, *example.count);
    whole.x.insert(whole.x.end(), part.x.begin(), part.x.end());
    whole.dy.insert(whole.dy.end(), part.dy.begin(), part.dy.end());
  }
  const Part mine = part_of(dist.rank(), *example.count);
  const Shape shape = {rows_of(dist.rank(), *example.count), features_of(*example.count)};
  const Tensor x = from_host(mine.x, shape);
  const Tensor dy = from_host(mine.dy, shape);
  Tensor y = full(shape, std::numeric_limits<float>::quiet_NaN());
  Tensor dx = full(shape, std::numeric_limits<float>::quiet_NaN());

  function(dist, x, dy, epsilon_of(*example.count), y, dx);

  for (const Tensor* out : {&y, &dx}) {
    if (auto wrong = compare_shape(out == &y ? "y" : "dx", out->shape(), shape)) return wrong;
  }
  const formula::Normalized expected = normalize(whole, *example.count);
  const formula::Normalized alone = normalize(mine, *example.count);
  if (auto wrong = compare_part("y", y, expected.y, begin, alone.y)) return wrong;
  if (auto wrong = compare_part("dx", dx, expected.dx, begin, alone.dx)) return wrong;
  for (const bool of_x : {true, false}) {
    if (std::ranges::equal(to_host(of_x ? x : dy), of_x ? mine.x : mine.dy, is_same_number))
      continue;
    return Difference{of_x ? "x" : "dy",
                      -1,
                      "unchanged",
                      "changed",
                      {"input-unchanged", "it is an input, and has to stay as it was"}};
  }
  return std::nullopt;
}

NativeCalls calls(const Case& example) {
  // The sums are doubles, each as large as two floats.
  const std::int64_t features = features_of(*example.count);
  return calls_of(CollectiveKind::kAllReduce, {2 * (2 * features + 1), 2 * (2 * features)});
}

}  // namespace

Family family::sync_batch_norm() {
  return make_family<Function>(
      "sync_batch_norm",
      "(Comm& dist, const Tensor& x, const Tensor& dy, float epsilon, Tensor& y, Tensor& dx)",
      subject_with_calls(cases, calls), run);
}

}  // namespace rankbox
