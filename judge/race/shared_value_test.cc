#include "collectives/shared_value.h"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "judge/race/judge_race.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

using Race = void (*)(SharedValue& value, int threads, std::int64_t repeats);

void in_threads(int threads, const auto& body) {
  std::vector<std::thread> started;
  for (int i = 0; i < threads; ++i) started.emplace_back(body, i % 2 == 0 ? 1 : -1);
  for (std::thread& thread : started) thread.join();
}

void fixed(SharedValue& value, int threads, std::int64_t repeats) {
  std::mutex mutex;
  in_threads(threads, [&](std::int64_t amount) {
    for (std::int64_t i = 0; i < repeats; ++i) {
      const std::lock_guard lock(mutex);
      value.store(value.load() + amount);
    }
  });
}

void does_nothing(SharedValue&, int, std::int64_t) {}

void starts_no_threads(SharedValue& value, int threads, std::int64_t repeats) {
  for (int thread = 0; thread < threads; ++thread) {
    for (std::int64_t i = 0; i < repeats; ++i)
      value.store(value.load() + (thread % 2 == 0 ? 1 : -1));
  }
}

void starts_half(SharedValue& value, int threads, std::int64_t repeats) {
  fixed(value, threads / 2, repeats);
}

void helps(SharedValue& value, int threads, std::int64_t repeats) {
  fixed(value, threads, repeats);
  value.store(value.load());
}

void adds_up_first(SharedValue& value, int threads, std::int64_t repeats) {
  std::mutex mutex;
  in_threads(threads, [&](std::int64_t amount) {
    const std::lock_guard lock(mutex);
    value.store(value.load() + amount * repeats);
  });
}

void only_adds(SharedValue& value, int threads, std::int64_t repeats) {
  std::mutex mutex;
  in_threads(threads, [&](std::int64_t) {
    for (std::int64_t i = 0; i < repeats; ++i) {
      const std::lock_guard lock(mutex);
      value.store(value.load() + 1);
    }
  });
}

/// Each of two threads loses the other's update once, in a fixed order: 7, 8, 6, 5, 7.
void loses_one_addition_and_one_subtraction(SharedValue& value, int, std::int64_t) {
  std::atomic<int> turn = 0;
  const auto at = [&turn](int mine, const auto& step) {
    while (turn.load() != mine) std::this_thread::yield();
    step();
    ++turn;
  };
  std::thread adder([&] {
    std::int64_t loaded = 0;
    at(0, [&] { loaded = value.load(); });
    at(2, [&] { value.store(loaded + 1); });
    at(5, [&] { loaded = value.load(); });
    at(7, [&] { value.store(loaded + 1); });
  });
  std::thread subtractor([&] {
    std::int64_t loaded = 0;
    at(1, [&] { loaded = value.load(); });
    at(3, [&] { value.store(loaded - 1); });
    at(4, [&] { loaded = value.load(); });
    at(6, [&] { value.store(loaded - 1); });
  });
  adder.join();
  subtractor.join();
}

std::string judged(Race race, int threads, std::int64_t repeats) {
  SharedValue value(7);
  race(value, threads, repeats);
  return what_is_wrong(value, 7, threads, repeats).value_or("");
}

TEST_CASE("a fixed race passes for every number of threads and repeats") {
  for (const int threads : {2, 4, 8, 64}) {
    for (const std::int64_t repeats : {0, 1, 2, 100, 3'000}) {
      CAPTURE(threads);
      CAPTURE(repeats);
      CHECK(judged(fixed, threads, repeats) == "");
    }
  }
}

TEST_CASE("a race that is not run is found out, though the value is right") {
  CHECK(testing::lacks(judged(does_nothing, 4, 100), {"0 threads", "4"}) == "");
  CHECK(testing::lacks(judged(starts_no_threads, 4, 100), {"1 thread", "4"}) == "");
  CHECK(testing::lacks(judged(starts_half, 4, 100), {"2 threads", "4", "says how many"}) == "");
  CHECK(testing::lacks(judged(helps, 4, 100), {"5 threads", "4", "itself"}) == "");
  CHECK(testing::lacks(judged(adds_up_first, 4, 100), {"1 load", "1 store", "100"}) == "");
}

TEST_CASE("a wrong final value is named, with what was expected") {
  CHECK(testing::lacks(judged(only_adds, 4, 1'000),
                       {"4 threads", "1,000 updates", "from 7 to 4,007", "4,000 updates"}) == "");
}

TEST_CASE("losses that cancel out are found, though the value is right") {
  CHECK(testing::contains(judged(loses_one_addition_and_one_subtraction, 2, 2), "2 times"));
}

TEST_CASE("every thread's loads and stores are counted, and reading the result is not") {
  SharedValue value(10);
  in_threads(3, [&](std::int64_t) { (void)value.load(); });
  std::thread([&] { value.store(value.load() + 5); }).join();
  CHECK(value.final_value() == 15);
  const std::vector<SharedValue::Use> uses = value.uses();
  REQUIRE(uses.size() == 4);
  for (const SharedValue::Use& use : uses) CHECK(use.loads == 1);
  CHECK(uses.front().stores == 0);
  CHECK(uses.back().stores == 1);
}

TEST_CASE("the thread after the last possible one gets an error, not the memory of another") {
  SharedValue value;
  for (int i = 0; i < SharedValue::kMaxThreads; ++i)
    std::thread([&] { (void)value.load(); }).join();
  std::string message;
  std::thread([&] {
    try {
      (void)value.load();
    } catch (const InvalidArgument& error) {
      message = error.what();
    }
  }).join();
  CHECK(testing::contains(message, "256 threads"));
  CHECK(value.uses().size() == SharedValue::kMaxThreads);
}

TEST_CASE("for any number of concurrent threads, the record ends with the last that was admitted") {
  SharedValue value;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < SharedValue::kMaxThreads + 44; ++i) {
      threads.emplace_back([&] {
        try {
          (void)value.load();
        } catch (const InvalidArgument&) {
          ++refused;
        }
      });
    }
  }
  CHECK(refused == 44);
  CHECK(value.uses().size() == SharedValue::kMaxThreads);
}

}  // namespace
}  // namespace rankbox
