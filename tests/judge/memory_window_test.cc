// All memory of a function is counted, in any container.
#include "judge/memory_window.h"

#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/support/run_tests.h"

namespace rankbox {
namespace {

constexpr std::int64_t kBytes = std::int64_t{1} << 20;
constexpr std::int64_t kSlack = std::int64_t{16} << 10;  // of allocators

/// A tensor that only its function can reach.
thread_local Tensor hidden;

Tensor megabytes(int count) { return zeros(count * kBytes / 4); }

/// Runs on each rank of a small world.
void on_ranks(const std::function<void()>& check) {
  run_ranks({.world_size = 3}, [&](Comm&) {
    check();
    return 0;
  });
}

TEST_CASE("tensors count at the worst moment, and those that are kept afterwards") {
  on_ranks([] {
    const Tensor before = megabytes(1);  // existed before
    const MemoryWindow window;
    {
      const Tensor one = megabytes(2);
      const Tensor other = megabytes(3);
    }
    CHECK(window.peak() >= 5 * kBytes);
    CHECK(window.peak() < 5 * kBytes + kSlack);
    CHECK(window.kept() < kSlack);

    const MemoryWindow next;
    hidden = megabytes(1);
    CHECK(next.kept() >= kBytes);
    CHECK(next.kept() < kBytes + kSlack);
    hidden = {};
    CHECK(next.kept() < kSlack);
  });
}

TEST_CASE("all that new gives counts") {
  if (!MemoryWindow::counts_everything()) return testing::pass_over("a sanitizer counts");
  on_ranks([] {
    const MemoryWindow window;
    std::vector<float> vector(kBytes / 4);
    const auto array = std::make_unique<char[]>(kBytes);
    struct alignas(256) Aligned {
      char bytes[256];
    };
    const std::vector<Aligned> aligned(kBytes / 256);
    CHECK(window.kept() >= 3 * kBytes);
    CHECK(window.kept() < 3 * kBytes + kSlack);
    vector = std::vector<float>();
    CHECK(window.kept() < 2 * kBytes + kSlack);
  });
}

TEST_CASE("other threads' memory does not count") {
  const MemoryWindow window;
  std::vector<float> theirs;
  std::jthread([&] { theirs.resize(kBytes); }).join();
  CHECK(window.peak() < kSlack);
}

}  // namespace
}  // namespace rankbox
