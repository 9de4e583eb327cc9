// Forked processes for tests: each runs a function and reports the result.
#pragma once

#include <atomic>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/types.h>

#include "gpu/launch/socket.h"

namespace rankbox::launcher {

struct Outcome {
  int status = 0;    // from waitpid; 0: the function returned, or threw
  std::string text;  // the function's result, or in_words() of its exception
};

/// Returns "RankFailed of rank 2: …", with the class and the rank of a Rankbox error.
std::string in_words(const std::exception_ptr& error);

/// Runs body(0), …, body(processes - 1), each in a separate process (forked, so without the
/// caller's threads), and `meanwhile` in this one. Blocks until all have ended; kills them after a
/// minute.
std::vector<Outcome> run_processes(
    int processes, const std::function<std::string(int)>& body,
    const std::function<void(const std::vector<pid_t>&)>& meanwhile = {});

/// A flag shared by these processes and the caller.
class SharedFlag {
 public:
  SharedFlag()
      : memory_(mmap(nullptr, sizeof(Flag), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                     0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    new (memory_) Flag(false);
  }
  SharedFlag(const SharedFlag&) = delete;
  SharedFlag& operator=(const SharedFlag&) = delete;
  ~SharedFlag() { munmap(memory_, sizeof(Flag)); }

  void set() const { *static_cast<Flag*>(memory_) = true; }
  /// Blocks until it is set, half a minute at most.
  void wait() const;

 private:
  using Flag = std::atomic<bool>;
  void* memory_;
};

/// Tries every 10 ms. Returns false if the condition stays false for half a minute.
bool comes_true(const std::function<bool()>& condition);

/// A loopback port that the kernel assigns to no other process that asks for any port. Rank 0 can
/// still listen there: both set SO_REUSEADDR, and this does not listen.
class ReservedPort {
 public:
  ReservedPort();
  int number() const { return number_; }
  Endpoint endpoint() const { return {"127.0.0.1", number_, "the test"}; }

 private:
  Fd socket_;
  int number_ = 0;
};

}  // namespace rankbox::launcher
