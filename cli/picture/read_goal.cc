#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/picture/goal.h"
#include "cli/support/lists.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

enum class Kind { kSend, kRecv, kCalc };

/// An operation of a rank.
struct Step {
  Kind kind = Kind::kCalc;
  std::int64_t amount = 0;  // bytes, or nanoseconds
  int peer = -1;
  int tag = 0;
  int line = 0;
  std::vector<std::size_t> requires_done;  // steps of the same rank
  std::vector<std::size_t> after_done;     // steps that require that this one is done,
  std::vector<std::size_t> after_start;    // or has started
  int missing = 0;                         // of what it requires
  bool started = false;
  bool done = false;
};

struct RankOfGoal {
  std::vector<Step> steps;
  std::unordered_map<std::string, std::size_t> labels;
  std::vector<std::size_t> order;  // in which they start
  bool is_there = false;
};

class GoalReader {
 public:
  explicit GoalReader(std::string name) : name_(std::move(name)) {}

  std::vector<RankOfGoal> read(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      line = line.substr(0, std::min(line.find("//"), line.size()));
      std::istringstream words(line);
      std::vector<std::string> all;
      for (std::string word; words >> word;) all.push_back(word);
      if (!all.empty()) read_line(all);
    }
    if (rank_ >= 0) refuse(fmt::format("rank {} has no closing brace", rank_));
    if (ranks_.empty()) refuse("num_ranks is missing: is this a GOAL schedule?");
    const auto missing = std::ranges::find(ranks_, false, &RankOfGoal::is_there);
    if (missing != ranks_.end()) {
      refuse(fmt::format("rank {} is missing: one without operations is \"rank R {{\" and \"}}\"",
                         missing - ranks_.begin()));
    }
    return std::move(ranks_);
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw InvalidArgument(fmt::format("{}:{}: {}", name_, line_, problem));
  }

  void read_line(const std::vector<std::string>& words) {
    if (ranks_.empty()) {
      if (words[0] != "num_ranks" || words.size() != 2)
        refuse(fmt::format("\"{}\", where num_ranks N should be first", words[0]));
      ranks_.resize(static_cast<std::size_t>(number(words[1], 1, kLargestWorld)));
    } else if (rank_ < 0) {
      if (words.size() != 3 || words[0] != "rank" || words[2] != "{")
        refuse(fmt::format("\"{}\", where rank R {{ should be", words[0]));
      rank_ = static_cast<int>(number(words[1], 0, static_cast<std::int64_t>(ranks_.size()) - 1));
      if (std::exchange(here().is_there, true)) refuse(fmt::format("rank {} is here twice", rank_));
    } else if (words[0] == "}") {
      rank_ = -1;
    } else if (words[0].ends_with(':')) {
      add_step(words);
    } else if (words.size() == 3 && (words[1] == "requires" || words[1] == "irequires")) {
      add_dependency(step(words[0]), step(words[2]), words[1] == "requires");
    } else {
      refuse(
          fmt::format("\"{}\": an operation is \"l1: send 8b to 1\", recv 8b from 0 or calc 100; "
                      "else \"l2 requires l1\"",
                      words[0]));
    }
  }

  void add_step(const std::vector<std::string>& words) {
    Step made;
    made.line = line_;
    const bool is_calc = words.size() >= 3 && words[1] == "calc";
    const bool sends = words.size() >= 5 && words[1] == "send" && words[3] == "to";
    const bool receives = words.size() >= 5 && words[1] == "recv" && words[3] == "from";
    std::size_t next = 3;
    if (is_calc) {
      made.amount = number(words[2], 0, kMost);
    } else if (sends || receives) {
      made.kind = sends ? Kind::kSend : Kind::kRecv;
      if (!words[2].ends_with('b')) refuse(fmt::format("\"{}\": bytes are like 8b", words[2]));
      made.amount = number(words[2].substr(0, words[2].size() - 1), 0, kMost);
      made.peer =
          static_cast<int>(number(words[4], 0, static_cast<std::int64_t>(ranks_.size()) - 1));
      next = 5;
    } else {
      refuse("an operation is send 8b to R, recv 8b from R, or calc NANOSECONDS");
    }
    for (; next + 1 < words.size(); next += 2) {
      const auto value = static_cast<int>(number(words[next + 1], 0, INT32_MAX));
      if (words[next] == "tag") made.tag = value;  // cpu and nic say nothing here
      if (words[next] != "tag" && words[next] != "cpu" && words[next] != "nic")
        refuse(fmt::format("\"{}\": only tag, cpu and nic may follow", words[next]));
    }
    if (next < words.size()) refuse(fmt::format("\"{}\" has no number", words[next]));
    const std::string label = words[0].substr(0, words[0].size() - 1);
    if (!here().labels.emplace(label, here().steps.size()).second)
      refuse(fmt::format("label {} is here twice", label));
    here().steps.push_back(std::move(made));
  }

  std::size_t step(const std::string& label) {
    const auto found = here().labels.find(label);
    if (found == here().labels.end())
      refuse(fmt::format("rank {} has no label {} above this line", rank_, label));
    return found->second;
  }

  void add_dependency(std::size_t later, std::size_t earlier, bool is_done) {
    std::vector<Step>& steps = here().steps;
    (is_done ? steps[earlier].after_done : steps[earlier].after_start).push_back(later);
    if (is_done) steps[later].requires_done.push_back(earlier);
    ++steps[later].missing;
  }

  std::int64_t number(const std::string& word, std::int64_t least, std::int64_t most) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < least || value > most)
      refuse(fmt::format("\"{}\" is no whole number from {} to {}", word, least, most));
    return value;
  }

  RankOfGoal& here() { return ranks_[static_cast<std::size_t>(rank_)]; }

  static constexpr std::int64_t kMost = std::int64_t{1} << 50;

  const std::string name_;
  int line_ = 0;
  int rank_ = -1;  // in whose braces the line is
  std::vector<RankOfGoal> ranks_;
};

