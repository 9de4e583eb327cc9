#include "sim/wait_for_graph.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "sim/group.h"
#include "sim/skipped_collective.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

constexpr std::size_t kMostRanksShown = 8;
// Of a collective that many ranks have not called, each rank that waits lists so many.
constexpr std::size_t kMostPeers = 1000;

const char* operation_name(const RankState& rank) {
  const Operation& operation = *rank.waiting[0];
  if (operation.kind == OperationKind::kCollective) return name_of(operation.collective_kind);
  if (rank.waiting[1] != nullptr) return "sendrecv";
  return operation.kind == OperationKind::kSend ? "send" : "recv";
}

std::string ranks_in_words(const std::vector<int>& ranks) {
  std::string words = ranks.size() == 1 ? "rank" : "ranks";
  for (std::size_t i = 0; i < ranks.size() && i < kMostRanksShown; ++i) {
    words += fmt::format("{}{}", i == 0 ? " " : ", ", ranks[i]);
  }
  if (ranks.size() > kMostRanksShown)
    words += fmt::format(" and {} more", ranks.size() - kMostRanksShown);
  return words;
}

std::string wait_in_words(const Wait& wait) {
  const std::string place = fmt::format("at {}:{}", wait.file, wait.line);
  const std::string peers = ranks_in_words(wait.peers);
  if (wait.op == "send")
    return fmt::format("rank {} waits to send {} B to {} {}", wait.rank, wait.bytes, peers, place);
  if (wait.op == "recv")
    return fmt::format("rank {} waits to receive {} B from {} {}", wait.rank, wait.bytes, peers,
                       place);
  if (wait.op == "sendrecv")
    return fmt::format("rank {} waits in sendrecv for {} {}", wait.rank, peers, place);
  return fmt::format("rank {} waits in {} for {} {}", wait.rank, wait.op, peers, place);
}

/// Follows waits from each rank until one repeats (a cycle) or none follows (a chain that ends at a
/// rank that returned). Each rank is visited once.
/// @return the first cycle, from its lowest rank on; else the longest chain
std::vector<int> find_cycle(const std::vector<Wait>& waits, int world_size) {
  const auto ranks = static_cast<std::size_t>(world_size);
  std::vector<const Wait*> by_rank(ranks, nullptr);
  for (const Wait& wait : waits) by_rank[static_cast<std::size_t>(wait.rank)] = &wait;
  const auto wait_of = [&](int rank) { return by_rank[static_cast<std::size_t>(rank)]; };

  // The rank that each one waits for; -1: none. A rank in a collective waits for several: prefer
  // one that is itself waiting, since that may close a cycle.
  const auto next_of = [&](int rank) {
    const Wait* const wait = wait_of(rank);
    if (wait == nullptr || wait->peers.empty()) return -1;
    const auto next =
        std::ranges::find_if(wait->peers, [&](int peer) { return wait_of(peer) != nullptr; });
    return next != wait->peers.end() ? *next : wait->peers.front();
  };

  std::vector<int> length(ranks, 0);  // of the chain from a rank on; 0: not visited
  int longest = -1;                   // the rank where the longest one begins
  for (const Wait& start : waits) {
    constexpr int kOnPath = -1;
    std::vector<int> path;
    int at = start.rank;
    for (; at >= 0 && length[static_cast<std::size_t>(at)] == 0; at = next_of(at)) {
      length[static_cast<std::size_t>(at)] = kOnPath;
      path.push_back(at);
    }
    if (at >= 0 && length[static_cast<std::size_t>(at)] == kOnPath) {
      std::vector<int> cycle(std::ranges::find(path, at), path.end());
      std::rotate(cycle.begin(), std::ranges::min_element(cycle), cycle.end());
      return cycle;
    }
    int rest = at >= 0 ? length[static_cast<std::size_t>(at)] : 0;
    for (auto rank = path.rbegin(); rank != path.rend(); ++rank)
      length[static_cast<std::size_t>(*rank)] = ++rest;
    if (longest < 0 ||
        length[static_cast<std::size_t>(start.rank)] > length[static_cast<std::size_t>(longest)]) {
      longest = start.rank;
    }
  }
  std::vector<int> chain;
  for (int at = longest; at >= 0; at = next_of(at)) chain.push_back(at);
  return chain;
}

