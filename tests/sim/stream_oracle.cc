#include "tests/sim/stream_oracle.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <random>
#include <utility>

#include "comm/errors.h"
#include "comm/run_ranks.h"

namespace rankbox::testing {
namespace {

RunOptions on_one_thread(int world_size) {
  RunOptions options;
  options.world_size = world_size;
  options.executor = ExecutorKind::kFibers;
  options.fiber_threads = 1;
  return options;
}

bool is_started_message(const Step& step) {
  return step.kind == StepKind::kIsend || step.kind == StepKind::kIrecv;
}

/// Starts half of the blocking messages, and waits for them up to three calls later.
void start_more(std::vector<Step>& steps, std::mt19937_64& random) {
  constexpr int kFirstRequest = 1000;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool sends = steps[i].kind == StepKind::kSend;
    if ((!sends && steps[i].kind != StepKind::kRecv) || random() % 2 == 0) continue;
    steps[i].kind = sends ? StepKind::kIsend : StepKind::kIrecv;
    steps[i].request = kFirstRequest + static_cast<int>(i);
    Step wait;
    wait.kind = StepKind::kWait;
    wait.request = steps[i].request;
    const std::size_t later = std::min(steps.size(), i + 1 + random() % 4);
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(later), wait);
  }
}

bool may_swap(const Step& first, const Step& second) {
  return is_started_message(first) && is_started_message(second) &&
         (first.kind != second.kind || first.peer != second.peer);
}

/// What a rank tells its stream, and waits for, in one call.
struct HandOver {
  std::vector<std::vector<Step>> groups;
  std::size_t until = 0;  // it waits for this many groups, from the first one on
};

/// Returns them for each call of a rank.
std::vector<HandOver> hand_overs(const std::vector<Call>& calls) {
  std::vector<HandOver> all;
  std::vector<Step> called;
  std::map<int, std::size_t> group_of;  // [request] counts from 1
  std::size_t groups = 0;
  for (const Call& call : calls) {
    HandOver& here = all.emplace_back();
    const Step& first = call.front();
    if (is_started_message(first)) {
      called.push_back(first);
      continue;
    }
    if (first.kind == StepKind::kCompute || first.kind == StepKind::kCollectiveAsync) continue;
    const auto joins = [&](const Step& step) {
      const auto same = [&](const Step& wait) { return wait.request == step.request; };
      return call.size() > 1 && std::ranges::any_of(call, same);
    };
    // A message of 0 elements does nothing, but the ones around it are no neighbours.
    bool begins = true;
    for (std::size_t i = 0; i < called.size(); ++i) {
      begins |= i > 0 && (!joins(called[i - 1]) || !joins(called[i]));
      if (called[i].count == 0) continue;
      if (std::exchange(begins, false)) here.groups.emplace_back();
      here.groups.back().push_back(called[i]);
      group_of[called[i].request] = groups + here.groups.size();
    }
    called.clear();
    const bool is_message_now = is_message(first.kind);
    if (is_message_now && (first.count > 0 || first.count_in > 0)) here.groups.push_back({first});
    groups += here.groups.size();
    if (is_message_now && !here.groups.empty()) here.until = groups;
    for (const Step& wait : call) {
      if (wait.kind == StepKind::kWait && group_of.contains(wait.request))
        here.until = std::max(here.until, group_of[wait.request]);
    }
  }
  all.emplace_back();
  for (const Step& step : called) {
    if (step.count > 0) all.back().groups.push_back({step});
  }
  return all;
}

class Oracle {
 public:
  Oracle(const std::vector<std::vector<Call>>& ranks, bool buffered)
      : ranks_(ranks), buffered_(buffered) {}

  /// Returns whether ranks with real streams deadlock.
  bool hangs() const {
    const int world_size = 2 * static_cast<int>(ranks_.size());
    RunOptions options = on_one_thread(world_size);
    options.trace = false;
    RunReport report;
    try {
      run_world(
          options, [this](Comm& dist) { run(dist); }, &report);
    } catch (const DeadlockError&) {
      return true;
    }
    return false;
  }

 private:
  void run(Comm& dist) const {
    const int ranks = static_cast<int>(ranks_.size());
    const bool is_stream = dist.rank() >= ranks;
    Comm alike = dist.split(is_stream ? 1 : 0);
    const std::vector<Call>& calls = ranks_[static_cast<std::size_t>(dist.rank() % ranks)];
    is_stream ? stream(dist, calls) : host(dist, alike, calls);
  }

