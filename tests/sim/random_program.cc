#include "tests/sim/random_program.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rankbox::testing {
namespace {

// Also on both sides of 48 bytes, the sandbox's limit for short messages: 6 of 8 bytes, 12 of 4.
constexpr std::int64_t kCounts[] = {0, 1, 1, 2, 5, 6, 7, 12, 13, 40, 300, 3000};
constexpr CollectiveKind kCollectives[] = {
    CollectiveKind::kBarrier,   CollectiveKind::kBroadcast,     CollectiveKind::kReduce,
    CollectiveKind::kAllReduce, CollectiveKind::kGather,        CollectiveKind::kAllGather,
    CollectiveKind::kScatter,   CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
    CollectiveKind::kGatherV,   CollectiveKind::kAllGatherV,    CollectiveKind::kScatterV,
    CollectiveKind::kAllToAllV};
// Messages have only those of 8 bytes: a message of the wrong dtype has the right size.
constexpr DType kDTypes[] = {DType::kInt64, DType::kFloat64, DType::kFloat32};

/// Returns the same numbers from the same seed on every machine, which the standard's distributions
/// do not guarantee.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : engine_(seed) {}
  int below(std::size_t bound) { return static_cast<int>(engine_() % bound); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class Range>
  auto pick(const Range& range) {
    return std::data(range)[static_cast<std::size_t>(below(std::size(range)))];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[static_cast<std::size_t>(below(i))]);
  }

 private:
  std::mt19937_64 engine_;
};

bool has_root(CollectiveKind kind) {
  kind = with_equal_pieces(kind);
  return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce ||
         kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter;
}
bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kReduce || kind == CollectiveKind::kAllReduce ||
         kind == CollectiveKind::kReduceScatter;
}

/// Sets the fields of a collective that depend on its kind.
void choose_arguments(Step& step, const std::vector<int>& members, RandomSource& random) {
  step.peer = has_root(step.collective) ? random.pick(members) : -1;
  step.op = reduces(step.collective) ? random.pick(kReduceOps) : ReduceOp::SUM;
  const bool barrier = step.collective == CollectiveKind::kBarrier;
  step.count = barrier ? 0 : random.pick(kCounts);
  step.dtype = barrier ? DType::kInt64 : random.pick(kDTypes);
}

class Generator {
 public:
  Generator(std::uint64_t seed, int most_ranks, int most_events)
      : random_(seed), most_events_(most_events) {
    program_.seed = seed;
    program_.world_size = 1 + random_.below(static_cast<std::size_t>(most_ranks));
    std::vector<int> everyone(static_cast<std::size_t>(program_.world_size));
    std::iota(everyone.begin(), everyone.end(), 0);
    program_.groups.push_back(std::move(everyone));
    program_.ranks.resize(static_cast<std::size_t>(program_.world_size));
    open_.resize(program_.ranks.size());
    const int mode = random_.below(3);
    if (mode == 1) program_.buffering = Buffering::eager(random_.pick(kCounts) * 8);
    if (mode == 2) program_.buffering = Buffering::unbounded();
    program_.schedule = random_.one_in(2) ? 0 : 1 + seed;
  }

  Program make() {
    const int events = 3 + random_.below(static_cast<std::size_t>(most_events_ - 2));
    for (event_ = 0; event_ < events; ++event_) {
      // A single rank has no peer to send to.
      const int kind = program_.world_size == 1 ? 13 + random_.below(7) : random_.below(20);
      if (kind < 10) {
        add_message();
      } else if (kind < 13) {
        add_ring();
      } else if (kind < 17) {
        add_collective();
      } else if (kind < 18) {
        add_split();
      } else {
        steps_of(random_.pick(program_.groups[0])).push_back({.kind = StepKind::kCompute});
      }
      wait_for_some(3);
    }
    wait_for_some(1);
    return std::move(program_);
  }

 private:
  std::vector<Step>& steps_of(int rank) { return program_.ranks[static_cast<std::size_t>(rank)]; }

  int pick_group() {
    const int group = random_.one_in(2) ? 0 : random_.below(program_.groups.size());
    return program_.groups[static_cast<std::size_t>(group)].empty() ? 0 : group;
  }

  std::int64_t value_of(int src, int dst) const {
    return ((src * 16L + dst) * 64 + event_) * 10'000;
  }

  void add(int rank, Step step) {
    if (starts_request(step.kind)) {
      step.request = requests_++;
      open_[static_cast<std::size_t>(rank)].push_back(step.request);
    }
    steps_of(rank).push_back(step);
  }

  void add_message() {
    const int group = pick_group();
    std::vector<int> members = program_.groups[static_cast<std::size_t>(group)];
    if (members.size() < 2) return;
    random_.shuffle(members);
    Step send;
    send.kind = random_.one_in(3) ? StepKind::kIsend : StepKind::kSend;
    send.group = group;
    send.peer = members[1];
    send.count = random_.pick(kCounts);
    if (random_.one_in(4)) send.dtype = DType::kFloat64;
    send.value = value_of(members[0], members[1]);
    Step recv = send;
    recv.kind = random_.one_in(3) ? StepKind::kIrecv : StepKind::kRecv;
    recv.peer = members[0];
    add(members[0], send);
    add(members[1], recv);
  }

