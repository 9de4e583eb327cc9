#include "judge/interleave/dpor.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <unordered_map>

namespace rankbox::interleave {

namespace {

/// What an operation does to one object.
enum class Role : std::uint8_t { kReads, kShares, kUnshares, kChanges, kTakes, kFrees };

Role role_of(const Step& step, bool is_second) {
  using enum Action;
  const Operation& operation = step.operation;
  if (operation.action == kWait) return is_second ? Role::kFrees : Role::kChanges;
  if (operation.action == kWake) return is_second ? Role::kReads : Role::kTakes;
  if (operation.action == kTryLock && step.gave_up) return Role::kReads;
  if (operation.action == kLockShared) return Role::kShares;
  if (operation.action == kUnlockShared) return Role::kUnshares;
  if (!changes(operation.action)) return Role::kReads;
  if (takes(operation.action)) return Role::kTakes;
  return frees(operation.action) ? Role::kFrees : Role::kChanges;
}

/// The steps so far on one object that a later one may race with.
struct History {
  std::vector<std::size_t> reads;  // since the last change
  std::vector<std::size_t> freed;  // since something else changed it, if anything
  std::ptrdiff_t changed = -1;     // the last change that does not only free
  Clock all;                       // before what changes it
  Clock changes;                   // before what reads it
};

}  // namespace

int usual_choice(const Moment& moment) {
  // Yields and long runs of one thread pass to the next one.
  const auto yields = [&](int thread) {
    const Operation* next = moment.next[static_cast<std::size_t>(thread)];
    return next != nullptr && next->action == Action::kYield;
  };
  const auto is_ready = [&](int thread) {
    return std::binary_search(moment.ready.begin(), moment.ready.end(), thread);
  };
  constexpr int kLongRun = 50;
  const bool is_long = moment.run > kLongRun;
  if (!is_long && is_ready(moment.current) && !yields(moment.current)) return moment.current;
  int any = -1;
  const auto threads = static_cast<int>(moment.next.size());
  for (int i = 1; i <= threads; ++i) {
    const int thread = (moment.current + i) % threads;
    if (!is_ready(thread)) continue;
    if (!yields(thread)) return thread;
    if (any < 0) any = thread;
  }
  return any;
}

Dpor::Threads Dpor::asleep_after(const Node& node, const Moment& moment) const {
  Threads asleep = 0;
  for (Threads left = (node.asleep | node.done) & ~set_of(node.chosen); left != 0;
       left &= left - 1) {
    const int thread = std::countr_zero(left);
    const Operation* next = moment.next[static_cast<std::size_t>(thread)];
    if (next != nullptr && !depend(*next, moment.last->operation)) asleep |= set_of(thread);
  }
  return asleep;
}

int Dpor::choose(const Moment& moment) {
  const std::size_t depth = depth_++;
  if (cut_ || diverged_) return usual_choice(moment);
  Threads ready = 0;
  for (const int thread : moment.ready) {
    if (thread >= kMostThreads) diverged_ = true;  // too many for a set
    ready |= set_of(thread % kMostThreads);
  }
  if (diverged_) return usual_choice(moment);
  if (depth < nodes_.size()) {
    Node& node = nodes_[depth];
    if ((ready & set_of(node.chosen)) == 0) {
      diverged_ = true;
      return usual_choice(moment);
    }
    return node.chosen;
  }
  Node node;
  node.ready = ready;
  for (std::size_t thread = 0; thread < moment.polling.size() && thread < kMostThreads; ++thread) {
    if (moment.polling[thread]) node.polling |= Threads{1} << thread;
  }
  if (!nodes_.empty() && moment.last != nullptr) node.asleep = asleep_after(nodes_.back(), moment);
  const Threads awake = node.ready & ~node.asleep;
  if (awake == 0) {
    cut_ = true;
    return usual_choice(moment);
  }
  node.chosen = usual_choice(moment);
  if ((awake & set_of(node.chosen)) == 0) node.chosen = std::countr_zero(awake);
  node.backtrack = set_of(node.chosen);
  nodes_.push_back(node);
  return node.chosen;
}

bool Dpor::next(const Execution& execution) {
  plan(execution);
  depth_ = 0;
  cut_ = false;
  while (!nodes_.empty()) {
    Node& node = nodes_.back();
    node.done |= set_of(node.chosen);
    const Threads left = node.backtrack & ~node.done & ~node.asleep;
    if (left != 0) {
      node.chosen = std::countr_zero(left);
      return true;
    }
    nodes_.pop_back();
  }
  return false;
}

// Finds the races among the steps. A step's clock counts its thread's steps from 1.
void Dpor::plan(const Execution& execution) {
  const std::vector<Step>& steps = execution.steps;
  const std::size_t count = std::min(steps.size(), nodes_.size());
  std::vector<Clock> clocks(count);  // of what happened before each step, with it
  std::vector<Clock> threads(kMostThreads);
  std::vector<std::uint32_t> own(count);
  std::unordered_map<const void*, History> histories;
  std::vector<std::size_t> racing;
  for (std::size_t i = 0; i < count; ++i) {
    const Step& step = steps[i];
    if (step.thread >= kMostThreads) return;
    Clock& clock = threads[static_cast<std::size_t>(step.thread)];
    const Clock before = clock;
    // A thread starts after the step in which it was created.
    if (step.operation.action == Action::kStart && step.number >= 0)
      clock.join(clocks[static_cast<std::size_t>(step.number)]);
    own[i] = before.of(step.thread) + 1;
    clock.set(step.thread, own[i]);
    racing.clear();
    const auto consider = [&](std::size_t earlier) {
      const Step& other = steps[earlier];
      if (other.thread == step.thread || own[earlier] <= before.of(other.thread)) return;
      if (other.operation.commutes && step.operation.commutes &&
          other.operation.action == step.operation.action)
        return;
      racing.push_back(earlier);
    };
    for (const bool is_second : {false, true}) {
      const void* place = is_second ? step.operation.second : step.operation.place;
      if (place == nullptr) continue;
      History& history = histories[place];
      const Role role = role_of(step, is_second);
      // What takes the object was never ready together with what freed it.
      const bool waits = role == Role::kTakes || role == Role::kShares;
      if (!waits && role != Role::kUnshares) {
        for (const std::size_t earlier : history.freed) consider(earlier);
      }
      if (waits || (history.freed.empty() && role != Role::kFrees && role != Role::kUnshares)) {
        if (history.changed >= 0) consider(static_cast<std::size_t>(history.changed));
      }
      if (role == Role::kChanges || role == Role::kTakes || role == Role::kFrees) {
        for (const std::size_t earlier : history.reads) consider(earlier);
      }
      const bool reads = role == Role::kReads || role == Role::kShares || role == Role::kUnshares;
      // Of several units of a semaphore, it is not known who released this one.
      if (role != Role::kTakes || !step.operation.commutes)
        clock.join(reads ? history.changes : history.all);
    }
    clocks[i] = clock;
    for (const bool is_second : {false, true}) {
      const void* place = is_second ? step.operation.second : step.operation.place;
      if (place == nullptr) continue;
      History& history = histories[place];
      const Role role = role_of(step, is_second);
      history.all.join(clock);
      if (role == Role::kUnshares) continue;
      if (role == Role::kReads || role == Role::kShares) {
        history.reads.push_back(i);
        continue;
      }
      history.changes.join(clock);
      history.reads.clear();
      if (role == Role::kFrees) {
        history.freed.push_back(i);
      } else {
        history.freed.clear();
        history.changed = static_cast<std::ptrdiff_t>(i);
      }
    }
    for (const std::size_t earlier : racing) reverse(steps, clocks, earlier, i);
  }
}

// Plans an execution in which the second of two racing steps comes before the first: it begins with
// a thread that can lead there, unless one of those is planned already.
void Dpor::reverse(const std::vector<Step>& steps, const std::vector<Clock>& clocks,
                   std::size_t first, std::size_t second) {
  const auto own = [&](std::size_t i) { return clocks[i].of(steps[i].thread); };
  const int thread = steps[first].thread;
  std::vector<std::pair<int, std::uint32_t>> begun;  // threads on the way, and their first step
  Threads initial = 0;
  for (std::size_t i = first + 1; i <= second; ++i) {
    const bool follows = clocks[i].of(thread) >= own(first);
    if (follows && i != second) continue;
    const int its = steps[i].thread;
    const bool has_begun =
        std::ranges::any_of(begun, [&](const auto& each) { return each.first == its; });
    if (has_begun) continue;
    const bool is_initial = std::ranges::none_of(
        begun, [&](const auto& each) { return clocks[i].of(each.first) >= each.second; });
    if (is_initial) initial |= set_of(its);
    begun.emplace_back(its, own(i));
  }
  Node& node = nodes_[first];
  if ((node.backtrack & initial) != 0) return;
  // A thread that polls would find what it found before.
  if ((initial & node.ready) == 0) {
    if ((initial & node.polling) == 0) node.backtrack |= node.ready;
    return;
  }
  const Threads last = set_of(steps[second].thread);
  const Threads able = initial & node.ready;
  node.backtrack |= (able & last) != 0 ? last : set_of(std::countr_zero(able));
}

}  // namespace rankbox::interleave
