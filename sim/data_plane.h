// Who moves the data of messages and collectives, when it is not the sandbox itself.
//
// The sandbox decides who meets whom, proves deadlocks and keeps the trace. That never looks at the
// data, so the data may live anywhere: without a DataPlane it is host memory, copied by whichever rank
// comes second. With one, ranks have memory and queues of work of a device (a GPU's streams), and
// an operation that is done on the host has merely been put on those queues, in the right order:
//
//   prepare   by a rank that is about to post an operation: marks how far its own queue has come
//   copy      by the rank that comes second: its queue waits for both marks, copies, and marks that
//             it has; or run, by the last rank of a collective
//   finish    by an operation's owner, when the operation is done: its queue waits for the copy
//
// So a queue only ever waits for what was put on a queue before. By induction everything that was
// enqueued gets done, in whatever order the ranks run: with a data plane, too, only ranks can wait
// for each other forever, and then they are all seen to sleep.
//
// What the sandbox does by looking at the data is off: short messages and collectives have no ways of
// their own, waiting ranks do not help with collectives, nothing is watched or remembered of
// buffers (RunOptions::watch_buffers, snapshot_elements). Ranks are threads.
//
// Thread safety: every function may be called by all ranks at once, each on its own thread, unless
// it says otherwise. Errors: what throws stops the world, and operations may stay unfinished then:
// they go with the data plane.
#pragma once

#include <cstdint>
#include <span>

#include "comm/collective_call.h"
#include "comm/slice.h"

namespace rankbox::sim {

class DataPlane {
 public:
  virtual ~DataPlane() = default;

  /// What the data plane has to know of an operation until it is finished: its own affair.
  struct Transit;

  // ---- A rank's life, on its thread ----

  /// Before the rank's function begins.
  virtual void enter(int rank) = 0;
  /// After the rank's function has ended and all its operations are finished. Also after an enter()
  /// that threw. Others may still read what it sent.
  virtual void leave(int rank) noexcept = 0;

  // ---- An operation's ----

  /// Called by the rank that is about to post these operations, on memory that they may read and
  /// write from now on: one, or both halves of a sendrecv.
  /// @param later whether the rank goes on with other things while they are under way
  virtual void prepare(int rank, bool later, std::span<Transit*> operations) = 0;

  /// A buffered send: copies the slice, and returns where to in `data`. The operation may outlive
  /// the call, the rank's function, and the slice; discard() ends it.
  virtual Transit* prepare_copy(int rank, Slice slice, void** data) = 0;

  /// One side of a message.
  struct Side {
    void* data = nullptr;
    Transit* transit = nullptr;
  };
  /// Moves so many bytes. Called by the rank of one of the sides, `mine`.
  virtual void copy(Side to, Side from, std::int64_t bytes, const Transit* mine) = 0;

  /// One rank's part in a collective.
  struct Part {
    const CollectiveCall* call = nullptr;
    Transit* transit = nullptr;
  };
  /// Carries out a collective that moves data; called by the rank of one of the parts, `mine`.
  /// @param parts [index in the communicator]
  virtual void run(std::span<const Part> parts, const Transit* mine) = 0;

  /// Called by the rank that prepared it, when others have seen the last of it: whatever the rank
  /// does with the memory from now on comes after the copy. Nothing was copied, if the operation was
  /// taken back. `transit` is gone afterwards, also if this throws.
  virtual void finish(int rank, Transit* transit) = 0;

  /// The same for a buffered send, by anybody, at any time after the copy was enqueued or given up.
  virtual void discard(Transit* transit) noexcept = 0;
};

}  // namespace rankbox::sim