  /// Some members of a group each send to the next.
  void add_ring() {
    const int group = pick_group();
    std::vector<int> members = program_.groups[static_cast<std::size_t>(group)];
    if (members.size() < 2) return;
    random_.shuffle(members);
    members.resize(2 + static_cast<std::size_t>(random_.below(members.size() - 1)));
    std::vector<std::int64_t> counts;  // [i]: of the message from i to the next
    for (std::size_t i = 0; i < members.size(); ++i) counts.push_back(random_.pick(kCounts));
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::size_t prev = (i + members.size() - 1) % members.size();
      Step step;
      step.kind = StepKind::kSendrecv;
      step.group = group;
      step.peer = members[(i + 1) % members.size()];
      step.src = members[prev];
      step.count = counts[i];
      step.count_in = counts[prev];
      step.value = value_of(members[i], step.peer);
      add(members[i], step);
    }
  }

  void add_collective() {
    Step step;
    step.group = pick_group();
    step.collective = random_.pick(kCollectives);
    const std::vector<int>& members = program_.groups[static_cast<std::size_t>(step.group)];
    choose_arguments(step, members, random_);
    for (int rank : members) {
      step.kind = random_.one_in(3) ? StepKind::kCollectiveAsync : StepKind::kCollective;
      step.value = value_of(rank, rank);
      add(rank, step);
    }
  }

  /// Splits the world in two, at random.
  void add_split() {
    const auto first = static_cast<int>(program_.groups.size());
    program_.groups.resize(program_.groups.size() + 2);
    for (int rank : program_.groups[0]) {
      const int color = random_.below(2);
      Step step;
      step.kind = StepKind::kSplit;
      step.color = color;
      step.made_group = first + color;
      program_.groups[static_cast<std::size_t>(step.made_group)].push_back(rank);
      add(rank, step);
    }
  }

  /// Adds a wait for every open request, with a chance of one in `n`, in any order.
  void wait_for_some(std::size_t n) {
    for (int rank = 0; rank < program_.world_size; ++rank) {
      std::vector<int>& open = open_[static_cast<std::size_t>(rank)];
      random_.shuffle(open);
      while (!open.empty() && random_.one_in(n)) {
        Step wait;
        wait.kind = StepKind::kWait;
        wait.request = open.back();
        open.pop_back();
        steps_of(rank).push_back(wait);
      }
    }
  }

  RandomSource random_;
  int most_events_;
  Program program_;
  std::vector<std::vector<int>> open_;  // [rank] requests not waited for yet
  int event_ = 0;
  int requests_ = 0;
};

// ---- Breaking -------------------------------------------------------------------------------

/// Returns whether waits come after their start, groups are used after their creation, and splits
/// keep their order, which determines the groups.
bool is_sound(const std::vector<Step>& steps) {
  std::vector<int> started;
  std::vector<int> groups = {0};
  for (const Step& step : steps) {
    const bool uses_group = is_message(step.kind) || is_collective(step.kind);
    if (uses_group && std::find(groups.begin(), groups.end(), step.group) == groups.end())
      return false;
    if (step.kind == StepKind::kSplit && step.made_group < groups.back()) return false;
    if (step.kind == StepKind::kSplit) groups.push_back(step.made_group);
    if (starts_request(step.kind)) started.push_back(step.request);
    if (step.kind == StepKind::kWait &&
        std::find(started.begin(), started.end(), step.request) == started.end()) {
      return false;
    }
  }
  return true;
}

