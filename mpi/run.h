// One run of a world, as one process sees it: how its rank waits, and how the run ends.
//
// MPI itself knows no way out of a wait but the message that is waited for. So no wait is left to
// MPI: a rank polls, and in between looks whether another one has failed (a notice in the lobby) and
// at the clock. Who fails tells everybody; everybody then stops, and leaves through one exchange
// (farewell.h), after which no message is under way. A rank that waits longer than the deadline
// fails.
//
// Thread safety: none; everything here belongs to the thread that runs the rank.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "comm/call_checks.h"
#include "comm/memory_meter.h"
#include "comm/run_options.h"
#include "mpi/environment.h"
#include "mpi/farewell.h"
#include "mpi/group.h"
#include "mpi/message.h"
#include "mpi/tag.h"

namespace rankbox::mpi {

class Collective;
class PendingOperation;

/// What a rank is blocked in, for the others to hear.
struct Activity {
  Caller caller;
  const Message* message = nullptr;  // either of a message (both halves of a sendrecv),
  const Message* other_half = nullptr;
  Collective* collective = nullptr;  // or of this
  std::int64_t bytes = 0;
};

class Run {
 public:
  /// @param world_size ranks 0 to world_size - 1 of the launched processes; those left over only
  /// wait for the end
  Run(const RunOptions& options, std::unique_ptr<Group> world);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const RunOptions& options() const { return options_; }
  const TagFormat& tags() const { return tags_; }
  MemoryMeter& memory() { return memory_; }
  Group& world() { return *groups_.front(); }
  int rank() const { return rank_; }

  /// The beginning of every call: the rank is a member, planned faults happen, a run that has been
  /// stopped ends.
  void begin_call(const Caller& caller);

  /// Waits for a message, or for both halves of a sendrecv. Throws what wait_long() throws.
  void wait(Message& message, Message* other_half = nullptr);

  /// Waits for a collective. Throws CollectiveMismatch too.
  void wait_for(Collective& collective);

  /// Polls until `done`. Throws MessageMismatch, TimedOut, or Aborted if another rank failed; the
  /// run is over then, on all ranks, and every slice of this one may go.
  /// @param must_finish a call that must not be left halfway, unless it takes long
  void wait_long(const Activity& activity, const std::function<bool()>& done, bool must_finish);

  /// Sends a copy and goes on.
  void send_buffered(const Message& message);

  /// Whether a copy is on its way to that member.
  bool has_buffered(const Group& group, int peer) const;

  Group& add_group(std::unique_ptr<Group> group);

  /// A request that went away before it was waited for: a mistake, unless the rank is being unwound.
  void dropped(PendingOperation& pending);

  std::vector<PendingOperation*>& open_requests() { return open_requests_; }

  /// Once its collective cannot be called off, its memory must stay.
  static void keep_for_good(std::shared_ptr<void> memory);

  void count_message(std::int64_t bytes) {
    ++messages_;
    bytes_ += bytes;
  }

  /// The end of the rank's function: leaves the run with all others. `error` is what the function
  /// threw, or null; returns what is wrong now that all have ended, or null.
  std::exception_ptr leave(std::exception_ptr error);

  /// Whether this process failed of its own, not because another one did.
  bool failed_first() const { return state_ == Farewell::State::kFailed; }

  /// Whether any process failed: then MPI's handles are not used again.
  bool has_failed() const;

  std::int64_t messages() const { return messages_; }
  std::int64_t bytes() const { return bytes_; }
  std::unique_ptr<Group> take_world() { return std::move(groups_.front()); }

 private:
  using Clock = std::chrono::steady_clock;

  /// News of a failure, as it travels.
  struct Notice {
    bool disagreed = false;  // about a collective
    std::array<char, 500> text{};
  };

  bool hear_of_failure();
  void stop(const std::string& cause, bool disagreed = false);
  void say_farewell(const Activity* activity, bool mismatched);
  void take_back_messages(const Activity* activity);
  [[noreturn]] void end_stopped(const Activity& activity);
  [[noreturn]] void end_mismatched(const Activity& activity, const Message& message,
                                   const std::string& other);
  [[noreturn]] void end_disagreed(const Activity& activity, const Collective& collective);
  [[noreturn]] void end_late(const Activity& activity, double seconds);
  const Farewell* other_end(const Message& message) const;
  std::exception_ptr left_behind();

  const RunOptions options_;
  const Environment& environment_;
  const TagFormat tags_;
  const int rank_;
  MemoryMeter memory_;
  std::deque<std::unique_ptr<Group>> groups_;
  std::vector<PendingOperation*> open_requests_;
  struct BufferedSend {
    std::unique_ptr<char[]> data;
    Message message;
  };
  std::deque<BufferedSend> buffered_sends_;

  std::int64_t calls_ = 0;
  std::int64_t messages_ = 0;
  std::int64_t bytes_ = 0;

  Farewell::State state_ = Farewell::State::kReturned;
  bool cause_is_mismatch_ = false;
  std::string cause_;  // of the first failure heard of, or this rank's own
  std::exception_ptr dropped_request_;
  Notice notice_;                     // what is told to all others,
  std::vector<MPI_Request> notices_;  // and is being sent
  std::vector<bool> heard_from_;      // [process]
  std::vector<Farewell> farewells_;   // [process]; empty: this process has not left yet
};

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace rankbox::mpi
