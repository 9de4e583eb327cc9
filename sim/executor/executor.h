// Runs and parks ranks.
//
// All waiting in the sandbox goes through this interface, so that ranks may be threads or fibers
// without a change to mailboxes or collectives.
#pragma once

#include <functional>
#include <memory>

#include "comm/run_options.h"
#include "sim/executor/spin.h"

namespace rankbox::sim {

class Executor {
 public:
  virtual ~Executor() = default;

  /// Calls body(rank) for all ranks concurrently, and returns when all have returned. `body` must
  /// not throw. Throws InvalidArgument, before calling body, if that many ranks cannot be started.
  virtual void run(const std::function<void(int)>& body) = 0;

  /// Called on `rank`: parks it until unpark(rank) has been called since the last park(rank)
  /// returned. May return early.
  virtual void park(int rank) = 0;

  /// Called on any rank: wakes `rank`, or makes its next park() return at once.
  virtual void unpark(int rank) = 0;

  /// Returns the rank's lane. Ranks of one lane take turns, so one cannot help while another works.
  virtual int lane(int rank) const = 0;

  /// Returns how long a waiting rank spins before it parks. The same for all ranks, at all times.
  virtual SpinLimit spin_limit() const = 0;
};

/// Throws InvalidArgument for a world that no executor of this kind could run on this machine.
void check_world_size(ExecutorKind kind, int world_size);

/// On a rank: lets the other fibers of its thread run, or, where ranks are threads, another thread.
void yield();

/// Of options: executor, fiber_threads and world_size.
std::unique_ptr<Executor> make_executor(const RunOptions& options);

}  // namespace rankbox::sim