  void host(Comm& dist, Comm& hosts, const std::vector<Call>& calls) const {
    const int its_stream = dist.rank() + hosts.world_size();
    const std::vector<HandOver> handed = hand_overs(calls);
    Tensor token = zeros(1);
    Tensor received = zeros(1);
    std::vector<Comm::Request> told;
    std::map<int, Comm::Request> started;
    std::size_t done = 0;
    for (std::size_t i = 0; i < handed.size(); ++i) {
      for (std::size_t g = 0; g < handed[i].groups.size(); ++g)
        told.push_back(dist.isend(token, its_stream));
      for (; done < handed[i].until; ++done) dist.recv(received, its_stream);
      if (i == calls.size()) break;
      for (const Step& step : calls[i]) {
        if (step.kind == StepKind::kCollective) hosts.barrier();
        if (step.kind == StepKind::kCollectiveAsync) started[step.request] = hosts.barrier_async();
        if (started.contains(step.request) && step.kind == StepKind::kWait)
          hosts.wait(started[step.request]);
      }
    }
    std::size_t groups = 0;
    for (const HandOver& each : handed) groups += each.groups.size();
    for (; done < groups; ++done) dist.recv(received, its_stream);
    dist.wait_all(told);
  }

  void stream(Comm& dist, const std::vector<Call>& calls) const {
    const int ranks = static_cast<int>(ranks_.size());
    Tensor room = zeros(1);
    std::deque<Tensor> rooms;
    std::vector<Comm::Request> left;  // sends that did not wait for their receiver
    for (const HandOver& each : hand_overs(calls)) {
      for (const std::vector<Step>& group : each.groups) {
        dist.recv(room, dist.rank() - ranks);
        std::vector<Comm::Request> under_way;
        for (const Step& step : group) {
          const bool both = step.kind == StepKind::kSendrecv;
          const bool sends = step.kind == StepKind::kSend || step.kind == StepKind::kIsend || both;
          const bool receives = !sends || both;
          const int source = both ? step.src : step.peer;
          if (sends && step.count > 0) {
            Comm::Request sent = dist.isend(rooms.emplace_back(1), ranks + step.peer);
            (buffered_ ? left : under_way).push_back(sent);
          }
          if (receives && (both ? step.count_in : step.count) > 0)
            under_way.push_back(dist.irecv(rooms.emplace_back(1), ranks + source));
        }
        dist.wait_all(under_way);
        left.push_back(dist.isend(rooms.emplace_back(1), dist.rank() - ranks));
      }
    }
    dist.wait_all(left);
  }

  const std::vector<std::vector<Call>>& ranks_;
  const bool buffered_;
};

}  // namespace

std::optional<std::vector<std::vector<Call>>> random_calls(std::uint64_t seed, bool crossed) {
  Program program = matched_program(seed, 5);
  if (program.groups.size() > 1) return std::nullopt;
  std::mt19937_64 random(seed);
  std::vector<std::vector<Call>> ranks;
  for (std::vector<Step>& steps : program.ranks) {
    start_more(steps, random);
    // A matched program has one order of all messages, so that no two streams cross.
    for (std::size_t i = 1; crossed && i < steps.size(); ++i) {
      if (may_swap(steps[i - 1], steps[i]) && random() % 2 == 0) std::swap(steps[i - 1], steps[i]);
    }
    std::vector<Call>& calls = ranks.emplace_back();
    for (const Step& step : steps) {
      const bool waits = step.kind == StepKind::kWait;
      const bool follows = !calls.empty() && calls.back().front().kind == StepKind::kWait;
      if (waits && follows && random() % 2 == 0) {
        calls.back().push_back(step);
      } else {
        calls.push_back({step});
      }
    }
  }
  return ranks;
}

Trace trace_of(const std::vector<std::vector<Call>>& ranks) {
  const auto body = [&](Comm& dist) {
    std::map<int, Comm::Request> started;
    std::deque<Tensor> rooms;
    const auto room = [&](std::int64_t count) -> Tensor& {
      return rooms.emplace_back(zeros(count));
    };
    for (const Call& call : ranks[static_cast<std::size_t>(dist.rank())]) {
      const Step& step = call.front();
      std::vector<Comm::Request> waited;
      for (const Step& wait : call) waited.push_back(started[wait.request]);
      switch (step.kind) {
        case StepKind::kSend:
          dist.send(room(step.count), step.peer);
          break;
        case StepKind::kRecv:
          dist.recv(room(step.count), step.peer);
          break;
        case StepKind::kSendrecv:
          dist.sendrecv(room(step.count), step.peer, room(step.count_in), step.src);
          break;
        case StepKind::kIsend:
          started[step.request] = dist.isend(room(step.count), step.peer);
          break;
        case StepKind::kIrecv:
          started[step.request] = dist.irecv(room(step.count), step.peer);
          break;
        case StepKind::kCollective:
          dist.barrier();
          break;
        case StepKind::kCollectiveAsync:
          started[step.request] = dist.barrier_async();
          break;
        case StepKind::kWait:
          dist.wait_all(waited);
          break;
        default:
          break;
      }
    }
  };
  RunReport report;
  run_world(on_one_thread(static_cast<int>(ranks.size())), body, &report);
  return report.trace;
}

bool hangs_on_streams(const std::vector<std::vector<Call>>& ranks, bool buffered) {
  return Oracle(ranks, buffered).hangs();
}

}  // namespace rankbox::testing
