// One run of a world in one process: its rank's operations and waits.
//
// MPI has no timeouts, so no wait is left to it. A rank polls its own operation and, now and then,
// the clock and the control communicator, on which failed ranks send their report (report.h). A
// failed run does not return: its processes compare their reports, print the cause, and end.
//
// Thread safety: none; only the rank's thread may use a run.
#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "comm/call_checks.h"
#include "comm/errors.h"
#include "comm/flight_recorder.h"
#include "comm/memory_meter.h"
#include "comm/run_options.h"
#include "mpi/blocking_deadline.h"
#include "mpi/group.h"
#include "mpi/operation.h"
#include "mpi/tag.h"

namespace rankbox::mpi {

class PendingOperation;

class Run {
 public:
  /// @param world its index is -1 on processes without a rank
  Run(const RunOptions& options, Group world);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const RunOptions& options() const { return options_; }
  /// While calls are timed, messages are not noted. Collectives are: BlockingDeadline needs that.
  void set_timed(bool timed) { timed_ = timed; }
  int rank() const { return rank_; }
  MemoryMeter& memory() { return memory_; }
  Group& world() { return groups_.front(); }
  std::vector<PendingOperation*>& open_requests() { return open_requests_; }

  /// Begins every call.
  void begin();

  /// Starts a message. A buffered one is copied, and is then done for its rank.
  void start(Operation& message, const Caller& caller, Group& group, FlightKind kind, Slice slice,
             int peer, bool async);
  /// Starts a collective. Blocks until it is done if RunOptions::blocking_calls is set.
  void start(Operation& collective, const Caller& caller, Group& group, const CollectiveCall& call,
             bool async);
  /// Blocks until the operation, and the other half of a sendrecv, is done.
  void wait(Operation& operation, Operation* other_half = nullptr);
  /// The same for an asynchronous operation, recorded as a separate call.
  void wait_for_request(const Caller& caller, Operation& operation);

  /// Creates a communicator of the group's members with the same color; null if it is negative.
  Group* split(const Caller& caller, Group& group, const CollectiveCall& call);

  /// Ends what the run of a single process has left open: after a failure the process goes on, and
  /// MPI must not hold memory that is freed.
  void end_open_operations();
  /// Reports that the last copy of an unfinished request was destroyed.
  void dropped(const PendingOperation& pending);
  /// Ends the run on this rank, after its function has returned.
  void end();
  /// Blocks until the request is done, or another rank fails.
  void wait_for_others(MPI_Request& request);
  /// Checks these sums over all ranks, once all have returned.
  void check_end(std::int64_t messages_unreceived, std::uint64_t calls_balance);

  /// Ends the failed run.
  /// @param error this rank's own; null: another rank has the cause
  [[noreturn]] void fail(const std::exception_ptr& error);
  template <std::derived_from<Error> E>
  [[noreturn]] void fail(const E& error) {
    fail(std::make_exception_ptr(error));
  }

  std::int64_t messages() const { return messages_; }
  std::int64_t bytes() const { return bytes_; }
  std::int64_t messages_unreceived() const { return messages_ - received_; }
  /// Summed over all ranks, this is 0 if the members of each communicator have made the same calls.
  std::uint64_t calls_balance() const;

 private:
  struct BufferedSend {
    std::unique_ptr<char[]> data;
    Operation operation;
  };

  void note(Operation& operation, const Caller& caller, Group& group, const FlightCall& call);
  std::uint64_t note(const Caller& caller, const FlightCall& call);
  void send_buffered(const Operation& message);
  void finish(Operation& operation);
  void forget_ended_sends();
  void wait_until(const Caller& caller, Operation& operation, Operation* other_half);
  void fail_if_mismatched(const Operation& message);

  const RunOptions options_;
  const TagFormat tags_;
  const int rank_;
  MemoryMeter memory_;
  FlightRecorder recorder_;
  bool timed_ = false;
  std::deque<Group> groups_;
  std::vector<PendingOperation*> open_requests_;
  std::deque<BufferedSend> buffered_sends_;
  std::exception_ptr dropped_;  // a dropped request, during an exception
  std::int64_t calls_ = 0;
  std::int64_t messages_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t received_ = 0;
  std::optional<BlockingDeadline> blocking_deadline_;
};

/// The state of an asynchronous operation, shared by the copies of its request.
class PendingOperation {
 public:
  /// @param read, written its slices; null: none
  PendingOperation(Run& run, const Caller& caller, Slice read, Slice written)
      : run_(run), in_use_(run.memory().in_use, caller, read, written) {
    run_.open_requests().push_back(this);
  }
  ~PendingOperation();
  PendingOperation(const PendingOperation&) = delete;
  PendingOperation& operator=(const PendingOperation&) = delete;

  Operation operation;

  /// Marks it as waited for.
  void finish();
  /// Ends it in MPI, after a failure of the only process, unless its memory is gone already.
  void end_alone();
  bool finished() const { return finished_; }
  /// Returns whether a tensor of the slices was freed since.
  bool was_freed() const { return in_use_.was_freed(); }

 private:
  Run& run_;
  BuffersInUse::Entry in_use_;
  bool finished_ = false;
};

}  // namespace rankbox::mpi
