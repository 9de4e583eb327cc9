// A rank's most recent operations, for the report of a run that fails.
//
//   const std::uint64_t number = recorder.begin({.op = "send", .place = place, .peer = 3, ...});
//   ... the operation ...
//   recorder.set_state(number, FlightState::kDone);
//
// A ring of fixed size, without locks. When a run fails, log() copies it. Logs are sent between
// processes as bytes, and comm/post_mortem.h compares those of all ranks.
//
// Cost: 25 ns per operation, 15 ns with set_done_alone(). Thread safety: one thread calls begin()
// and set_done_alone(). Any thread may call all other functions at the same time, but for
// set_state() where set_done_alone() is used; the log then omits an entry that is being
// overwritten.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "comm/collective_call.h"
#include "comm/place.h"

namespace rankbox {

enum class FlightKind : std::uint8_t {
  kSend,
  kRecv,
  kCollective,
  kLocal,  // has no counterpart on another rank: synchronize
};

enum class FlightState : std::uint8_t {
  kStarted,
  kEnqueued,  // on the device's stream, where there is one
  kDone,
  kFailed,
};

/// The fields that two ranks must agree on, and by which operations match. Ranks are world ranks.
struct FlightCall {
  FlightKind kind = FlightKind::kLocal;
  // Returns at once: a rank whose last operation this is does not wait in it.
  bool async = false;
  // A wait for the asynchronous operation with the same kind, group, number and peer.
  bool waits = false;
  CollectiveKind collective = CollectiveKind::kBarrier;
  ReduceOp reduce_op = ReduceOp::SUM;
  DType dtype = DType::kFloat32;
  int peer = -1;             // of a message, else -1
  int root = -1;             // of a collective with a root, else -1
  std::int64_t count = -1;   // elements; -1: it has no data
  std::uint64_t group = 0;   // the communicator: equal on all its members, unique to it
  std::uint64_t number = 0;  // the n-th message from one rank to the other, or collective, of group
};

/// One operation, as its rank records it.
struct Flight {
  const char* op = "";  // static storage duration
  Place place{};
  FlightCall call{};
};

/// One operation, as read from the log.
struct LoggedFlight {
  std::uint64_t index = 0;  // the rank's n-th operation
  std::string op;
  std::string file;
  int line = 0;
  double seconds = 0;  // age when the log was made
  FlightState state = FlightState::kStarted;
  FlightCall call{};
};

/// A communicator and its members, as world ranks.
struct FlightGroup {
  std::uint64_t id = 0;  // 0: of all ranks
  std::vector<int> members;
  std::string file;  // of the split that made it
  int line = 0;
};

struct FlightLog {
  int rank = -1;
  bool returned = false;       // the rank's function has returned
  std::uint64_t recorded = 0;  // operations so far; flights holds the last ones
  std::vector<LoggedFlight> flights;
  std::vector<FlightGroup> groups;
};

// For comm/result_bytes.h: to_bytes(log), from_bytes<FlightLog>(bytes).
inline auto fields_of(LoggedFlight& flight) {
  return std::tie(flight.index, flight.op, flight.file, flight.line, flight.seconds, flight.state,
                  flight.call);
}
inline auto fields_of(FlightGroup& group) {
  return std::tie(group.id, group.members, group.file, group.line);
}
inline auto fields_of(FlightLog& log) {
  return std::tie(log.rank, log.returned, log.recorded, log.flights, log.groups);
}

class FlightRecorder {
 public:
  static constexpr int kSize = 64;
  /// An operation that was not noted: set_state() ignores it, and its state is kDone.
  static constexpr std::uint64_t kNotNoted = std::uint64_t{1} << 62;

  explicit FlightRecorder(int rank);
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  int rank() const { return rank_; }

  /// Records an operation that is about to start. Returns its index, from 0. Its slot in the ring
  /// is index % kSize, for callers that keep separate data per slot.
  std::uint64_t begin(const Flight& flight);
  /// Ignores an operation that the ring has dropped, or that is already done or failed.
  void set_state(std::uint64_t index, FlightState state);
  /// The same as set_state(index, FlightState::kDone), but without an atomic exchange. Only the
  /// thread that calls begin() may call it, and only if no other thread calls set_state().
  void set_done_alone(std::uint64_t index);
  /// Returns kDone for an operation that the ring has dropped.
  FlightState state(std::uint64_t index) const;

  /// @param made the split that made it; without a line: none did
  void add_group(std::uint64_t id, std::vector<int> members, Place made = {});
  void set_returned() { returned_.store(true, std::memory_order_relaxed); }

  /// Return the number of operations begun, and of those set to kDone. Both grow with progress.
  std::uint64_t recorded() const { return next_.load(std::memory_order_acquire); }
  std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }

  FlightLog log() const;

 private:
  struct Content {
    Flight flight;
    std::int64_t began_ns;
  };
  static_assert(std::is_trivially_copyable_v<Content> && sizeof(Content) % 8 == 0);
  struct Entry {
    // 4 * (index + 1) + state; 0: empty, or being written. A reader checks it before and after.
    std::atomic<std::uint64_t> tag{0};
    std::array<std::atomic<std::uint64_t>, sizeof(Content) / 8> words{};
  };

  static std::uint64_t tag_of(std::uint64_t index, FlightState state) {
    return 4 * (index + 1) + static_cast<std::uint64_t>(state);
  }

  const int rank_;
  std::array<Entry, kSize> entries_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> returned_{false};
  mutable std::mutex mutex_;  // guards groups_
  std::vector<FlightGroup> groups_;
};

/// Returns "rank 2  #17 send to 3  4 MiB float32  ring.cc:22  not finished after 30.0 s".
std::string in_words(const LoggedFlight& flight, int rank);

/// Returns a rank's last `most` operations, one per line, and the first unfinished one before
/// those.
std::string in_words(const FlightLog& log, int most = 4);

/// Returns "4 MiB", "1.5 KiB" or "12 bytes".
std::string bytes_in_words(std::int64_t bytes);

}  // namespace rankbox
