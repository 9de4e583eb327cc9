#include "comm/post_mortem.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm/communicator_name.h"

namespace rankbox {
namespace {

using Kind = PostMortem::Kind;

bool is_open(const LoggedFlight& flight) {
  return flight.state == FlightState::kStarted || flight.state == FlightState::kEnqueued;
}

std::string size_in_words(const FlightCall& call) {
  return fmt::format("{} {} ({} bytes)", call.count, name_of(call.dtype),
                     call.count * size_of(call.dtype));
}

std::string place_of(const LoggedFlight& flight) {
  return fmt::format("{}:{}", flight.file, flight.line);
}

/// Returns "recv at ring.cc:22", or only the operation if the place is unknown.
std::string op_in_words(const LoggedFlight& flight) {
  return flight.line == 0 ? flight.op : fmt::format("{} at {}", flight.op, place_of(flight));
}

/// A rank's call, as found in its log.
struct Seen {
  int rank = -1;
  const LoggedFlight* flight = nullptr;

  const FlightCall& call() const { return flight->call; }
  ErrorContext context() const {
    return {rank, flight->op, call().peer, flight->file, flight->line};
  }
};

CollectiveCall collective_call(const FlightCall& call) {
  CollectiveCall made;
  made.kind = call.collective;
  made.root = call.root;
  made.op = call.reduce_op;
  made.reduces = call.collective == CollectiveKind::kReduce ||
                 call.collective == CollectiveKind::kAllReduce ||
                 call.collective == CollectiveKind::kReduceScatter;
  made.dtype = call.dtype;
  made.count = std::max<std::int64_t>(call.count, 0);
  return made;
}

/// Returns the communicator, as its first member made it; null if no log knows it.
const FlightGroup* group_of(std::span<const FlightLog> logs, std::uint64_t id) {
  const FlightGroup* found = nullptr;
  for (const FlightLog& log : logs) {
    const auto known = std::ranges::find(log.groups, id, &FlightGroup::id);
    if (known == log.groups.end()) continue;
    if (found == nullptr || log.rank == known->members.front()) found = &*known;
  }
  return found;
}

std::string name_of_group(const FlightGroup& group) {
  return communicator_name(group.members, group.file.c_str(), group.line);
}

/// Returns ", in the communicator split at ring.cc:7"; "" for that of all ranks.
std::string communicator_in_words(std::span<const FlightLog> logs, const FlightCall& call) {
  const FlightGroup* const group = call.group == 0 ? nullptr : group_of(logs, call.group);
  return group == nullptr ? "" : fmt::format(", in {}", name_of_group(*group));
}

/// Returns " (ranks 1 and 0 of the communicator split at ring.cc:7)" of a message; "" if all ranks
/// are in it.
std::string ranks_in_words(std::span<const FlightLog> logs, const Seen& sent) {
  const FlightGroup* const group =
      sent.call().group == 0 ? nullptr : group_of(logs, sent.call().group);
  if (group == nullptr) return "";
  return ranks_in_communicator(group->members, name_of_group(*group), sent.rank, sent.call().peer);
}

std::string call_in_words(const Seen& seen) {
  const FlightCall& call = seen.call();
  if (call.kind == FlightKind::kCollective) {
    return rankbox::in_words(collective_call(call), seen.rank, call.root, seen.flight->file.c_str(),
                             seen.flight->line);
  }
  const bool sends = call.kind == FlightKind::kSend;
  return fmt::format("rank {} {} {} {} rank {} at {}", seen.rank, sends ? "sends" : "receives",
                     size_in_words(call), sends ? "to" : "from", call.peer, place_of(*seen.flight));
}

/// All calls, ordered so that those which must agree are adjacent.
struct Calls {
  // [group, source, destination, number] -> the sender's call and the receiver's
  std::map<std::tuple<std::uint64_t, int, int, std::uint64_t>, std::array<Seen, 2>> messages;
  // [group, number] -> by rank
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<int, Seen>> collectives;
};

Calls sort_calls(std::span<const FlightLog> logs) {
  Calls calls;
  for (const FlightLog& log : logs) {
    for (const LoggedFlight& flight : log.flights) {
      const FlightCall& call = flight.call;
      // The started operation explains more than the wait for it, if both are known.
      const auto note = [&](Seen& seen) {
        if (seen.flight == nullptr) seen = {log.rank, &flight};
      };
      if (call.kind == FlightKind::kSend)
        note(calls.messages[{call.group, log.rank, call.peer, call.number}][0]);
      if (call.kind == FlightKind::kRecv)
        note(calls.messages[{call.group, call.peer, log.rank, call.number}][1]);
      if (call.kind == FlightKind::kCollective)
        note(calls.collectives[{call.group, call.number}][log.rank]);
    }
  }
  return calls;
}

/// Keeps the first mismatch: the one whose later call began earliest.
class Earliest {
 public:
  void add(Kind kind, const Seen& a, const Seen& b, ErrorContext context, std::string text) {
    const double seconds_ago = std::min(a.flight->seconds, b.flight->seconds);
    if (found_.kind != Kind::kUnknown && seconds_ago <= seconds_ago_) return;
    found_ = {kind, std::move(text), std::move(context)};
    seconds_ago_ = seconds_ago;
  }
  const PostMortem& found() const { return found_; }

