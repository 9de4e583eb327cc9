#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/clock/stream_order.h"

namespace rankbox {
namespace {

std::string call_in_words(const StreamCall& call) {
  const std::string place = fmt::format(" at {}:{}", call.place.file_name(), call.place.line());
  if (call.peer < 0) return call.name + place;
  const std::string_view name = call.name;
  const char* preposition = name.ends_with("sendrecv") ? "with"
                            : name.ends_with("send")   ? "to"
                                                       : "from";
  return fmt::format("{} {} rank {}{}", name, preposition, call.peer, place);
}

Hint hint_for_streams() {
  return {"group-messages",
          "group them, so that they start together: one wait_all, or sendrecv (--backend nccl "
          "groups what was started before one wait)"};
}

}  // namespace

std::string in_words(const StreamHang& hang) {
  std::string text = fmt::format(
      "works here and on MPI, hangs on NCCL{}, where the messages of a rank that are not grouped "
      "wait for each other:",
      hang.needs_full_buffers ? " once messages exceed its buffers" : "");
  constexpr std::size_t kMostShown = 3;
  for (std::size_t i = 0; i < std::min(kMostShown, hang.circle.size()); ++i) {
    const StreamWait& wait = hang.circle[i];
    text += fmt::format("\n  rank {}: ", wait.rank);
    text += wait.queued ? fmt::format("{} is queued behind {}", call_in_words(*wait.queued),
                                      call_in_words(wait.ahead))
                        : fmt::format("waits in {}", call_in_words(wait.ahead));
  }
  if (hang.circle.size() > kMostShown)
    text += fmt::format("\n  … {} more in the circle", hang.circle.size() - kMostShown);
  return text + "\n  hint: " + hint_for_streams().text;
}

DeadlockError error_of(const StreamHang& hang) {
  std::vector<Wait> waits;
  std::vector<int> cycle;
  for (const StreamWait& wait : hang.circle) {
    const Place place = wait.ahead.place;
    cycle.push_back(wait.rank);
    waits.push_back({.rank = wait.rank,
                     .op = wait.ahead.name,
                     .peers = {},
                     .file = place.file_name(),
                     .line = static_cast<int>(place.line())});
    if (wait.ahead.peer >= 0) waits.back().peers.push_back(wait.ahead.peer);
  }
  std::ranges::sort(waits, {}, &Wait::rank);
  const auto first = std::ranges::find_if(
      hang.circle, [](const StreamWait& wait) { return wait.queued.has_value(); });
  const StreamWait& wait = first == hang.circle.end() ? hang.circle.front() : *first;
  const StreamCall& call = wait.queued.value_or(wait.ahead);
  return {in_words(hang),
          {wait.rank, call.name, call.peer, call.place.file_name(),
           static_cast<int>(call.place.line())},
          std::move(waits),
          std::move(cycle),
          hint_for_streams()};
}

}  // namespace rankbox
