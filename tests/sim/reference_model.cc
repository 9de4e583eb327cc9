#include "tests/sim/reference_model.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tests/sim/reference_collectives.h"

namespace rankbox::testing {
namespace {

/// A posted half of a message, or one rank's part in a collective.
struct Posted {
  enum State { kPending, kDone, kMismatch };
  Step step;
  int rank = -1;
  bool sends = false;
  bool buffered = false;
  State state = kPending;
  std::vector<std::int64_t> received;  // kDone: what arrived, if anything does
};

class Model {
 public:
  /// @param taken_back requests that no rank waits for, and that no operation may match
  Model(const Program& program, std::set<int> taken_back)
      : program_(program), taken_back_(std::move(taken_back)), ranks_(program.ranks.size()) {}

  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < program_.world_size; ++rank) {
        while (move(rank)) moved = true;
      }
    }
  }

  /// Returns requests that ranks started and did not wait for before they ended or failed.
  std::vector<int> open_requests() const {
    std::vector<int> open;
    for (const Rank& rank : ranks_) {
      if (!rank.ended && !rank.failed) continue;
      for (const auto& [request, posted] : rank.requests) open.push_back(request);
    }
    return open;
  }

  std::vector<Verdict> verdicts() const {
    if (!errors_.empty()) return errors_;
    Verdict verdict;
    for (int rank = 0; rank < program_.world_size; ++rank) {
      if (!state_of(rank).ended) verdict.blocked.push_back(describe(rank));
    }
    if (!verdict.blocked.empty()) {
      verdict.kind = OutcomeKind::kDeadlock;
      // So is a message that did not fit, though no rank came to wait for it.
      if (const int rank = first_mismatched(); rank >= 0)
        verdict = {OutcomeKind::kMessageMismatch, rank, {}};
      // Abandoned requests are the cause of a deadlock, not the other way round.
      for (int rank = 0; rank < program_.world_size; ++rank) {
        if (!state_of(rank).ended || state_of(rank).requests.empty()) continue;
        return {{OutcomeKind::kUnreceived, rank, {}}};
      }
    } else if ((verdict.rank = first_to_leave_something()) >= 0) {
      verdict.kind = OutcomeKind::kUnreceived;
    }
    return {verdict};
  }

  std::vector<std::vector<std::uint64_t>> received() const {
    std::vector<std::vector<std::uint64_t>> all;
    for (const Rank& rank : ranks_) all.push_back(rank.received);
    return all;
  }

  std::set<OutcomeKind> disagreements() const {
    std::set<OutcomeKind> kinds;
    for (const Posted& posted : all_) {
      if (posted.state != Posted::kMismatch) continue;
      kinds.insert(is_message(posted.step.kind) ? OutcomeKind::kMessageMismatch
                                                : OutcomeKind::kCollectiveMismatch);
    }
    return kinds;
  }

 private:
  struct Rank {
    std::size_t next = 0;  // step
    bool ended = false;
    bool failed = false;
    std::vector<Posted*> waiting;  // the posted step; of a sendrecv: its send, its receive
    std::map<int, Posted*> requests;
    std::vector<std::uint64_t> received;
  };
  struct Meeting {
    std::vector<Posted*> arrived;
    bool mismatch = false;
  };

  Rank& state_of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& state_of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  const std::vector<int>& members(int group) const {
    return program_.groups[static_cast<std::size_t>(group)];
  }

  /// Advances a rank by one step, or into one that it must wait in. Returns false if it did not
  /// advance.
  bool move(int number) {
    Rank& rank = state_of(number);
    const std::vector<Step>& steps = program_.ranks[static_cast<std::size_t>(number)];
    if (rank.ended || rank.failed) return false;
    if (rank.next == steps.size() || steps[rank.next].kind == StepKind::kReturn) {
      rank.ended = true;
      return true;
    }
    const Step& step = steps[rank.next];
    if (step.kind == StepKind::kThrow) {
      fail(number, {{OutcomeKind::kFailed, number, {}}});
      return true;
    }
    const bool entered = rank.waiting.empty() && enter(number, step);
    // A sendrecv fails as soon as one of its halves does.
    for (const Posted* part : rank.waiting) {
      if (part->state != Posted::kMismatch) continue;
      fail(number, blame(*part));
      return true;
    }
    for (const Posted* part : rank.waiting) {
      if (part->state == Posted::kPending) return entered;
    }
    for (const Posted* part : rank.waiting) {
      const bool barrier =
          !is_message(part->step.kind) && part->step.collective == CollectiveKind::kBarrier;
      const bool receives = is_message(part->step.kind)
                                ? !part->sends
                                : part->step.kind != StepKind::kSplit && !barrier;
      if (receives) rank.received.push_back(digest(part->received));
    }
    rank.waiting.clear();
    ++rank.next;
    return true;
  }

  /// Posts the operations of the step, and records what it must wait for.
  bool enter(int number, const Step& step) {
    Rank& rank = state_of(number);
    switch (step.kind) {
      case StepKind::kSend:
      case StepKind::kRecv:
        rank.waiting = {&post_message(number, step, step.kind == StepKind::kSend)};
        break;
      case StepKind::kSendrecv: {
        Step receive = step;
        receive.peer = step.src;
        receive.count = step.count_in;
        Posted& in = post_message(number, receive, false);
        rank.waiting = {&post_message(number, step, true), &in};
        break;
      }
      case StepKind::kIsend:
      case StepKind::kIrecv:
        rank.requests[step.request] = &post_message(number, step, step.kind == StepKind::kIsend);
        break;
      case StepKind::kCollective:
      case StepKind::kSplit:
        rank.waiting = {&arrive(number, step)};
        break;
      case StepKind::kCollectiveAsync:
        rank.requests[step.request] = &arrive(number, step);
        break;
      case StepKind::kWait:
        rank.waiting = {rank.requests.at(step.request)};
        rank.requests.erase(step.request);
        break;
      default:
        break;
    }
    return true;
  }

  Posted& make(int rank, const Step& step) {
    Posted& posted = all_.emplace_back();
    posted.step = step;
    posted.rank = rank;
    return posted;
  }

  Posted& post_message(int rank, const Step& step, bool sends) {
    Posted& posted = make(rank, step);
    posted.sends = sends;
    posted.buffered = sends && program_.buffering.buffers(step.count * 8);
    if (!posted.buffered && taken_back_.contains(step.request)) return posted;
    const auto key =
        sends ? std::tuple(step.group, rank, step.peer) : std::tuple(step.group, step.peer, rank);
    std::deque<Posted*>& queue = mailboxes_[key];
    if (queue.empty() || queue.front()->sends == sends) {
      queue.push_back(&posted);
    } else {
      Posted& other = *queue.front();
      queue.pop_front();
      sends ? match(posted, other) : match(other, posted);
    }
    if (posted.buffered) posted.state = Posted::kDone;
    return posted;
  }

  void match(Posted& send, Posted& recv) {
    const bool fits = send.step.count == recv.step.count && send.step.dtype == recv.step.dtype;
    recv.state = fits ? Posted::kDone : Posted::kMismatch;
    if (!send.buffered) send.state = recv.state;
    if (fits) recv.received = elements_of(send.step, 0, send.step.count);
    if (!fits) mismatched_with_[&send] = &recv, mismatched_with_[&recv] = &send;
  }

  Posted& arrive(int rank, const Step& step) {
    Posted& posted = make(rank, step);
    Meeting& meeting = meetings_[{step.group, arrivals_[{step.group, rank}]++}];
    meeting_of_[&posted] = &meeting;
    if (taken_back_.contains(step.request)) return posted;
    meeting.arrived.push_back(&posted);
    const Step& first = meeting.arrived.front()->step;
    // A split is no separate kind of collective here: its step identifies it.
    const auto arguments = [](const Step& s) {
      const bool split = s.kind == StepKind::kSplit;
      return std::tuple(split, split ? CollectiveKind::kSplit : s.collective, s.peer, s.op, s.count,
                        s.dtype);
    };
    meeting.mismatch = meeting.mismatch || arguments(first) != arguments(step);
    if (meeting.mismatch) {
      for (Posted* part : meeting.arrived) part->state = Posted::kMismatch;
    } else if (meeting.arrived.size() == members(step.group).size()) {
      finish(meeting);
    }
    return posted;
  }

  void finish(const Meeting& meeting) const {
    const std::vector<int>& ranks = members(meeting.arrived.front()->step.group);
    std::vector<Step> steps(ranks.size());
    const auto index_of = [&](int rank) {
      return std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
    };
    for (const Posted* part : meeting.arrived) {
      steps[static_cast<std::size_t>(index_of(part->rank))] = part->step;
    }
    for (Posted* part : meeting.arrived) {
      part->state = Posted::kDone;
      part->received = result_of_collective(steps, ranks, static_cast<int>(index_of(part->rank)));
    }
  }

  void fail(int rank, const std::vector<Verdict>& errors) {
    state_of(rank).failed = true;
    errors_.insert(errors_.end(), errors.begin(), errors.end());
  }

  /// The run may name any rank that gets the error.
  std::vector<Verdict> blame(const Posted& part) const {
    if (is_message(part.step.kind)) {
      return {{OutcomeKind::kMessageMismatch, part.rank, {}},
              {OutcomeKind::kMessageMismatch, mismatched_with_.at(&part)->rank, {}}};
    }
    std::vector<Verdict> all;
    for (int rank : members(part.step.group))
      all.push_back({OutcomeKind::kCollectiveMismatch, rank, {}});
    return all;
  }

  BlockedRank describe(int number) const {
    BlockedRank blocked{number, "", {}};
    for (const Posted* part : state_of(number).waiting) {
      if (part->state != Posted::kPending) continue;
      const Step& step = part->step;
      if (step.kind == StepKind::kSendrecv) {
        blocked.op = "sendrecv";
      } else if (is_message(step.kind)) {
        blocked.op = part->sends ? "send" : "recv";
      } else {
        blocked.op = rankbox::name_of(step.kind == StepKind::kSplit ? CollectiveKind::kSplit
                                                                    : step.collective);
      }
      std::vector<int> peers = {step.peer};
      if (!is_message(step.kind)) {
        peers = members(step.group);
        for (const Posted* there : meeting_of_.at(part)->arrived) std::erase(peers, there->rank);
      }
      for (int peer : peers) {
        const bool known =
            std::find(blocked.peers.begin(), blocked.peers.end(), peer) != blocked.peers.end();
        if (!known) blocked.peers.push_back(peer);
      }
    }
    return blocked;
  }

  /// Returns the lowest rank with a message that did not fit; -1 if there is none.
  int first_mismatched() const {
    int lowest = -1;
    for (const auto& [mine, theirs] : mismatched_with_) {
      if (lowest < 0 || mine->rank < lowest) lowest = mine->rank;
    }
    return lowest;
  }

  /// Returns the lowest rank with a request that was not waited for; if there is none, with a
  /// message that was not received; else -1.
  int first_to_leave_something() const {
    for (int rank = 0; rank < program_.world_size; ++rank) {
      if (!state_of(rank).requests.empty()) return rank;
    }
    int lowest = -1;
    for (const auto& [key, queue] : mailboxes_) {
      for (const Posted* left : queue) {
        if (lowest < 0 || left->rank < lowest) lowest = left->rank;
      }
    }
    return lowest;
  }

  const Program& program_;
  const std::set<int> taken_back_;
  std::vector<Rank> ranks_;
  std::deque<Posted> all_;  // with stable addresses
  // (group, source, destination)
  std::map<std::tuple<int, int, int>, std::deque<Posted*>> mailboxes_;
  std::map<std::pair<int, int>, Meeting> meetings_;  // (group, number)
  std::map<std::pair<int, int>, int> arrivals_;      // (group, rank)
  std::map<const Posted*, const Meeting*> meeting_of_;
  std::map<const Posted*, const Posted*> mismatched_with_;
  std::vector<Verdict> errors_;
};

}  // namespace

