// For tests: real processes that run a function each, and what came of them.
#pragma once

#include <atomic>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/types.h>

namespace rankbox::launcher {

struct Outcome {
  int status = 0;      // as waitpid has it; 0: the function returned, or threw
  std::string text;    // what it returned, or "Aborted: …", "InvalidArgument: …", "Error: …"
  double seconds = 0;  // it took, by its own watch
};

/// Runs body(0), …, body(processes - 1), each in a process of its own (forked, so without threads of
/// the caller), and `meanwhile` in this one. All are dead when it returns, after a minute at most.
std::vector<Outcome> run_processes(
    int processes, const std::function<std::string(int)>& body,
    const std::function<void(const std::vector<pid_t>&)>& meanwhile = {});

/// A value that these processes and the caller share.
template <class T>
class Shared {
 public:
  explicit Shared(T value) {
    void* memory =
        mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    value_ = new (memory) Value(value);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { munmap(value_, sizeof(Value)); }

  std::atomic<T>& operator*() const { return *value_; }

 private:
  using Value = std::atomic<T>;
  static_assert(Value::is_always_lock_free);
  Value* value_;
};

/// Neither running nor about to; zombies are dead.
bool is_dead(pid_t pid);

/// Asks every 10 ms; false: not within so many seconds.
bool comes_true(const std::function<bool()>& condition, double seconds = 20);

void sleep_for(double seconds);

}  // namespace rankbox::launcher
