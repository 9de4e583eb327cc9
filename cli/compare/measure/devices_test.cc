// The ranks' devices and the memory check.
#include "cli/compare/measure/devices.h"

#include <doctest/doctest.h>

#include "cli/compare/measure/backend.h"
#include "comm/run_ranks.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

Device gpu(const char* host, const char* bus, std::int64_t ranks = 1, std::int64_t memory = 1000) {
  return {host, 7, 0, bus, "NVIDIA H200", memory, ranks};
}

TEST_CASE("every rank learns of all, in the order of the ranks") {
  const int world_size = launch().processes == 0 ? 3 : launch().processes;
  const auto [all, report] = run_ranks({.world_size = world_size}, [](Comm& dist) {
    const std::string long_name(1000, 'x');
    return gather_devices(dist, {"host", 100 + dist.rank(), dist.rank(), "cpu", long_name, 5});
  });
  for (const std::vector<Device>& devices : all) {
    REQUIRE(devices.size() == static_cast<std::size_t>(world_size));
    for (int rank = 0; rank < world_size; ++rank) {
      const Device& device = devices[static_cast<std::size_t>(rank)];
      CHECK(device.host == "host");
      CHECK(device.process == 100 + rank);
      CHECK(device.number == rank);
      CHECK(device.bus == "cpu");
      CHECK(device.name == std::string(120, 'x'));
      CHECK(device.memory_bytes == 5);
      CHECK(device.ranks == world_size);
    }
  }
}

TEST_CASE("ranks of the sandbox share one list, so that a large world's takes little memory") {
  if (std::string(backend_name()) != "sim") return testing::pass_over("the devices are gathered");
  const auto [lists, report] = run_ranks({.world_size = 5}, [](Comm& dist) {
    const auto devices = devices_of(dist);
    dist.barrier();  // all hold it now
    return std::vector{reinterpret_cast<std::uint64_t>(devices.get()),
                       std::uint64_t{devices->size()},
                       static_cast<std::uint64_t>(devices->front().ranks)};
  });
  for (const std::vector<std::uint64_t>& list : lists)
    CHECK(list == std::vector<std::uint64_t>{lists.front().front(), 5, 5});
}

TEST_CASE("ranks share a device if host and bus are the same") {
  CHECK(sharing_ranks({gpu("a", "1"), gpu("a", "2"), gpu("b", "1")}).empty());
  CHECK(sharing_ranks({gpu("a", "1"), gpu("b", "1"), gpu("a", "1"), gpu("b", "1"),
                       gpu("c", "9")}) == std::vector<std::vector<int>>{{0, 2}, {1, 3}});
}

TEST_CASE("ranks in few words") {
  CHECK(in_words({0, 1, 2, 3}) == "0-3");
  CHECK(in_words({0, 2, 5}) == "0,2,5");
  CHECK(in_words({0, 1, 4, 6, 7}) == "0-1,4,6-7");
}

TEST_CASE("a pool has the largest row's bytes, and at least a share of what caches cannot hold") {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  const struct {
    std::int64_t memory;
    std::int64_t largest;
    std::int64_t pool;
  } table[] = {
      {16384 * kMiB, 4, 64 * kMiB},            // two ranks share 128 MiB
      {16384 * kMiB, 512 * kMiB, 512 * kMiB},  // as nccl-tests: the largest size
      {64 * kMiB, 4, 4 * kMiB},                // an eighth of a small device
  };
  for (const auto& row : table) {
    CHECK(pool_bytes(gpu("a", "1", 2, row.memory), row.largest) == row.pool);
  }
  CHECK(pool_bytes(gpu("a", "1", 1, 16384 * kMiB), 4) == 128 * kMiB);
}

TEST_CASE("three tensors of the largest size fit, on each rank of a device") {
  CHECK_NOTHROW(check_memory({gpu("a", "1"), gpu("a", "2")}, 333));
  CHECK_NOTHROW(check_memory({gpu("a", "1", 2), gpu("a", "1", 2)}, 166));
  for (const std::int64_t bytes : {167, 1000}) {
    std::string message;
    try {
      check_memory({gpu("a", "1", 2), gpu("a", "1", 2)}, bytes);
    } catch (const InvalidArgument& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK(testing::lacks(message, {"NVIDIA H200", "-e"}) == "");
  }
}

}  // namespace
}  // namespace rankbox::cli