Prediction predict(const Program& program) {
  Model model(program, {});
  model.run();
  Prediction prediction{model.verdicts(), model.disagreements(), model.received()};
  const std::vector<int> open = model.open_requests();
  for (std::uint64_t chosen = 1; chosen < std::uint64_t{1} << open.size(); ++chosen) {
    std::set<int> taken_back;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (chosen >> i & 1) taken_back.insert(open[i]);
    }
    Model variant(program, std::move(taken_back));
    variant.run();
    prediction.disagreements.merge(variant.disagreements());
    for (Verdict& verdict : variant.verdicts()) {
      const auto& known = prediction.possible;
      if (std::find(known.begin(), known.end(), verdict) == known.end())
        prediction.possible.push_back(std::move(verdict));
    }
  }
  return prediction;
}

std::string to_string(const Verdict& verdict) {
  constexpr const char* kNames[] = {
      "ok", "deadlock", "message mismatch", "collective mismatch", "unreceived", "failed"};
  std::string text = kNames[static_cast<std::size_t>(verdict.kind)];
  if (verdict.rank >= 0) text += " of rank " + std::to_string(verdict.rank);
  for (const BlockedRank& blocked : verdict.blocked) {
    text += ", " + std::to_string(blocked.rank) + " in " + blocked.op + " for";
    for (int peer : blocked.peers) text += " " + std::to_string(peer);
  }
  return text;
}

}  // namespace rankbox::testing