/// Returns the communicator in which the rank waits.
const Group& group_of(const RankState& rank) {
  const Operation& operation = *rank.waiting[0];
  if (operation.kind != OperationKind::kCollective) return rank.world->group_of(*operation.channel);
  return operation.job != nullptr ? operation.job->group() : *rank.collective_operation.group;
}

/// @param several the report has waits in several communicators
std::string communicator_in_words(const Group& group, const RankState& rank, bool several) {
  const Operation& operation = *rank.waiting[0];
  std::string words = operation.kind == OperationKind::kCollective
                          ? group.in_words()
                          : group.in_words(rank.rank, operation.peer);
  return words.empty() && several ? ", in the world" : words;
}

Hint hint_for(const std::vector<Wait>& waits, const std::vector<int>& cycle, bool chain,
              bool several) {
  const auto all = [&](const char* op) {
    return std::ranges::all_of(cycle, [&](int rank) {
      const Wait* const wait = find_wait(waits, rank);
      return wait != nullptr && wait->op == op;
    });
  };
  if (chain)
    return {"returned-too-early",
            "a rank returned too early, or its peers expect one call too many"};
  if (cycle.size() == 1)
    return {"waits-for-itself",
            "a rank cannot wait for itself: skip that message, or is it the wrong rank?"};
  if (all("send")) {
    return {
        "all-send-first",
        "all of them send first, and a send waits for its receive (as on NCCL): let one receive "
        "first, or use sendrecv"};
  }
  if (all("recv"))
    return {"all-receive-first", "all of them receive first: one rank has to send first"};
  if (several) {
    return {"several-communicators",
            "a call completes only in its own communicator, and these differ: use the same one on "
            "all sides, in the same order"};
  }
  return {"order-differs", "every send needs its receive in the same order on the other side"};
}

/// The ranks that have not called a collective, found once for all ranks that wait in it.
class Missing {
 public:
  const std::vector<int>& of(const CollectiveJob& job) {
    const auto [place, is_new] = jobs_.try_emplace(&job);
    std::vector<int>& ranks = place->second;
    for (std::size_t i = 0; is_new && i < job.participants().size(); ++i) {
      if (ranks.size() == kMostPeers) break;
      if (job.participants()[i] == nullptr)
        ranks.push_back(job.group().world_rank(static_cast<int>(i)));
    }
    return ranks;
  }

 private:
  std::unordered_map<const CollectiveJob*, std::vector<int>> jobs_;
};

/// Describes the wait of a parked rank in the terms of the learner's program.
Wait describe_wait(const RankState& rank, Missing& missing) {
  const Operation& operation = *rank.waiting[0];
  Wait wait{rank.rank,       operation_name(rank),        {},
            operation.bytes, operation.place.file_name(), static_cast<int>(operation.place.line())};
  if (operation.kind == OperationKind::kCollective && operation.job == nullptr) {
    const CollectiveOperation& collective = rank.collective_operation;
    for (int index : collective.group->short_collectives().awaited_by(collective.index))
      wait.peers.push_back(collective.group->world_rank(index));
  } else if (operation.kind == OperationKind::kCollective) {
    wait.peers = missing.of(*operation.job);
  } else {
    for (const Operation* half : rank.waiting) {
      const bool pending = half != nullptr && half->state.load(std::memory_order_acquire) != kDone;
      if (pending &&
          std::find(wait.peers.begin(), wait.peers.end(), half->peer) == wait.peers.end()) {
        wait.peers.push_back(half->peer);
      }
    }
  }
  return wait;
}

/// Returns a line on unmatched operations other than the waits themselves. Empty if there is none.
std::string describe_unmatched(const std::vector<const RankState*>& asleep,
                               const std::vector<Channel::Leftover>& unmatched) {
  std::unordered_set<const Operation*> waits;
  for (const RankState* rank : asleep) waits.insert({rank->waiting[0], rank->waiting[1]});
  std::vector<Channel::Leftover> others;
  for (const Channel::Leftover& leftover : unmatched) {
    if (!waits.contains(leftover.operation)) others.push_back(leftover);
  }
  if (others.empty()) return "";
  return fmt::format("\n  unmatched: {}{}", in_words(others.front()),
                     others.size() > 1 ? fmt::format(" (and {} more)", others.size() - 1) : "");
}

}  // namespace

