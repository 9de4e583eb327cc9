#include "gpu/nccl/flight_recorder.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "gpu/device/check.h"

namespace rankbox::gpu {
namespace {

std::string_view file_name(const Place& place) {
  const std::string_view path = place.file_name();
  return path.substr(path.rfind('/') + 1);
}

std::string peers_in_words(const Flight& flight) {
  std::string words;
  const auto add = [&words](const char* role, int rank) {
    if (rank >= 0) words += fmt::format("{} {} {}", words.empty() ? "" : ",", role, rank);
  };
  add("to", flight.to);
  add("from", flight.from);
  add("root", flight.root);
  return words;
}

}  // namespace

std::string bytes_in_words(std::int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit < 3) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

FlightRecorder::FlightRecorder(int rank) : rank_(rank) {
  try {
    for (Entry& entry : entries_) {
      check(cudaEventCreateWithFlags(&entry.event, cudaEventDisableTiming),
            "cudaEventCreateWithFlags", {.op = "start", .rank = rank});
    }
  } catch (...) {
    for (const Entry& entry : entries_) {
      if (entry.event != nullptr) static_cast<void>(cudaEventDestroy(entry.event));
    }
    throw;
  }
}

FlightRecorder::~FlightRecorder() {
  for (const Entry& entry : entries_) static_cast<void>(cudaEventDestroy(entry.event));
}

FlightRecorder::Entry* FlightRecorder::find(std::uint64_t number) {
  if (number < oldest() || number >= next_) return nullptr;
  return &entries_[number % kSize];
}

std::uint64_t FlightRecorder::begin(const Flight& flight) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = next_++;
  Entry& entry = entries_[number % kSize];
  entry.flight = flight;
  entry.state = State::kStarting;
  entry.since = Clock::now();
  return number;
}

void FlightRecorder::enqueued(std::uint64_t number, cudaStream_t stream) {
  record(number, stream, State::kEnqueued);
}

void FlightRecorder::enqueued_part(std::uint64_t number, cudaStream_t stream) {
  record(number, stream, State::kPartEnqueued);
}

void FlightRecorder::record(std::uint64_t number, cudaStream_t stream, State state) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = find(number);
  if (entry == nullptr) return;
  check(cudaEventRecord(entry->event, stream), "cudaEventRecord",
        {.op = entry->flight.op, .place = entry->flight.place, .rank = rank_});
  entry->state = state;
}

void FlightRecorder::finish(Entry& entry) {
  entry.state = State::kFinished;
  ++finished_;
}

void FlightRecorder::finished(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (Entry* const entry = find(number)) finish(*entry);
}

void FlightRecorder::failed(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (Entry* const entry = find(number)) entry->state = State::kFailed;
}

void FlightRecorder::ask(Entry& entry) {
  const bool part = entry.state == State::kPartEnqueued;
  if (!part && entry.state != State::kEnqueued) return;
  const cudaError_t status = cudaEventQuery(entry.event);
  if (status == cudaSuccess) {
    part ? void(entry.state = State::kStarting) : finish(entry);
  } else {
    if (status != cudaErrorNotReady) entry.state = State::kFailed;
    static_cast<void>(cudaGetLastError());  // "not ready" counts as an error there
  }
}

std::uint64_t FlightRecorder::finished_count() {
  const std::lock_guard lock(mutex_);
  for (std::uint64_t number = oldest(); number < next_; ++number) ask(entries_[number % kSize]);
  return finished_;
}

bool FlightRecorder::has_unfinished() {
  const std::lock_guard lock(mutex_);
  for (std::uint64_t number = next_; number > oldest(); --number) {
    Entry& entry = entries_[(number - 1) % kSize];
    ask(entry);
    if (entry.state == State::kEnqueued || entry.state == State::kPartEnqueued) return true;
  }
  return false;
}

std::string FlightRecorder::line(std::uint64_t number) {
  const Entry& entry = entries_[number % kSize];
  const Flight& flight = entry.flight;
  std::string text =
      fmt::format("rank {}  #{} {}{}", rank_, number, flight.op, peers_in_words(flight));
  if (flight.bytes >= 0) {
    text += fmt::format("  {} {}", bytes_in_words(flight.bytes), name_of(flight.dtype));
  }
  if (flight.place.line() != 0) {
    text += fmt::format("  {}:{}", file_name(flight.place), flight.place.line());
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - entry.since).count();
  switch (entry.state) {
    case State::kStarting:
      return text + fmt::format("  not started after {:.1f} s", seconds);
    case State::kPartEnqueued:
    case State::kEnqueued:
      return text + fmt::format("  not finished after {:.1f} s", seconds);
    case State::kFinished:
      return text + "  finished";
    case State::kFailed:
      return text + "  failed";
  }
  return text;
}

std::string FlightRecorder::to_text(int most) {
  const std::lock_guard lock(mutex_);
  if (next_ == 0) return fmt::format("rank {}  no operation yet\n", rank_);
  for (std::uint64_t number = oldest(); number < next_; ++number) ask(entries_[number % kSize]);
  const std::uint64_t shown = std::min<std::uint64_t>(static_cast<std::uint64_t>(most), next_);
  const std::uint64_t first = std::max(oldest(), next_ - shown);
  std::string text;
  for (std::uint64_t number = oldest(); number < first; ++number) {
    if (entries_[number % kSize].state == State::kFinished) continue;
    text += line(number) + "\n";
    if (number + 1 < first) text += fmt::format("rank {}  ...\n", rank_);
    break;
  }
  for (std::uint64_t number = first; number < next_; ++number) text += line(number) + "\n";
  return text;
}

}  // namespace rankbox::gpu