/// Changes one thing on one rank. Returns what, or nothing if it cannot be done there.
std::string change_something(Program& program, RandomSource& random) {
  const int rank = random.below(program.ranks.size());
  std::vector<Step>& steps = program.ranks[static_cast<std::size_t>(rank)];
  if (steps.empty()) return "";
  const auto at = static_cast<std::size_t>(random.below(steps.size()));
  const auto here = steps.begin() + static_cast<std::ptrdiff_t>(at);
  Step& step = *here;
  const std::vector<int>& members = program.groups[static_cast<std::size_t>(step.group)];
  const std::string where = " step " + std::to_string(at) + " of rank " + std::to_string(rank);
  switch (random.below(9)) {
    case 0: {  // with its wait
      if (step.kind == StepKind::kSplit || step.kind == StepKind::kCompute) return "";
      const Step gone = step;
      steps.erase(here);
      if (starts_request(gone.kind)) {
        std::erase_if(steps, [&](const Step& s) {
          return s.kind == StepKind::kWait && s.request == gone.request;
        });
      }
      return (gone.kind == StepKind::kWait ? "dropped the wait at" : "dropped") + where;
    }
    case 1: {
      const auto other = static_cast<std::size_t>(random.below(steps.size()));
      if (other == at) return "";
      std::swap(steps[at], steps[other]);
      return "swapped" + where + " and " + std::to_string(other);
    }
    case 2: {
      if (!is_message(step.kind) && !is_collective(step.kind)) return "";
      if (step.collective == CollectiveKind::kBarrier && is_collective(step.kind)) return "";
      std::int64_t& count =
          step.kind == StepKind::kSendrecv && random.one_in(2) ? step.count_in : step.count;
      count = count == 0 || random.one_in(2) ? count + 1 : count - 1;
      return "changed the size at" + where;
    }
    case 3: {
      if (!is_message(step.kind)) return "";
      int& peer = step.kind == StepKind::kSendrecv && random.one_in(2) ? step.src : step.peer;
      const int other = random.pick(members);
      if (other == rank || other == peer) return "";
      peer = other;
      return "changed the peer at" + where;
    }
    case 4:
      steps.insert(here, Step{.kind = StepKind::kThrow});
      return "throws before" + where;
    case 5:
      if (step.kind != StepKind::kWait) return "";
      steps.erase(here);
      return "dropped the wait at" + where;
    case 6:
      steps.insert(here, Step{.kind = StepKind::kReturn});
      return "returns before" + where;
    case 7: {
      if (!is_collective(step.kind)) return "";
      const Step before = step;
      if (random.one_in(2)) step.collective = random.pick(kCollectives);
      choose_arguments(step, members, random);
      if (step.collective != CollectiveKind::kBarrier && random.one_in(2)) {
        step.count = before.count;
        step.dtype = before.dtype;
      }
      return "changed the collective at" + where;
    }
    default:
      if (!is_message(step.kind)) return "";
      step.dtype = step.dtype == DType::kInt64 ? DType::kFloat64 : DType::kInt64;
      return "changed the dtype at" + where;
  }
}

const char* name_of(StepKind kind) {
  constexpr const char* kNames[] = {
      "send", "recv",  "sendrecv", "isend", "irecv", "collective", "collective async",
      "wait", "split", "compute",  "throw", "return"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

Program matched_program(std::uint64_t seed, int most_ranks, int most_events) {
  return Generator(seed, most_ranks, most_events).make();
}

Program broken_program(std::uint64_t seed, int most_ranks, int most_events) {
  const Program matched = matched_program(seed, most_ranks, most_events);
  RandomSource random(seed ^ 0x9e3779b97f4a7c15);
  while (true) {
    Program broken = matched;
    broken.change = change_something(broken, random);
    const bool sound = std::all_of(broken.ranks.begin(), broken.ranks.end(), is_sound);
    if (!broken.change.empty() && sound) return broken;
  }
}

std::int64_t element_of(const Step& step, std::int64_t i) {
  const std::int64_t value = step.value + i;
  if (!is_collective(step.kind)) return value;
  if (step.op == ReduceOp::PRODUCT) return value % 3 == 0 ? -2 : 1;
  // Sums stay below 2^24, and any number of ranks up to 9 divides them.
  if (step.op == ReduceOp::AVG || step.dtype == DType::kFloat32) return value % 499 * 2520;
  return value;
}

std::uint64_t digest(std::span<const std::int64_t> elements) {
  std::uint64_t hash = 1469598103934665603;
  for (std::int64_t element : elements)
    hash = (hash ^ static_cast<std::uint64_t>(element)) * 1099511628211;
  return hash;
}

std::string to_string(const Program& program) {
  std::string text = "program " + std::to_string(program.seed) +
                     (program.change.empty() ? "" : ", which " + program.change);
  text += program.buffering == Buffering::rendezvous()  ? ", rendezvous"
          : program.buffering == Buffering::unbounded() ? ", unbounded"
                                                        : ", eager";
  for (std::size_t group = 1; group < program.groups.size(); ++group) {
    text += "\n  group " + std::to_string(group) + ":";
    for (int rank : program.groups[group]) text += " " + std::to_string(rank);
  }
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    text += "\n  rank " + std::to_string(rank) + ":";
    for (const Step& s : program.ranks[rank]) {
      text += std::string(" ") + name_of(s.kind);
      if (is_collective(s.kind)) text += std::string(" ") + rankbox::name_of(s.collective);
      if (is_collective(s.kind) && reduces(s.collective))
        text += std::string(" ") + rankbox::name_of(s.op);
      text += "(";
      if (s.peer >= 0) text += "peer " + std::to_string(s.peer) + " ";
      if (s.src >= 0)
        text += "src " + std::to_string(s.src) + " in " + std::to_string(s.count_in) + " ";
      if (is_message(s.kind) || is_collective(s.kind))
        text += std::to_string(s.count) + " " + rankbox::name_of(s.dtype);
      if (s.group > 0) text += " group " + std::to_string(s.group);
      if (s.request >= 0) text += " #" + std::to_string(s.request);
      text += ")";
    }
  }
  return text;
}

}  // namespace rankbox::testing