 private:
  PostMortem found_;
  double seconds_ago_ = 0;
};

PostMortem first_mismatch(std::span<const FlightLog> logs) {
  const Calls calls = sort_calls(logs);
  Earliest earliest;
  for (const auto& [key, ends] : calls.messages) {
    const auto& [sent, received] = ends;
    if (sent.flight == nullptr || received.flight == nullptr) continue;
    if (sent.call().count == received.call().count && sent.call().dtype == received.call().dtype)
      continue;
    earliest.add(
        Kind::kMessageMismatch, sent, received, received.context(),
        fmt::format("message mismatch: {}, but {}{}; both sides must agree on element "
                    "count and dtype",
                    call_in_words(sent), call_in_words(received), ranks_in_words(logs, sent)));
  }
  std::vector<std::uint64_t> disagreed;  // groups: later differences are consequences
  for (const auto& [key, by_rank] : calls.collectives) {
    if (std::find(disagreed.begin(), disagreed.end(), key.first) != disagreed.end()) continue;
    const Seen& first = by_rank.begin()->second;
    for (const auto& [rank, seen] : by_rank) {
      const std::string fields =
          differences(collective_call(first.call()), collective_call(seen.call()));
      if (fields.empty()) continue;
      earliest.add(
          Kind::kCollectiveMismatch, first, seen, first.context(),
          fmt::format("collective mismatch in {}: {}, but {}{}", fields, call_in_words(first),
                      call_in_words(seen), communicator_in_words(logs, seen.call())));
      disagreed.push_back(key.first);
      break;
    }
  }
  return earliest.found();
}

enum class Called : std::uint8_t { kYes, kNo, kNotKnown };

/// Returns whether a rank has made the call, as far as its log goes back.
Called has_called(const FlightLog& log, FlightKind kind, const FlightCall& counterpart, int peer) {
  for (auto flight = log.flights.rbegin(); flight != log.flights.rend(); ++flight) {
    const FlightCall& call = flight->call;
    if (call.kind != kind || call.group != counterpart.group || call.peer != peer) continue;
    if (call.number >= counterpart.number) return Called::kYes;
    if (!call.waits) return Called::kNo;  // numbers grow, and this is the latest
  }
  return log.recorded > log.flights.size() ? Called::kNotKnown : Called::kNo;
}

/// A rank that waits for a call of another one.
struct WaitFor {
  Seen waiting;
  int other = -1;
  bool known = true;  // that the other rank has not called
};

class Waits {
 public:
  Waits(std::span<const FlightLog> logs, int world_size)
      : all_(logs), logs_(static_cast<std::size_t>(world_size)), waits_(logs_.size()) {
    for (const FlightLog& log : logs) logs_[static_cast<std::size_t>(log.rank)] = &log;
    for (std::size_t rank = 0; rank < logs_.size(); ++rank) {
      if (logs_[rank] != nullptr) waits_[rank] = first_wait(*logs_[rank]);
    }
  }

  /// Returns where the waiting starts: a rank that no rank blocks, or a cycle.
  PostMortem cause() const {
    int best = -1;
    const WaitFor* chosen = nullptr;
    for (const WaitFor& start : waits_) {
      if (start.other < 0) continue;
      std::vector<bool> visited(waits_.size());
      const WaitFor* wait = &start;
      while (wait_of(wait->other).other >= 0 && !visited[index(wait->waiting.rank)]) {
        visited[index(wait->waiting.rank)] = true;
        wait = &wait_of(wait->other);
      }
      const int certainty = certainty_of(*wait);
      if (certainty <= best) continue;
      best = certainty;
      chosen = wait;
    }
    if (chosen == nullptr) return {};
    ErrorContext context = chosen->waiting.context();
    context.peer = chosen->other;
    return {Kind::kStuck, in_words(*chosen), std::move(context)};
  }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  const FlightLog* log_of(int rank) const { return logs_[index(rank)]; }
  const WaitFor& wait_of(int rank) const { return waits_[index(rank)]; }

  std::vector<int> members_of(std::uint64_t id) const {
    const FlightGroup* const group = group_of(all_, id);
    return group == nullptr ? std::vector<int>() : group->members;
  }

