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
  made.count = call.count;
  return made;
}

/// A communicator, as its first member made it.
struct NamedGroup {
  std::vector<int> members;
  std::string name;
};

std::string name_of_group(const FlightLog& log, const FlightGroup& group) {
  int number = 1;  // of those that its line made of its ranks
  for (const FlightGroup& earlier : log.groups) {
    if (&earlier == &group) break;
    number += earlier.line == group.line && earlier.file == group.file &&
              earlier.members == group.members;
  }
  return communicator_name(group.members, group.file.c_str(), group.line, number);
}

/// Returns nothing if no log knows it.
std::optional<NamedGroup> group_of(std::span<const FlightLog> logs, std::uint64_t id) {
  std::optional<NamedGroup> found;
  for (const FlightLog& log : logs) {
    const auto known = std::ranges::find(log.groups, id, &FlightGroup::id);
    if (known == log.groups.end()) continue;
    if (!found || log.rank == known->members.front())
      found = {known->members, name_of_group(log, *known)};
  }
  return found;
}

/// Returns ", in the communicator split at ring.cc:7, …"; "" for that of all ranks.
std::string communicator_in_words(std::span<const FlightLog> logs, const FlightCall& call) {
  const auto group = call.group == 0 ? std::nullopt : group_of(logs, call.group);
  return group ? fmt::format(", in {}", group->name) : "";
}

/// Returns " (ranks 1 and 0 of the communicator split at ring.cc:7, …)" of a message; "" if all
/// ranks are in it.
std::string ranks_of_message(std::span<const FlightLog> logs, const Seen& sent) {
  const auto group = sent.call().group == 0 ? std::nullopt : group_of(logs, sent.call().group);
  if (!group) return "";
  return ranks_in_communicator(group->members, group->name, sent.rank, sent.call().peer);
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
                    call_in_words(sent), call_in_words(received), ranks_of_message(logs, sent)));
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

/// Returns a call that has not finished, of the lowest rank that has one. A message comes before a
/// collective, in which other ranks wait because of it. Calls that return at once do not count.
PostMortem open_call(std::span<const FlightLog> logs) {
  const auto is_collective = [](const Seen& seen) {
    return seen.call().kind == FlightKind::kCollective;
  };
  Seen found;
  for (const FlightLog& log : logs) {
    for (const LoggedFlight& flight : log.flights) {
      if (!is_open(flight) || flight.call.async || flight.call.kind == FlightKind::kLocal) continue;
      const Seen seen{log.rank, &flight};
      if (found.flight == nullptr ||
          std::pair(is_collective(seen), seen.rank) < std::pair(is_collective(found), found.rank))
        found = seen;
    }
  }
  if (found.flight == nullptr) return {};
  return {Kind::kStuck,
          fmt::format(
              "rank {} has not finished {}{}: the matching call of {} may be missing", found.rank,
              op_in_words(*found.flight), communicator_in_words(logs, found.call()),
              is_collective(found) ? "another rank" : fmt::format("rank {}", found.call().peer)),
          found.context()};
}

}  // namespace

PostMortem post_mortem(std::span<const FlightLog> logs) {
  PostMortem found = first_mismatch(logs);
  return found.kind == Kind::kUnknown ? open_call(logs) : found;
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
