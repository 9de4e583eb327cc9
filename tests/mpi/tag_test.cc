// The contents of a message's tag, and their limits.
#include "mpi/tag.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "mpi/environment.h"
#include "tests/backends/worlds.h"

namespace rankbox::testing {
namespace {

// MPI's guarantee, and the bits of real libraries.
constexpr int kBits[] = {15, 20, 23, 28, 30, 31};

TEST_CASE("a tag fits, names the type, and differs from those of other messages under way") {
  for (int bits : kBits) {
    CAPTURE(bits);
    const mpi::TagFormat tags(bits);
    for (DType dtype : kDTypes) {
      for (std::int64_t count : {0L, 1L, 7L, 65'535L, 65'536L, 1L << 31, 1L << 40}) {
        for (std::uint32_t number : {0u, 1u, 63u, 64u, 4095u, 4096u, 0xffffffffu}) {
          const int tag = tags.tag(number, dtype, count);
          CHECK(tag >= 0);
          CHECK(static_cast<std::int64_t>(tag) < std::int64_t{1} << bits);
          CHECK(mpi::TagFormat::dtype_of(tag) == dtype);
          CHECK(tags.has_number(tag, number));
          for (std::uint32_t other = 1; other < 64; ++other)
            CHECK_FALSE(tags.has_number(tag, number + other));
        }
      }
    }
  }
}

TEST_CASE("small sizes always have different tags, as many as there are bits for") {
  for (int bits : kBits) {
    CAPTURE(bits);
    const mpi::TagFormat tags(bits);
    const std::int64_t sizes = bits < 25 ? 1 << (bits - 3 - 6) : 1 << 16;
    std::set<int> seen;
    for (std::int64_t count = 0; count < sizes; ++count)
      seen.insert(tags.tag(5, DType::kFloat32, count));
    CHECK(static_cast<std::int64_t>(seen.size()) == sizes);
  }
}

TEST_CASE("large sizes share their tag with no size that is likely to be meant instead") {
  for (int bits : {28, 30, 31}) {
    const mpi::TagFormat tags(bits);
    std::vector<std::int64_t> likely;
    for (std::int64_t count = 1; count <= std::int64_t{1} << 31; count *= 2) {
      for (std::int64_t near : {-1, 0, 1}) likely.push_back(count + near);
      likely.push_back(count * 3);
      likely.push_back(count * 5);
    }
    for (std::int64_t count = 10; count <= 1'000'000'000; count *= 10) likely.push_back(count);
    std::sort(likely.begin(), likely.end());
    likely.erase(std::unique(likely.begin(), likely.end()), likely.end());
    std::set<int> seen;
    for (std::int64_t count : likely) seen.insert(tags.tag(1, DType::kFloat32, count));
    CAPTURE(bits);
    CHECK(seen.size() == likely.size());
  }
}

TEST_CASE("more messages are under way than tags have numbers") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      constexpr int kMessages = 5000;  // there are 256 numbers at most
      int wrong = 0;
      if (dist.rank() > 1) return wrong;
      std::vector<TensorOf<std::int32_t>> boxes;
      for (int i = 0; i < kMessages; ++i)
        boxes.push_back(full<std::int32_t>(1, dist.rank() == 0 ? i : -1));
      std::vector<Request> requests;
      for (auto& box : boxes)
        requests.push_back(dist.rank() == 0 ? dist.isend(box, 1) : dist.irecv(box, 0));
      dist.wait_all(requests);
      for (int i = 0; i < kMessages; ++i)
        wrong += to_host(boxes[static_cast<std::size_t>(i)])[0] != i;
      return wrong;
    });
    CHECK(run.results[1] == 0);
  }
}

}  // namespace
}  // namespace rankbox::testing
