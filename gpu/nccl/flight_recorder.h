// What a rank did last: a ring of its recent operations, to be printed when a run fails.
//
//   const auto number = recorder.begin({.op = "send", .to = 3, .bytes = n, .place = place});
//   ... ncclSend(...) ...
//   recorder.enqueued(number, stream);
//
//   rank 2  #17 sendrecv to 3, from 1  4 MiB float32  ring.cc:22  not finished after 30.0 s
//
// Nobody watches the operations: an event is recorded behind each, and asked only when somebody
// wants to know. What fell out of the ring is forgotten, finished or not.
//
// Cost: an uncontended lock and one cudaEventRecord per operation. Thread safety: any thread may read,
// while the rank's own thread writes.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include <cuda_runtime_api.h>

#include "comm/dtype.h"
#include "comm/place.h"

namespace rankbox::gpu {

/// One operation. Peers are ranks of the world; -1: none.
struct Flight {
  const char* op = "";
  int to = -1;
  int from = -1;
  int root = -1;
  std::int64_t bytes = -1;  // -1: it has no data
  DType dtype = DType::kFloat32;
  Place place{};
};

class FlightRecorder {
 public:
  static constexpr int kSize = 64;

  /// Of the device that is current on this thread.
  explicit FlightRecorder(int rank);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  int rank() const { return rank_; }

  /// Notes an operation that is about to be enqueued. Returns its number, from 0.
  std::uint64_t begin(const Flight& flight);
  /// It is on the stream now, and all of it before this call.
  void enqueued(std::uint64_t number, cudaStream_t stream);
  /// A part of it is: more will follow.
  void enqueued_part(std::uint64_t number, cudaStream_t stream);
  /// It was done at once, without the device.
  void finished(std::uint64_t number);
  /// It never came to a stream.
  void failed(std::uint64_t number);

  /// Operations of which it is known that they finished: grows as long as the device gets on. Asks
  /// the events.
  std::uint64_t finished_count();
  /// Whether some operation, or a part of it, is on a stream and has not finished.
  bool has_unfinished();

  /// The last `most` operations, a line each, and the oldest of the ring that has not finished.
  /// "no operation yet" if there was none: whom others wait for may be that rank.
  std::string to_text(int most = 6);

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : std::uint8_t { kStarting, kPartEnqueued, kEnqueued, kFinished, kFailed };
  struct Entry {
    Flight flight;
    State state = State::kFinished;
    Clock::time_point since;
    cudaEvent_t event = nullptr;
  };

  Entry* find(std::uint64_t number);  // null: it fell out of the ring
  std::uint64_t oldest() const { return next_ < kSize ? 0 : next_ - kSize; }
  void record(std::uint64_t number, cudaStream_t stream, State state);
  void ask(Entry& entry);
  void finish(Entry& entry);
  std::string line(std::uint64_t number);

  const int rank_;
  std::mutex mutex_;  // guards the rest
  std::array<Entry, kSize> entries_;
  std::uint64_t next_ = 0;
  std::uint64_t finished_ = 0;
};

/// "4 MiB", "1.5 KiB", "12 bytes".
std::string bytes_in_words(std::int64_t bytes);

}  // namespace rankbox::gpu