const Wait* find_wait(const std::vector<Wait>& waits, int rank) {
  const auto wait = std::ranges::lower_bound(waits, rank, {}, &Wait::rank);
  return wait != waits.end() && wait->rank == rank ? &*wait : nullptr;
}

std::string in_words(const Channel::Leftover& leftover) {
  const bool sent = leftover.kind == OperationKind::kSend;
  return fmt::format(
      "rank {} {} {} bytes {} rank {} at {}:{}{}", leftover.owner, sent ? "sent" : "waits for",
      leftover.bytes, sent ? "to" : "from", leftover.peer, leftover.place.file_name(),
      leftover.place.line(),
      leftover.group == nullptr ? "" : leftover.group->in_words(leftover.owner, leftover.peer));
}

DeadlockError explain_deadlock(const std::vector<const RankState*>& asleep,
                               const std::vector<bool>& returned,
                               const std::vector<Channel::Leftover>& unmatched) {
  std::vector<Wait> waits;
  Missing missing;
  for (const RankState* rank : asleep) waits.push_back(describe_wait(*rank, missing));
  const std::vector<int> cycle = find_cycle(waits, static_cast<int>(returned.size()));
  const bool chain = !cycle.empty() && returned[static_cast<std::size_t>(cycle.back())];
  const std::string unmatched_in_words = describe_unmatched(asleep, unmatched);

  std::vector<int> blocked;
  for (const Wait& wait : waits) blocked.push_back(wait.rank);
  std::string story =
      fmt::format("deadlock: {} blocked and nothing is in flight", ranks_in_words(blocked));
  // The report has at most twelve lines.
  const std::size_t most_shown = kMostRanksShown - (unmatched_in_words.empty() ? 0 : 1);
  const std::size_t shown = std::min(most_shown, cycle.size());
  std::vector<const RankState*> states;  // of the ranks shown; null: has returned
  std::vector<const Group*> groups;      // in which they wait
  for (std::size_t i = 0; i < shown; ++i) {
    const auto state = std::ranges::find(asleep, cycle[i], &RankState::rank);
    states.push_back(state == asleep.end() ? nullptr : *state);
    if (states.back() != nullptr) groups.push_back(&group_of(*states.back()));
  }
  const bool several = std::ranges::adjacent_find(groups, std::not_equal_to()) != groups.end();
  for (std::size_t i = 0; i < shown; ++i) {
    // Those that have returned are the last in their chain.
    story += states[i] == nullptr ? fmt::format("\n  rank {} has returned", cycle[i])
                                  : "\n  " + wait_in_words(*find_wait(waits, cycle[i])) +
                                        communicator_in_words(*groups[i], *states[i], several);
  }
  if (shown < cycle.size())
    story += fmt::format("\n  … {} more in the circle", cycle.size() - shown);
  if (!chain && cycle.size() > 1) story += fmt::format("\n  and so back to rank {}", cycle.front());
  if (chain && shown == cycle.size() && shown > 1 && shown < most_shown) {
    const RankState& last = *states[shown - 2];  // it waits for the rank that has returned
    if (last.waiting[0]->kind == OperationKind::kCollective)
      story += skipped_collective(group_of(last), last, last.world->rank(cycle.back()));
  }
  story += unmatched_in_words;
  const Hint hint = hint_for(waits, cycle, chain, several);
  story += "\n  hint: " + hint.text;

  // Every cycle and chain starts with a parked rank.
  const Wait& first = cycle.empty() ? waits.front() : *find_wait(waits, cycle.front());
  const ErrorContext context{first.rank, first.op, first.peers.empty() ? -1 : first.peers.front(),
                             first.file, first.line};
  return DeadlockError(story, context, waits, cycle, hint);
}

}  // namespace rankbox::sim
