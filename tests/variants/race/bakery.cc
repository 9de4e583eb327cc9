// Lamport's bakery: loads and stores of atomics, and nothing else.
#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/race.h"
namespace rankbox {
void race(SharedValue& value, int threads, std::int64_t repeats) {
  const auto choosing = std::make_unique<std::atomic<bool>[]>(threads);
  const auto number = std::make_unique<std::atomic<long>[]>(threads);
  for (int i = 0; i < threads; ++i) {
    choosing[i] = false;
    number[i] = 0;
  }
  auto work = [&](int i) {
    for (std::int64_t n = 0; n < repeats; ++n) {
      choosing[i] = true;
      long most = 0;
      for (int j = 0; j < threads; ++j) most = std::max(most, number[j].load());
      number[i] = most + 1;
      choosing[i] = false;
      for (int j = 0; j < threads; ++j) {
        while (choosing[j]) std::this_thread::yield();
        for (;;) {
          const long other = number[j], mine = number[i];
          if (other == 0 || std::pair(mine, i) <= std::pair(other, j)) break;
          std::this_thread::yield();
        }
      }
      value.store(value.load() + (i % 2 == 0 ? 1 : -1));
      number[i] = 0;
    }
  };
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(work, i);
  for (auto& t : all) t.join();
}
}  // namespace rankbox