/// Finds an order in which each rank can start its steps: one that an execution has.
class GoalOrder {
 public:
  GoalOrder(std::vector<RankOfGoal>& ranks, const std::string& name) : ranks_(ranks), name_(name) {}

  void find() {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
      for (std::size_t i = 0; i < of(rank).steps.size(); ++i)
        if (of(rank).steps[i].missing == 0) ready_.push_back({rank, i});
    }
    while (!ready_.empty()) {
      const Id id = ready_.front();
      ready_.pop_front();
      start(id);
    }
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
      for (std::size_t i = 0; i < of(rank).steps.size(); ++i)
        if (!of(rank).steps[i].done) refuse_open({rank, i});
    }
  }

 private:
  struct Id {
    int rank;
    std::size_t step;
  };
  using Route = std::tuple<int, int, int>;  // source, destination, tag

  RankOfGoal& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  Step& at(Id id) { return of(id.rank).steps[id.step]; }

  static Route route_of(Id id, const Step& step) {
    return step.kind == Kind::kSend ? Route{id.rank, step.peer, step.tag}
                                    : Route{step.peer, id.rank, step.tag};
  }

  static std::string in_words(const Step& step) {
    if (step.kind == Kind::kCalc) return "calc";
    return fmt::format("{} {} rank {}", step.kind == Kind::kSend ? "send" : "recv",
                       step.kind == Kind::kSend ? "to" : "from", step.peer);
  }

  void start(Id id) {
    Step& step = at(id);
    step.started = true;
    of(id.rank).order.push_back(id.step);
    release(id.rank, step.after_start);
    if (step.kind == Kind::kCalc) return finish(id);
    std::deque<Id>& waiting = waiting_[route_of(id, step)];
    if (waiting.empty() || at(waiting.front()).kind == step.kind) {
      waiting.push_back(id);
      return;
    }
    const Id other = waiting.front();
    waiting.pop_front();
    if (at(other).amount != step.amount) {
      throw InvalidArgument(fmt::format(
          "{}:{}: {} of {} bytes meets that of rank {} at line {}, of {} bytes", name_, step.line,
          in_words(step), step.amount, other.rank, at(other).line, at(other).amount));
    }
    finish(other);
    finish(id);
  }

  void finish(Id id) {
    at(id).done = true;
    release(id.rank, at(id).after_done);
  }

  void release(int rank, const std::vector<std::size_t>& later) {
    for (const std::size_t step : later)
      if (--of(rank).steps[step].missing == 0) ready_.push_back({rank, step});
  }

  /// Says why a step never ends: it, or what it requires, waits for a message.
  [[noreturn]] void refuse_open(Id id) {
    // A started one is nearer to the cause.
    for (int rank = 0; rank < static_cast<int>(ranks_.size()) && !at(id).started; ++rank) {
      for (std::size_t i = 0; i < of(rank).steps.size(); ++i)
        if (of(rank).steps[i].started && !of(rank).steps[i].done) id = {rank, i};
    }
    const Step& step = at(id);
    const std::string where =
        fmt::format("{}:{}: rank {}'s {}", name_, step.line, id.rank, in_words(step));
    if (!step.started) throw InvalidArgument(where + " requires, in a circle, what requires it");
    const bool sends = step.kind == Kind::kSend;
    std::int64_t balance = 0;
    for (const Step& mine : of(id.rank).steps)
      if (mine.kind == step.kind && mine.peer == step.peer && mine.tag == step.tag) ++balance;
    for (const Step& theirs : of(step.peer).steps) {
      const bool meets = theirs.kind == (sends ? Kind::kRecv : Kind::kSend);
      if (meets && theirs.peer == id.rank && theirs.tag == step.tag) --balance;
    }
    if (balance > 0) {
      throw InvalidArgument(fmt::format("{} is unmatched: rank {} has no {} of tag {} for it",
                                        where, step.peer, sends ? "recv" : "send", step.tag));
    }
    throw InvalidArgument(where + " never ends: ranks wait for each other (deadlock)");
  }

  std::vector<RankOfGoal>& ranks_;
  const std::string& name_;
  std::deque<Id> ready_;
  std::map<Route, std::deque<Id>> waiting_;
};

