#include "collectives/race.h"

#include <functional>
#include <thread>
#include <vector>

namespace rankbox {
namespace {

void adder(SharedValue& value, std::int64_t amount, std::int64_t repeats) {
  for (std::int64_t i = 0; i < repeats; ++i) {
    value.store(value.load() + amount);
  }
}

void subtractor(SharedValue& value, std::int64_t amount, std::int64_t repeats) {
  for (std::int64_t i = 0; i < repeats; ++i) {
    value.store(value.load() - amount);
  }
}

}  // namespace

// TODO: this runs, and loses updates. Between which two steps must no other thread come? Fix it.
void race(SharedValue& value, int threads, std::int64_t repeats) {
  std::vector<std::thread> started;
  for (int i = 0; i < threads; ++i) {
    started.emplace_back(i % 2 == 0 ? adder : subtractor, std::ref(value), 1, repeats);
  }
  for (std::thread& thread : started) {
    thread.join();
  }
}

}  // namespace rankbox
