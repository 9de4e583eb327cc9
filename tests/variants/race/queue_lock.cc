// An MCS lock: each thread waits for its own node.
#include <atomic>
#include <thread>
#include <vector>

#include "collectives/race.h"
namespace rankbox {
namespace {
struct Node {
  std::atomic<Node*> next{nullptr};
  std::atomic<bool> locked{false};
};
thread_local Node node;
class Mcs {
 public:
  void lock() {
    node.next = nullptr;
    Node* before = tail_.exchange(&node);
    if (before == nullptr) return;
    node.locked = true;
    before->next = &node;
    while (node.locked) std::this_thread::yield();
  }
  void unlock() {
    Node* me = &node;
    if (node.next == nullptr) {
      if (tail_.compare_exchange_strong(me, nullptr)) return;
      while (node.next == nullptr) std::this_thread::yield();
    }
    node.next.load()->locked = false;
  }

 private:
  std::atomic<Node*> tail_{nullptr};
};
}  // namespace
void race(SharedValue& value, int threads, std::int64_t repeats) {
  Mcs lock;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      for (std::int64_t k = 0; k < repeats; ++k) {
        lock.lock();
        value.store(value.load() + 1 - 2 * (i % 2));
        lock.unlock();
      }
    });
  for (auto& t : all) t.join();
}
}  // namespace rankbox
