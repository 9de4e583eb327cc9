// Who gets which samples, when.
#include <algorithm>
#include <map>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "parallel/distributed_sampler.h"
#include "training/cross_entropy.h"
#include "training/data/data_loader.h"

namespace rankbox {
namespace {

/// n samples of two elements: {i, 10 i}, label i % 3.
Dataset counting(std::int64_t n) {
  Dataset dataset{.sample_shape = 2, .values = {}, .labels = {}, .classes = 3};
  for (std::int64_t i = 0; i < n; ++i) {
    dataset.values.push_back(static_cast<float>(i));
    dataset.values.push_back(static_cast<float>(10 * i));
    dataset.labels.push_back(static_cast<std::int32_t>(i % 3));
  }
  return dataset;
}

Share dealt(std::int64_t samples, const SamplerOptions& options) {
  Share share;
  distributed_sampler(samples, options, share);
  return share;
}

constexpr std::int64_t kSamples[] = {0, 1, 2, 3, 7, 8, 64, 101};
constexpr int kRanks[] = {1, 2, 3, 4, 5, 8, 17};

TEST_CASE("padded: equal shares, every sample once, and the rest is marked as padding") {
  for (const std::int64_t n : kSamples) {
    for (const int p : kRanks) {
      for (const bool shuffle : {false, true}) {
        CAPTURE(n);
        CAPTURE(p);
        std::vector<int> seen(static_cast<std::size_t>(n));
        for (int rank = 0; rank < p; ++rank) {
          const Share share = dealt(n, {.rank = rank, .world_size = p, .shuffle = shuffle});
          CHECK(static_cast<std::int64_t>(share.samples.size()) == (n + p - 1) / p);
          const auto counted = static_cast<std::int64_t>(share.samples.size()) - share.padding;
          for (std::int64_t i = 0; i < counted; ++i)
            ++seen[static_cast<std::size_t>(share.samples[static_cast<std::size_t>(i)])];
        }
        CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
      }
    }
  }
}

TEST_CASE("dropping: equal shares, no sample twice, fewer than p left out, no padding") {
  for (const std::int64_t n : kSamples) {
    for (const int p : kRanks) {
      CAPTURE(n);
      CAPTURE(p);
      std::map<std::int64_t, int> seen;
      for (int rank = 0; rank < p; ++rank) {
        const Share share = dealt(n, {.rank = rank, .world_size = p, .drop_last = true});
        CHECK(static_cast<std::int64_t>(share.samples.size()) == n / p);
        CHECK(share.padding == 0);
        for (const std::int64_t sample : share.samples) CHECK(++seen[sample] == 1);
      }
      CHECK(static_cast<std::int64_t>(seen.size()) == n / p * p);
    }
  }
}

TEST_CASE("unshuffled, the shares are those that torch's DistributedSampler gives") {
  const auto share = [](int rank, bool drop) {
    return dealt(7, {.rank = rank, .world_size = 3, .shuffle = false, .drop_last = drop}).samples;
  };
  CHECK(share(0, false) == std::vector<std::int64_t>{0, 3, 6});
  CHECK(share(1, false) == std::vector<std::int64_t>{1, 4, 0});
  CHECK(share(2, false) == std::vector<std::int64_t>{2, 5, 1});
  CHECK(share(2, true) == std::vector<std::int64_t>{2, 5});
}

TEST_CASE("epochs and seeds differ; the same ones are the same") {
  const auto order = [](std::uint64_t seed, std::int64_t epoch) {
    return dealt(100, {.seed = seed, .epoch = epoch}).samples;
  };
  CHECK(order(1, 0) == order(1, 0));
  CHECK(order(1, 0) != order(1, 1));
  CHECK(order(1, 0) != order(2, 0));
  CHECK(order(1, 1) != order(2, 0));
}

TEST_CASE("a global batch is the union of the ranks' batches: p ranks see what one would see") {
  const Dataset dataset = counting(101);
  for (const int p : {2, 4}) {
    DataLoader one(dataset, {.batch = 8});
    for (std::int64_t i = 0; i < one.size(); ++i) {
      std::vector<std::int64_t> together;
      for (int rank = 0; rank < p; ++rank) {
        DataLoader part(dataset, {.batch = 8 / p, .rank = rank, .world_size = p},
                        distributed_sampler);
        CHECK(part.size() == one.size());
        const Batch batch = part.batch(i);
        together.insert(together.end(), batch.samples.begin(), batch.samples.end() - batch.padding);
      }
      std::vector<std::int64_t> expected = one.batch(i).samples;
      std::sort(together.begin(), together.end());
      std::sort(expected.begin(), expected.end());
      CHECK(together == expected);
    }
  }
}

TEST_CASE("batches hold the samples' values and labels; the last may be smaller, or is dropped") {
  const Dataset dataset = counting(10);
  DataLoader loader(dataset, {.batch = 4});
  loader.set_epoch(3);
  REQUIRE(loader.size() == 3);
  for (std::int64_t i = 0; i < 3; ++i) {
    const Batch batch = loader.batch(i);
    CHECK(batch.x.shape() == Shape{i == 2 ? 2 : 4, 2});
    for (std::size_t k = 0; k < batch.samples.size(); ++k) {
      const auto sample = static_cast<float>(batch.samples[k]);
      CHECK(to_host(batch.x)[static_cast<std::size_t>(2 * k)] == sample);
      CHECK(to_host(batch.x)[static_cast<std::size_t>(2 * k + 1)] == 10 * sample);
      CHECK(batch.labels[k] == batch.samples[k] % 3);
    }
  }
  CHECK(DataLoader(dataset, {.batch = 4, .drop_last = true}).size() == 2);
}

TEST_CASE("set_epoch deals anew; without it the order stays") {
  const Dataset dataset = counting(50);
  DataLoader loader(dataset, {.batch = 50});
  const auto first = loader.batch(0).samples;
  CHECK(loader.batch(0).samples == first);
  loader.set_epoch(1);
  CHECK(loader.batch(0).samples != first);
  loader.set_epoch(0);
  CHECK(loader.batch(0).samples == first);
}

TEST_CASE("padding is known to the batch and the micro-batch that it lies in, and not counted") {
  const Dataset dataset = counting(9);
  DataLoader loader(dataset, {.batch = 2, .shuffle = false, .rank = 3, .world_size = 4},
                    distributed_sampler);
  CHECK(loader.batch(0).padding == 0);  // 3, 7
  const Batch last = loader.batch(1);   // 11: beyond the end, so 2 once more
  CHECK(last.samples == std::vector<std::int64_t>{2});
  CHECK(last.padding == 1);
  CHECK(last.labels_without_padding() == std::vector<std::int32_t>{kIgnoredLabel});

  std::vector<std::int64_t> samples = {4, 5, 6, 0};
  Batch batch = gather_batch(dataset, samples);
  batch.padding = 1;
  CHECK(micro_batch(batch, 0, 2).padding == 0);
  CHECK(micro_batch(batch, 2, 4).padding == 1);
  CHECK(micro_batch(batch, 2, 4).labels_without_padding() ==
        std::vector<std::int32_t>{0, kIgnoredLabel});
  CHECK(to_host(micro_batch(batch, 1, 3).x) == std::vector<float>{5, 50, 6, 60});
  CHECK(micro_batch(batch, 4, 4).size() == 0);
}

TEST_CASE("a sampler of one's own can be given") {
  const Dataset dataset = counting(5);
  const auto last_sample = [](std::int64_t samples, const SamplerOptions& options, Share& share) {
    share = {{samples - 1, options.epoch}, 0};
  };
  DataLoader loader(dataset, {.batch = 8}, last_sample);
  loader.set_epoch(2);
  CHECK(loader.batch(0).samples == std::vector<std::int64_t>{4, 2});
}

TEST_CASE("what cannot be is refused") {
  const Dataset dataset = counting(5);
  CHECK_THROWS_AS(DataLoader(dataset, {.batch = 0}), InvalidArgument);
  CHECK_THROWS_AS(DataLoader(dataset, {.rank = 2, .world_size = 2}), InvalidArgument);
  CHECK_THROWS_AS(DataLoader(dataset, {}).batch(1), InvalidArgument);
  CHECK_THROWS_AS(DataLoader(dataset, {}).batch(-1), InvalidArgument);
  const std::vector<std::int64_t> outside = {5};
  CHECK_THROWS_AS(gather_batch(dataset, outside), InvalidArgument);
  CHECK_THROWS_AS(micro_batch(DataLoader(dataset, {}).batch(0), 3, 6), InvalidArgument);
}

}  // namespace
}  // namespace rankbox
