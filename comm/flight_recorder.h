// A rank's most recent operations, for the report of a run that fails.
//
//   const std::uint64_t number = recorder.begin({.op = "send", .place = place, .peer = 3, ...});
//   ... the operation ...
//   recorder.set_state(number, FlightState::kDone);
//
// A ring of fixed size, without locks. When a run fails, log() copies it; logs travel as bytes from
// process to process, and comm/post_mortem.h compares those of all ranks.
//
// Cost: 25 ns an operation. Thread safety: one thread calls begin(). Any thread may call all else
// meanwhile; an entry that is being overwritten is then missing from its log.
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

/// What two ranks must agree on, and what an operation is matched by. Ranks are those of the world.
struct FlightCall {
  FlightKind kind = FlightKind::kLocal;
  // Returns at once, so a rank whose last operation this is does not wait in it.
  bool async = false;
  // A wait for the asynchronous operation with the same kind, group, number and peer.
  bool waits = false;
  CollectiveKind collective = CollectiveKind::kBarrier;
  ReduceOp reduce_op = ReduceOp::SUM;
  DType dtype = DType::kFloat32;
  int peer = -1;             // of a message
  int root = -1;             // of a collective that has one
  std::int64_t count = -1;   // elements; -1: it has no data
  std::uint64_t group = 0;   // the communicator: the same number on all members, another for others
  std::uint64_t number = 0;  // the n-th message from one rank to the other, or collective, of group
};

/// One operation, as its rank notes it.
struct Flight {
  const char* op = "";  // lives as long as the program
  Place place{};
  FlightCall call{};
};

/// One operation, as others read it.
struct LoggedFlight {
  std::uint64_t index = 0;  // the rank's n-th operation
  std::string op;
  std::string file;
  int line = 0;
  double seconds = 0;  // from its beginning to the log
  FlightState state = FlightState::kStarted;
  FlightCall call{};
};

/// A communicator by its members, as ranks of the world.
struct FlightGroup {
  std::uint64_t id = 0;
  std::vector<int> members;
};

struct FlightLog {
  int rank = -1;
  bool returned = false;       // the rank's function has
  std::uint64_t recorded = 0;  // operations so far, of which flights holds the last
  std::vector<LoggedFlight> flights;
  std::vector<FlightGroup> groups;
};

// For comm/result_bytes.h: to_bytes(log), from_bytes<FlightLog>(bytes).
inline auto fields_of(LoggedFlight& flight) {
  return std::tie(flight.index, flight.op, flight.file, flight.line, flight.seconds, flight.state,
                  flight.call);
}
inline auto fields_of(FlightGroup& group) { return std::tie(group.id, group.members); }
inline auto fields_of(FlightLog& log) {
  return std::tie(log.rank, log.returned, log.recorded, log.flights, log.groups);
}

class FlightRecorder {
 public:
  static constexpr int kSize = 64;

  explicit FlightRecorder(int rank);
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  int rank() const { return rank_; }

  /// Notes an operation that is about to start. Returns its index, from 0; index % kSize is its
  /// slot in the ring, for those who keep something of their own for each slot.
  std::uint64_t begin(const Flight& flight);
  /// Ignores an operation that the ring has forgotten, or that is done or failed already.
  void set_state(std::uint64_t index, FlightState state);
  /// That of an operation the ring has forgotten is kDone.
  FlightState state(std::uint64_t index) const;

  void add_group(std::uint64_t id, std::vector<int> members);
  void set_returned() { returned_.store(true, std::memory_order_relaxed); }

  /// Operations begun, and those of them that were set to kDone: progress grows them.
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
    // 4 * (index + 1) + state; 0: empty, or being written. A reader looks at it before and after.
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

/// "rank 2  #17 send to 3  4 MiB float32  ring.cc:22  not finished after 30.0 s"
std::string in_words(const LoggedFlight& flight, int rank);

/// The last `most` operations of a rank, a line each, and the first that is not done before those.
std::string in_words(const FlightLog& log, int most = 4);

/// "4 MiB", "1.5 KiB", "12 bytes".
std::string bytes_in_words(std::int64_t bytes);

}  // namespace rankbox
