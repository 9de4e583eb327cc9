// The interface for moving data outside host memory.
//
// The sandbox matches operations, proves deadlocks and keeps the trace. None of that reads the
// data, so the data may be anywhere. Without a DataPlane it is in host memory, and the second rank
// to arrive copies it. With one, ranks have memory and work queues of a device (a GPU's streams).
// An operation that is done on the host has been enqueued there, in the right order:
//
//   prepare   by a rank that is about to post an operation
//   copy      by the second rank to arrive: enqueues a copy, between what both ranks have enqueued
//             and what they enqueue later; or run, by the last rank of a collective
//
// A queue waits only for work that was enqueued before. By induction all enqueued work completes,
// for any order of ranks. Therefore, with a data plane too, only ranks can wait for each other
// forever, and then all of them are parked.
//
// Functions that read data are off. There are no fast paths for short messages and collectives,
// waiting ranks do not help with collectives, and buffers are neither watched nor recorded
// (RunOptions::watch_buffers, snapshot_elements). Ranks are threads, unless runs_on_fibers().
//
// Thread safety: all ranks may call every function at once, each on its own thread, unless stated
// otherwise. Errors: an exception stops the world; unfinished operations are then destroyed with
// the data plane.
#pragma once

#include <cstdint>
#include <span>

#include "comm/collective_call.h"
#include "comm/slice.h"

namespace rankbox::sim {

class DataPlane {
 public:
  virtual ~DataPlane() = default;

  /// What the data plane knows of an operation in flight; opaque to the sandbox.
  struct Transit;

  /// Returns whether ranks may be fibers: no call depends on the thread that makes it.
  virtual bool runs_on_fibers() const { return false; }

  // ---- Start and end of a rank, on its thread ----

  /// Called before the rank's function begins.
  virtual void enter(int rank) = 0;
  /// Called after the rank's function has ended and all its operations are done. Also after an
  /// enter() that threw. Other ranks may still read data that it sent.
  virtual void leave(int rank) noexcept = 0;

  // ---- Operations ----

  /// Called by the rank that is about to post an operation, or both halves of a sendrecv. From now
  /// on it may read and write its memory. The result is not null, and valid until leave().
  virtual Transit* prepare(int rank) = 0;

  /// For a buffered send: copies the slice, and returns the copy's address in `data`. The operation
  /// may outlive the call, the rank's function, and the slice; discard() ends it.
  virtual Transit* prepare_copy(int rank, Slice slice, void** data) = 0;

  /// One side of a message.
  struct Side {
    void* data = nullptr;
    Transit* transit = nullptr;
  };
  /// Moves `bytes` bytes. Called by the rank of one of the sides, `mine`.
  virtual void copy(Side to, Side from, std::int64_t bytes, const Transit* mine) = 0;

  /// One rank's part in a collective.
  struct Part {
    const CollectiveCall* call = nullptr;
    Transit* transit = nullptr;
  };
  /// Carries out a collective that moves data; called by the rank of one of the parts, `mine`.
  /// @param parts [index in the communicator]
  virtual void run(std::span<const Part> parts, const Transit* mine) = 0;

  /// Ends a buffered send. Thread safety: any thread may call it, at any time after the copy was
  /// enqueued or dropped.
  virtual void discard(Transit* transit) noexcept = 0;
};

}  // namespace rankbox::sim
