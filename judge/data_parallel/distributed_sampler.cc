// Judges distributed_sampler: the samples of a rank, their order, and the number that is padding.
#include "parallel/distributed_sampler.h"

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/salt.h"
#include "judge/training_families.h"
#include "training/data/sampler.h"

namespace rankbox {

namespace {

using Function = decltype(&distributed_sampler);

/// Returns the share, built one sample at a time: position `at` of the order, which wraps around.
Share expected_share(std::int64_t samples, const SamplerOptions& options) {
  Share share;
  const std::vector<std::int64_t> order = shuffled(samples, options.seed, options.epoch);
  const std::int64_t p = options.world_size;
  const std::int64_t used = options.drop_last ? samples - samples % p : samples;
  for (std::int64_t at = options.rank; at - options.rank < used; at += p) {
    const std::int64_t wrapped = at % samples;
    share.samples.push_back(options.shuffle ? order[static_cast<std::size_t>(wrapped)] : wrapped);
    share.padding += at >= samples ? 1 : 0;
  }
  return share;
}

std::string in_words(const SamplerOptions& options) {
  return fmt::format("the share of rank {} ({}{}epoch {})", options.rank,
                     options.shuffle ? "shuffled, " : "", options.drop_last ? "drop_last, " : "",
                     options.epoch);
}

std::optional<Difference> compare_share(const Share& actual, const Share& expected,
                                        const SamplerOptions& options) {
  const std::string what = in_words(options);
  if (actual.samples.size() != expected.samples.size()) {
    return Difference{
        what,
        -1,
        fmt::format("{} samples", expected.samples.size()),
        fmt::format("{} samples", actual.samples.size()),
        {"equally-many-samples", "all ranks need equally many: pad, or drop the last ones"}};
  }
  for (std::size_t i = 0; i < expected.samples.size(); ++i) {
    if (actual.samples[i] == expected.samples[i]) continue;
    return Difference{
        what, static_cast<std::int64_t>(i), fmt::format("sample {}", expected.samples[i]),
        fmt::format("sample {}", actual.samples[i]),
        options.shuffle ? Hint("same-shuffle-on-all-ranks",
                               "the order is shuffled(samples, seed, epoch), the same on all ranks")
                        : Hint()};
  }
  if (actual.padding == expected.padding) return std::nullopt;
  return Difference{what,
                    -1,
                    fmt::format("a padding of {}", expected.padding),
                    fmt::format("a padding of {}", actual.padding),
                    {"padding-counts-once",
                     "samples that another rank has already: they should not count twice"}};
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  // All 64 bits of the seed count, and 63 of an epoch.
  const std::uint64_t seed =
      (std::uint64_t{1} << 63) |
      static_cast<std::uint64_t>(drawn("seed", (std::int64_t{11} << 32) + 11, 1, INT64_MAX - 1));
  for (const bool shuffle : {false, true}) {
    for (const bool drop_last : {false, true}) {
      for (const std::int64_t epoch : {std::int64_t{0}, std::int64_t{1},
                                       (std::int64_t{1} << 62) + drawn("epoch", 5, 2, 1000)}) {
        const SamplerOptions options{.rank = dist.rank(),
                                     .world_size = dist.world_size(),
                                     .shuffle = shuffle,
                                     .drop_last = drop_last,
                                     .seed = seed,
                                     .epoch = epoch};
        Share share{{-1, -1}, 5};  // to be overwritten
        function(*example.count, options, share);
        if (auto wrong = compare_share(share, expected_share(*example.count, options), options))
          return wrong;
      }
    }
  }
  return std::nullopt;
}

/// Also more samples than 16 bits count.
std::vector<Case> cases() {
  std::vector<Case> all = cases_by_count();
  all.push_back({.world_size = 3, .count = drawn("many samples", 70'001, 66'000, 75'000)});
  return all;
}

}  // namespace

Family family::distributed_sampler() {
  return make_family<Function>(
      "distributed_sampler", "(std::int64_t samples, const SamplerOptions& options, Share& share)",
      {.cases = cases, .sends_messages = false}, run);
}

}  // namespace rankbox
