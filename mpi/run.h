// One run of a world, as one process sees it: its rank's operations, and how it waits for them.
//
// No wait is left to MPI, which has no timeout: a rank polls its own operation and, now and then,
// the control communicator, on which ranks that fail send their report (report.h), and the clock.
// A run that fails does not return: its processes compare what they know, print it, and end.
//
// Thread safety: none; a run belongs to the thread that runs the rank.
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
  /// @param world its index is -1 on processes that have no rank
  Run(const RunOptions& options, Group world);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const RunOptions& options() const { return options_; }
  int rank() const { return rank_; }
  MemoryMeter& memory() { return memory_; }
  Group& world() { return groups_.front(); }
  std::vector<PendingOperation*>& open_requests() { return open_requests_; }

  /// The beginning of every call.
  void begin(const Caller& caller);

  /// Starts a message, or sends a copy of one that is buffered and is then done for its rank.
  void start(Operation& message, const Caller& caller, Group& group, FlightKind kind, Slice slice,
             int peer, bool async);
  /// Starts a collective. Blocks until it is done if that is how MPI is called.
  void start(Operation& collective, const Caller& caller, Group& group, const CollectiveCall& call,
             bool async);
  /// Blocks until the operation is done, and the other half of a sendrecv.
  void wait(Operation& operation, Operation* other_half = nullptr);
  /// The same for an asynchronous operation, noted as a call of its own.
  void wait_for_request(const Caller& caller, Operation& operation);

  /// Makes a communicator of the group's members with the same color; null if it is negative.
  Group* split(const Caller& caller, Group& group, const CollectiveCall& call);

  /// The last copy of a request went away unfinished.
  void dropped(const PendingOperation& pending);
  /// The rank's function has returned.
  void end();
  /// Blocks until the request is done, or another rank fails.
  void wait_for_others(MPI_Request& request);
  /// All ranks have returned, and these two numbers are those of all of them.
  void check_end(std::int64_t messages_unreceived, std::uint64_t calls_balance);

  /// The run has failed, with this error of the rank's own; null: others know why.
  [[noreturn]] void fail(const std::exception_ptr& error);
  template <std::derived_from<Error> E>
  [[noreturn]] void fail(const E& error) {
    fail(std::make_exception_ptr(error));
  }

  std::int64_t messages() const { return messages_; }
  std::int64_t bytes() const { return bytes_; }
  std::int64_t messages_unreceived() const { return messages_ - received_; }
  /// Summed over all ranks, 0 if the members of each communicator have made the same calls.
  std::uint64_t calls_balance() const;

 private:
  struct BufferedSend {
    std::unique_ptr<char[]> data;
    Operation operation;
  };

  void note(Operation& operation, const Caller& caller, Group& group, const FlightCall& call);
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
  std::deque<Group> groups_;
  std::vector<PendingOperation*> open_requests_;
  std::deque<BufferedSend> buffered_sends_;
  std::exception_ptr dropped_;  // a request, while an exception was on its way through the rank
  std::int64_t calls_ = 0;
  std::int64_t messages_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t received_ = 0;
  std::optional<BlockingDeadline> blocking_deadline_;
};

/// An asynchronous operation: what a Request stands for. Shared by the copies of the request.
class PendingOperation {
 public:
  explicit PendingOperation(Run& run) : run_(run) { run_.open_requests().push_back(this); }
  ~PendingOperation();
  PendingOperation(const PendingOperation&) = delete;
  PendingOperation& operator=(const PendingOperation&) = delete;

  Operation operation;

  /// It has been waited for.
  void finish();
  bool finished() const { return finished_; }

 private:
  Run& run_;
  bool finished_ = false;
};

}  // namespace rankbox::mpi
