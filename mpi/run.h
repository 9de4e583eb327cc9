// One run of a world, as one process sees it: how its rank waits, and how the run ends.
//
// MPI itself knows no way out of a wait but the message that is waited for. So no wait is left to
// MPI: a rank polls, and in between looks whether another one has failed, and at the clock. Who fails
// tells everybody; everybody then stops, and all leave together (departure.h). A rank that waits
// longer than the deadline fails.
//
// Thread safety: none; everything here belongs to the thread that runs the rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "comm/call_checks.h"
#include "comm/memory_meter.h"
#include "comm/run_options.h"
#include "mpi/departure.h"
#include "mpi/environment.h"
#include "mpi/group.h"
#include "mpi/message.h"
#include "mpi/tag.h"
#include "mpi/watchdog.h"

namespace rankbox::mpi {

class Collective;
class PendingOperation;

/// What a rank is blocked in, for the others to hear.
struct Activity {
  Caller caller;
  Message* message = nullptr;  // either of a message (both halves of a sendrecv),
  Message* other_half = nullptr;
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

  /// Waits for a message, or for both halves of a sendrecv.
  /// Throws MessageMismatch, CollectiveMismatch, TimedOut, or Aborted if another rank failed; the run
  /// is over then, on all ranks, and every slice of this one may go.
  void wait(Message& message, Message* other_half = nullptr);

  /// Waits for a collective. Throws the same.
  void wait_for(Collective& collective);

  /// Waits until all members have come to a split. What follows blocks in MPI, and must be done by
  /// all of them or by none: a rank goes on when all have come, whatever it hears meanwhile, and
  /// throws only when one of them has left without coming. See check_running().
  void wait_for_split(Collective& agreement);
  /// Throws what the wait for a split did not.
  void check_running(const Caller& caller);

  /// Sends a copy and goes on.
  void send_buffered(const Message& message);
  /// Whether a copy is on its way to that member.
  bool has_buffered(const Group& group, int peer) const;

  /// What blocks on a message to itself blocks for good. Throws DeadlockError; the run is over.
  [[noreturn]] void end_alone(const Message& message);

  Group& add_group(std::unique_ptr<Group> group);

  /// A request that went away before it was waited for: a mistake, unless the rank is being unwound.
  void dropped(PendingOperation& pending);
  std::vector<PendingOperation*>& open_requests() { return open_requests_; }

  /// REQUIRES: RunOptions::check_collectives is off.
  Watchdog& watchdog() { return *watchdog_; }

  void count_message(std::int64_t bytes) {
    ++messages_;
    bytes_ += bytes;
  }

  /// The end of the rank's function: leaves the run with all others. `error` is what the function
  /// threw, or null; returns what is wrong now that all have ended, or null.
  std::exception_ptr leave(const std::exception_ptr& error);

  /// Whether this process failed of its own, not because another one did.
  bool failed_first() const { return departure_.failed_first(); }
  /// Whether any process failed: then MPI's handles are not used again.
  bool has_failed() const { return departure_.has_failed(); }

  std::int64_t messages() const { return messages_; }
  std::int64_t bytes() const { return bytes_; }
  std::unique_ptr<Group> take_world() { return std::move(groups_.front()); }
  /// What was sent and not received may still arrive: its communicators are never used again.
  void keep_handles() { keeps_handles_ = true; }

 private:
  using Clock = std::chrono::steady_clock;

  void wait_long(const Activity& activity, const std::function<bool()>& done);
  void advance_collectives(const Activity& activity);
  void look_for_mismatch(const Activity& activity, const Message& message);
  void say_farewell(const Activity* activity, const Message* mismatched = nullptr);
  void take_back_messages(const Activity* activity);
  void take_back(Message& message);
  template <class E>
  [[noreturn]] void fail(E error);
  [[noreturn]] void end_stopped(const Activity& activity);
  [[noreturn]] void end_mismatched(const Activity& activity, const Message& message,
                                   const std::string& other);
  [[noreturn]] void end_disagreed(const Activity& activity, const Collective& collective);
  [[noreturn]] void end_late(const Activity& activity, double seconds);
  void give_up_now();
  std::string lateness(const Activity& activity, double seconds) const;
  const Farewell* other_end(const Message& message) const;
  std::exception_ptr left_behind();

  const RunOptions options_;
  const TagFormat tags_;
  const int rank_;
  MemoryMeter memory_;
  Departure departure_;
  std::deque<std::unique_ptr<Group>> groups_;
  std::vector<PendingOperation*> open_requests_;
  struct BufferedSend {
    std::unique_ptr<char[]> data;
    Message message;
  };
  std::deque<BufferedSend> buffered_sends_;
  std::optional<Watchdog> watchdog_;

  std::int64_t calls_ = 0;
  std::int64_t messages_ = 0;
  std::int64_t bytes_ = 0;
  bool keeps_handles_ = false;

  std::exception_ptr failure_;   // of this rank, which stopped the run, even if nobody lets it out
  std::exception_ptr given_up_;  // a request that went away while the rank was being unwound
};

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace rankbox::mpi
