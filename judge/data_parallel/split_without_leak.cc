// Judges split_without_leak: all ranks hold out the same samples.
#include "parallel/split_without_leak.h"

#include <algorithm>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/salt.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"
#include "training/data/sampler.h"

namespace rankbox {

namespace {

using Function = decltype(&split_without_leak);

/// Exceeds what 32 bits, and a double, hold, and differs on every rank. A salt draws each on its
/// own.
std::int64_t seed_of(int rank) {
  const std::int64_t least = std::int64_t{1} << 40;
  const std::int64_t fixed = (std::int64_t{1} << 62) + (rank + 3) * least + 17 * rank + 5;
  return drawn(fmt::format("seed {}", rank), fixed, least, INT64_MAX - 1);
}

/// Returns how many of these samples are held out: a part, all, or none.
std::int64_t held_out_of(std::int64_t samples) {
  if (samples % 5 == 4) return 0;
  return samples % 5 == 1 ? samples : (samples + 3) / 4;
}

std::optional<Difference> compare_list(const char* what, const std::vector<std::int64_t>& actual,
                                       const std::vector<std::int64_t>& expected,
                                       const std::vector<std::int64_t>& trained_elsewhere) {
  if (actual.size() != expected.size()) {
    return Difference{what,
                      -1,
                      fmt::format("{} samples", expected.size()),
                      fmt::format("{} samples", actual.size()),
                      {}};
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    const bool leaks = std::find(trained_elsewhere.begin(), trained_elsewhere.end(), actual[i]) !=
                       trained_elsewhere.end();
    return Difference{
        what, static_cast<std::int64_t>(i), fmt::format("sample {}", expected[i]),
        fmt::format("sample {}", actual[i]),
        leaks ? Hint("leak",
                     "other ranks train with it: a leak. The split is made with the seed of "
                     "rank 0")
              : Hint("order-of-rank-0-seed",
                     "the order is shuffled(samples, seed, 0), with rank 0's seed")};
  }
  return std::nullopt;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const std::int64_t samples = *example.count;
  const std::int64_t held_out = held_out_of(samples);
  const auto order = shuffled(samples, static_cast<std::uint64_t>(seed_of(0)), 0);
  const std::vector<std::int64_t> held(order.begin(), order.begin() + held_out);
  const std::vector<std::int64_t> others(order.begin() + held_out, order.end());

  std::vector<std::int64_t> train = {-1};
  std::vector<std::int64_t> validation = {-1, -1};  // to be overwritten
  function(dist, samples, held_out, seed_of(dist.rank()), train, validation);
  if (auto wrong = compare_list("validation", validation, held, others)) return wrong;
  return compare_list("train", train, others, {});
}

NativeCalls calls(const Case& /*example*/) {
  return {{CollectiveKind::kBroadcast, 2}};  // 8 bytes, as 2 floats
}

}  // namespace

Family family::split_without_leak() {
  return make_family<Function>(
      "split_without_leak",
      "(Comm& dist, std::int64_t samples, std::int64_t held_out, std::int64_t seed, "
      "std::vector<std::int64_t>& train, std::vector<std::int64_t>& validation)",
      subject_with_calls(cases_by_count, calls), run);
}

}  // namespace rankbox