/// Returns the events of one rank: messages are started, and waited for before what requires them.
std::vector<Event> events_of(const RankOfGoal& rank, const std::map<int, std::int32_t>& groups) {
  std::vector<Event> events;
  std::vector<bool> waited(rank.steps.size());
  const auto wait = [&](std::size_t i) {
    if (rank.steps[i].kind == Kind::kCalc || waited[i]) return;
    waited[i] = true;
    Event& event = events.emplace_back();
    event.kind = EventKind::kWait;
    event.request = static_cast<std::uint32_t>(i);
    event.peer = rank.steps[i].peer;
    event.done = true;
  };
  for (const std::size_t i : rank.order) {
    const Step& step = rank.steps[i];
    for (const std::size_t required : step.requires_done) wait(required);
    Event& event = events.emplace_back();
    event.done = true;
    if (step.kind == Kind::kCalc) {
      event.kind = EventKind::kCompute;
      event.seconds = static_cast<double>(step.amount) * 1e-9;
      continue;
    }
    event.kind = step.kind == Kind::kSend ? EventKind::kSend : EventKind::kRecv;
    event.async = true;
    event.request = static_cast<std::uint32_t>(i);
    event.peer = step.peer;
    event.bytes = step.amount;
    event.group = groups.at(step.tag);
  }
  for (const std::size_t i : rank.order) wait(i);
  return events;
}

}  // namespace

Trace read_goal(std::string_view text, const std::string& name) {
  std::vector<RankOfGoal> ranks = GoalReader(name).read(text);
  GoalOrder(ranks, name).find();
  std::map<int, std::int32_t> groups;  // [tag]
  for (const RankOfGoal& rank : ranks) {
    for (const Step& step : rank.steps)
      groups.emplace(step.tag, static_cast<std::int32_t>(groups.size()));
  }
  Trace trace;
  std::vector<int> all_ranks;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    all_ranks.push_back(static_cast<int>(rank));
    trace.ranks.push_back(events_of(ranks[rank], groups));
  }
  // Messages alone need no list of a group's ranks, and there may be a tag for each of them.
  trace.groups.resize(std::max<std::size_t>(1, groups.size()));
  trace.groups.front() = std::move(all_ranks);
  trace.nodes.assign(ranks.size(), 0);
  return trace;
}

}  // namespace rankbox::cli
