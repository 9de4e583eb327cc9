// How ranks run and how they sleep. All waiting in the sandbox goes through this interface, so that
// ranks may be something other than threads without a change to mailboxes or collectives.
#pragma once

#include <functional>
#include <memory>

#include "comm/run_options.h"

namespace rankbox::sim {

class Executor {
 public:
  virtual ~Executor() = default;

  /// Calls body(rank) for every rank, all at once, and returns when all have returned. `body` must
  /// not throw. Throws InvalidArgument, having called body for no rank, when that many cannot be
  /// started.
  virtual void run(const std::function<void(int)>& body) = 0;

  /// Called on `rank`: sleeps until unpark(rank) has been called since the last park(rank)
  /// returned. May return early.
  virtual void park(int rank) = 0;

  /// Called on any rank: ends the sleep of `rank`, or makes its next one return at once.
  virtual void unpark(int rank) = 0;

  /// How many times a waiting rank should look again before it parks. 0 where its core is better
  /// used by others.
  virtual int spins() const = 0;
};

std::unique_ptr<Executor> make_executor(ExecutorKind kind, int world_size);

}  // namespace rankbox::sim
