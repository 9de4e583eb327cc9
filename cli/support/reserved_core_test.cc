#include "cli/support/reserved_core.h"

#include <deque>
#include <random>
#include <set>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <sched.h>

namespace rankbox::cli {
namespace {

int allowed_cores() {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
  return CPU_COUNT(&allowed);
}

TEST_CASE("no two of one purpose have one core, and it is free again when its owner has ended") {
  const std::string purpose = "test-" + std::to_string(std::random_device()());
  const int count = allowed_cores();
  std::deque<ReservedCore> cores;
  std::set<int> numbers;
  for (int i = 0; i < count; ++i) numbers.insert(cores.emplace_back(purpose).number());
  CHECK(numbers.size() == static_cast<std::size_t>(count));
  CHECK(!numbers.contains(-1));
  CHECK(ReservedCore(purpose).number() == -1);
  CHECK(ReservedCore(purpose + "-other").number() >= 0);
  const int first = cores.front().number();
  cores.pop_front();
  CHECK(ReservedCore(purpose).number() == first);
}

TEST_CASE("a thread is pinned to its core") {
  const int core = sched_getcpu();
  int cores = 0, ran_on = -1;
  std::thread([&] {
    pin_to_core(core);
    cores = allowed_cores();
    ran_on = sched_getcpu();
  }).join();
  CHECK(cores == 1);
  CHECK(ran_on == core);
  CHECK(allowed_cores() >= cores);
}

}  // namespace
}  // namespace rankbox::cli