  WaitFor first_wait(const FlightLog& log) const {
    WaitFor unsure;
    for (const LoggedFlight& flight : log.flights) {
      if (!is_open(flight) || flight.call.async) continue;
      for (const int other : partners(flight.call)) {
        const bool itself = other == log.rank && flight.call.kind == FlightKind::kCollective;
        if (other < 0 || itself) continue;
        const Called called = other_has_called(other, flight.call, log.rank);
        if (called == Called::kNo) return {{log.rank, &flight}, other, true};
        if (called == Called::kNotKnown && unsure.other < 0)
          unsure = {{log.rank, &flight}, other, false};
      }
    }
    return unsure;
  }

  std::vector<int> partners(const FlightCall& call) const {
    if (call.kind == FlightKind::kLocal) return {};
    if (call.kind == FlightKind::kCollective) return members_of(call.group);
    return {call.peer};
  }

  Called other_has_called(int other, const FlightCall& call, int rank) const {
    const FlightLog* const log = log_of(other);
    if (log == nullptr) return Called::kNotKnown;
    switch (call.kind) {
      case FlightKind::kSend:
        return has_called(*log, FlightKind::kRecv, call, rank);
      case FlightKind::kRecv:
        return has_called(*log, FlightKind::kSend, call, rank);
      case FlightKind::kCollective:
      case FlightKind::kLocal:
        break;
    }
    return has_called(*log, FlightKind::kCollective, call, -1);
  }

  int certainty_of(const WaitFor& wait) const {
    if (!wait.known) return log_of(wait.other) == nullptr ? 2 : 0;
    const bool never = log_of(wait.other)->returned || wait_of(wait.other).other >= 0;
    return never ? 3 : 1;
  }

  std::string in_words(const WaitFor& wait) const {
    const LoggedFlight& flight = *wait.waiting.flight;
    const FlightCall& call = flight.call;
    const char* const missing = call.kind == FlightKind::kSend   ? "receive"
                                : call.kind == FlightKind::kRecv ? "send"
                                                                 : name_of(call.collective);
    const std::string communicator = communicator_in_words(all_, call);
    const std::string text =
        fmt::format("rank {} waits in {}{}", wait.waiting.rank, op_in_words(flight), communicator);
    const char* const comma = communicator.empty() ? "" : ",";
    const FlightLog* const log = log_of(wait.other);
    if (log == nullptr) {
      return fmt::format(
          "{}{} for the {} of rank {}, which has not reported: it computes, or it is "
          "in a call that cannot be interrupted",
          text, comma, missing, wait.other);
    }
    if (!wait.known) {
      return fmt::format(
          "{}; whether rank {} has called the matching {} is not known: its last {} "
          "operations do not show it",
          text, wait.other, missing, log->flights.size());
    }
    return fmt::format("{}{} for a {} that rank {} has not called: {}", text, comma, missing,
                       wait.other, whereabouts(*log));
  }

  std::string whereabouts(const FlightLog& log) const {
    if (log.returned) return fmt::format("rank {} has returned", log.rank);
    const WaitFor& wait = wait_of(log.rank);
    if (wait.other >= 0) {
      return fmt::format("it waits in {} for rank {}", op_in_words(*wait.waiting.flight),
                         wait.other);
    }
    if (log.flights.empty()) return "it has called nothing yet";
    return fmt::format("its last call was {}", op_in_words(log.flights.back()));
  }

  std::span<const FlightLog> all_;      // in any order
  std::vector<const FlightLog*> logs_;  // [rank]; null: missing
  std::vector<WaitFor> waits_;          // [rank]; other is -1: it does not wait
};

}  // namespace

PostMortem post_mortem(std::span<const FlightLog> logs, int world_size) {
  PostMortem found = first_mismatch(logs);
  return found.kind == Kind::kUnknown ? Waits(logs, world_size).cause() : found;
}

std::exception_ptr error_of(const PostMortem& found, const std::string& details) {
  const std::string text = found.text + (details.empty() ? "" : "\n") + details;
  if (found.kind == Kind::kMessageMismatch)
    return std::make_exception_ptr(MessageMismatch(text, found.context));
  if (found.kind == Kind::kCollectiveMismatch)
    return std::make_exception_ptr(CollectiveMismatch(text, found.context));
  return std::make_exception_ptr(TimedOut(text, found.context));
}

std::string last_operations(std::span<const FlightLog> logs, int world_size) {
  std::string text;
  for (int rank = 0; rank < world_size; ++rank) {
    const auto log = std::find_if(logs.begin(), logs.end(),
                                  [rank](const FlightLog& l) { return l.rank == rank; });
    text += log == logs.end() ? fmt::format("rank {}  has not reported\n", rank) : in_words(*log);
  }
  return text;
}

std::string sandbox_hint(int world_size) {
  return fmt::format(
      "the sandbox proves deadlocks and mismatches: ./rankbox run FILE --ranks {}, "
      "or ./rankbox check EXERCISE",
      world_size);
}

}  // namespace rankbox
