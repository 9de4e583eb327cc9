// Shards cover all elements once, for all sizes, and unpack to the same values.
#include "parallel/shard.h"

#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"

namespace rankbox {
namespace {

/// Parameters of these sizes, whose elements count up from 1.
struct Counted {
  explicit Counted(const std::vector<std::int64_t>& sizes) {
    float next = 1;
    for (const std::int64_t size : sizes) {
      std::vector<float> values(static_cast<std::size_t>(size));
      for (float& value : values) value = next++;
      all.push_back({"p" + std::to_string(all.size()), from_host(values)});
    }
    for (Parameter& parameter : all) pointers.push_back(&parameter);
  }
  std::vector<Parameter> all;
  std::vector<Parameter*> pointers;
};

const std::vector<std::vector<std::int64_t>> kSizes = {{1},       {3},       {6, 4},
                                                       {1, 1, 1}, {5, 0, 2}, {97}};

TEST_CASE("all ranks' shards one after the other are the parameters, padded with zeros") {
  for (const auto& sizes : kSizes) {
    for (const int p : {1, 2, 3, 4, 8, 17}) {
      CAPTURE(p);
      Counted whole(sizes);
      const std::int64_t elements = count_elements(whole.pointers);
      Tensor flat = flat_for(make_shard(whole.pointers, 0, p), p);
      CHECK(flat.size() == shard_size(elements, p) * p);
      CHECK(flat.size() - elements < p);
      for (int rank = 0; rank < p; ++rank)
        copy(chunk(flat, rank, p), make_shard(whole.pointers, rank, p).mine.value);
      std::vector<float> expected(static_cast<std::size_t>(flat.size()), 0);
      std::iota(expected.begin(), expected.begin() + elements, 1.0f);
      CHECK(to_host(flat) == expected);

      // And back, into parameters that have no memory.
      const Shard shard = make_shard(whole.pointers, p - 1, p);
      Counted back(sizes);
      drop_values(back.pointers);
      unpack_values(flat, shard, back.pointers);
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        CHECK(back.all[k].value.shape() == whole.all[k].value.shape());
        CHECK(to_host(back.all[k].value) == to_host(whole.all[k].value));
      }
    }
  }
}

TEST_CASE("gradients are packed in their places, an empty one as zeros") {
  Counted whole({2, 3, 1});
  const Shard shard = make_shard(whole.pointers, 0, 4);
  whole.all[0].gradient = from_host({1.0f, 2.0f});
  whole.all[2].gradient = from_host({6.0f});
  Tensor flat = full(8, 9.0f);
  pack_gradients(whole.pointers, shard, flat);
  CHECK(to_host(flat) == std::vector<float>{1, 2, 0, 0, 0, 6, 0, 0});
  // Their sizes come from the shard: values may be absent.
  drop_values(whole.pointers);
  flat = full(8, 9.0f);
  pack_gradients(whole.pointers, shard, flat);
  CHECK(to_host(flat) == std::vector<float>{1, 2, 0, 0, 0, 6, 0, 0});
}

TEST_CASE("an optimizer takes the shards that have elements") {
  Counted whole({4});
  std::vector<Shard> shards;
  shards.push_back(make_shard(whole.pointers, 1, 2));
  shards.push_back(make_shard({}, 1, 2));
  CHECK(mine_of(shards) == std::vector<Parameter*>{&shards[0].mine});
}

TEST_CASE("parameters that do not fit are refused in one line") {
  Counted whole({4, 4}), other({4});
  const Shard shard = make_shard(whole.pointers, 0, 2);
  Tensor small = zeros(7), flat = zeros(8);
  CHECK_THROWS_AS(pack_gradients(whole.pointers, shard, small), InvalidArgument);
  CHECK_THROWS_AS(unpack_values(small, shard, whole.pointers), InvalidArgument);
  CHECK_THROWS_AS(unpack_values(flat, shard, other.pointers), InvalidArgument);
}

}  // namespace
}  // namespace rankbox
