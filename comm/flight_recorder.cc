#include "comm/flight_recorder.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rankbox {
namespace {

/// Costs a fifth of std::chrono::steady_clock, and is accurate to some milliseconds.
std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

FlightState state_of(std::uint64_t tag) { return static_cast<FlightState>(tag % 4); }

bool is_over(FlightState state) {
  return state == FlightState::kDone || state == FlightState::kFailed;
}

std::string partner_in_words(const FlightCall& call) {
  switch (call.kind) {
    case FlightKind::kSend:
      return fmt::format("{} to {}", call.waits ? " for a send" : "", call.peer);
    case FlightKind::kRecv:
      return fmt::format("{} from {}", call.waits ? " for a receive" : "", call.peer);
    case FlightKind::kCollective:
      return fmt::format("{}{}", call.waits ? fmt::format(" for {}", name_of(call.collective)) : "",
                         call.root < 0 ? "" : fmt::format(" root {}", call.root));
    case FlightKind::kLocal:
      break;
  }
  return "";
}

const char* state_in_words(FlightState state) {
  switch (state) {
    case FlightState::kStarted:
    case FlightState::kEnqueued:
      return "not finished";
    case FlightState::kDone:
      return "finished";
    case FlightState::kFailed:
      return "failed";
  }
  return "";
}

}  // namespace

FlightRecorder::FlightRecorder(int rank) : rank_(rank) {}

std::uint64_t FlightRecorder::begin(const Flight& flight) {
  const std::uint64_t index = next_.load(std::memory_order_relaxed);
  Entry& entry = entries_[index % kSize];
  const Content content{flight, now_ns()};
  std::array<std::uint64_t, sizeof(Content) / 8> words;
  std::memcpy(words.data(), &content, sizeof(content));
  entry.tag.store(0, std::memory_order_relaxed);
  // Each store releases, so that a reader of a new word also sees the changed tag.
  for (std::size_t i = 0; i < words.size(); ++i)
    entry.words[i].store(words[i], std::memory_order_release);
  entry.tag.store(tag_of(index, FlightState::kStarted), std::memory_order_release);
  next_.store(index + 1, std::memory_order_release);
  return index;
}

void FlightRecorder::set_state(std::uint64_t index, FlightState state) {
  std::atomic<std::uint64_t>& tag = entries_[index % kSize].tag;
  std::uint64_t seen = tag.load(std::memory_order_relaxed);
  while (seen / 4 == index + 1 && !is_over(state_of(seen))) {
    if (!tag.compare_exchange_weak(seen, tag_of(index, state), std::memory_order_release)) continue;
    if (state == FlightState::kDone) done_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
}

void FlightRecorder::set_done_alone(std::uint64_t index) {
  std::atomic<std::uint64_t>& tag = entries_[index % kSize].tag;
  const std::uint64_t seen = tag.load(std::memory_order_relaxed);
  if (seen / 4 != index + 1 || is_over(state_of(seen))) return;
  tag.store(tag_of(index, FlightState::kDone), std::memory_order_release);
  done_.store(done_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

FlightState FlightRecorder::state(std::uint64_t index) const {
  const std::uint64_t tag = entries_[index % kSize].tag.load(std::memory_order_acquire);
  return tag / 4 == index + 1 ? state_of(tag) : FlightState::kDone;
}

void FlightRecorder::add_group(std::uint64_t id, std::vector<int> members, Place made) {
  const std::lock_guard lock(mutex_);
  groups_.push_back({id, std::move(members), made.file_name(), static_cast<int>(made.line())});
}

FlightLog FlightRecorder::log() const {
  FlightLog log;
  log.rank = rank_;
  log.returned = returned_.load(std::memory_order_relaxed);
  log.recorded = recorded();
  const std::int64_t now = now_ns();
  for (std::uint64_t index = log.recorded - std::min<std::uint64_t>(log.recorded, kSize);
       index < log.recorded; ++index) {
    const Entry& entry = entries_[index % kSize];
    const std::uint64_t before = entry.tag.load(std::memory_order_acquire);
    std::array<std::uint64_t, sizeof(Content) / 8> words;
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = entry.words[i].load(std::memory_order_acquire);
    const std::uint64_t after = entry.tag.load(std::memory_order_relaxed);
    if (before / 4 != index + 1 || after / 4 != index + 1) continue;
    Content content;
    std::memcpy(static_cast<void*>(&content), words.data(), sizeof(content));
    const Place& place = content.flight.place;
    log.flights.push_back(
        {index, content.flight.op, place.file_name(), static_cast<int>(place.line()),
         static_cast<double>(now - content.began_ns) * 1e-9, state_of(after), content.flight.call});
  }
  const std::lock_guard lock(mutex_);
  log.groups = groups_;
  return log;
}

std::string in_words(const LoggedFlight& flight, int rank) {
  const FlightCall& call = flight.call;
  std::string text =
      fmt::format("rank {}  #{} {}{}", rank, flight.index, flight.op, partner_in_words(call));
  if (call.count >= 0) {
    text += fmt::format("  {} {}", bytes_in_words(call.count * size_of(call.dtype)),
                        name_of(call.dtype));
  }
  if (flight.line != 0) {
    const std::string_view path = flight.file;
    text += fmt::format("  {}:{}", path.substr(path.rfind('/') + 1), flight.line);
  }
  text += fmt::format("  {}", state_in_words(flight.state));
  return is_over(flight.state) ? text : fmt::format("{} after {:.1f} s", text, flight.seconds);
}

std::string in_words(const FlightLog& log, int most) {
  if (log.flights.empty()) {
    return fmt::format("rank {}  {}\n", log.rank,
                       log.returned ? "returned without an operation" : "no operation yet");
  }
  const auto shown = std::min(static_cast<std::size_t>(most), log.flights.size());
  const auto last = log.flights.end() - static_cast<std::ptrdiff_t>(shown);
  std::string text;
  const auto open = std::find_if(log.flights.begin(), last,
                                 [](const LoggedFlight& f) { return !is_over(f.state); });
  if (open != last) {
    text += in_words(*open, log.rank) + "\n";
    if (open + 1 != last) text += fmt::format("rank {}  ...\n", log.rank);
  }
  for (auto flight = last; flight != log.flights.end(); ++flight)
    text += in_words(*flight, log.rank) + "\n";
  if (log.returned) text += fmt::format("rank {}  returned\n", log.rank);
  return text;
}

std::string bytes_in_words(std::int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

}  // namespace rankbox
