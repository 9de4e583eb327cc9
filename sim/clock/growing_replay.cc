#include "sim/clock/growing_replay.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/clock/contended_clocks.h"
#include "sim/clock/contributions.h"
#include "sim/clock/native_cost.h"

namespace rankbox {
namespace {

bool is_message(const Event& event) {
  return event.kind == EventKind::kSend || event.kind == EventKind::kRecv;
}

bool may_overlap(const Event& event) { return event.async || event.buffered; }

/// Returns whether the two are the sides of one message.
bool fit(const Event& mine, int my_rank, const Event& other, int other_rank) {
  return is_message(other) && mine.kind != other.kind && mine.group == other.group &&
         mine.peer == other_rank && other.peer == my_rank;
}

}  // namespace

GrowingReplay::GrowingReplay(const Cluster& cluster, std::vector<int> nodes)
    : cluster_(cluster), prices_{cluster}, nodes_(std::move(nodes)), ranks_(nodes_.size()) {}

void GrowingReplay::add_group(int group, std::vector<int> members) {
  std::set<int> nodes;
  for (const int rank : members) nodes.insert(nodes_[static_cast<std::size_t>(rank)]);
  const Lock guard(lock_);
  const auto index = static_cast<std::size_t>(group);
  if (groups_.size() <= index) groups_.resize(index + 1);
  groups_[index] = {.members = std::move(members), .nodes = static_cast<int>(nodes.size())};
}

void GrowingReplay::append(int number, std::span<const Event> events) {
  const Lock guard(lock_);
  Rank& rank = ranks_[static_cast<std::size_t>(number)];
  if (rank.next > rank.events.size() / 2) drop_replayed(rank);
  rank.events.insert(rank.events.end(), events.begin(), events.end());
  walk(number);
  while (!released_.empty()) {
    const int next = released_.back();
    released_.pop_back();
    walk(next);
  }
}

void GrowingReplay::drop_replayed(Rank& rank) {
  rank.events.erase(rank.events.begin(),
                    rank.events.begin() + static_cast<std::ptrdiff_t>(rank.next));
  rank.dropped += std::exchange(rank.next, 0);
}

/// Ends the call that the rank has reached, if it is complete. Returns whether the rank goes on.
bool GrowingReplay::leaves_call(Rank& rank) {
  for (int half = 0; half < rank.halves; ++half) {
    if (!rank.done[static_cast<std::size_t>(half)]) return false;
  }
  for (int half = 0; half < rank.halves; ++half)
    rank.now = FourPrices::later(rank.now, rank.ended[static_cast<std::size_t>(half)]);
  rank.next += static_cast<std::size_t>(rank.halves);
  rank.halves = 0;
  return true;
}

/// Advances a rank until it must wait.
void GrowingReplay::walk(int number) {
  Rank& rank = ranks_[static_cast<std::size_t>(number)];
  while (!rank.overlaps && leaves_call(rank) && rank.next < rank.events.size()) {
    const Event& next = event(rank, 0);
    switch (next.kind) {
      case EventKind::kCompute:
        rank.now += prices_.compute(next.seconds);
        ++rank.next;
        break;
      case EventKind::kReduce:
        rank.now += prices_.reduction(static_cast<double>(next.bytes));
        ++rank.next;
        break;
      case EventKind::kWait:  // only for a started operation, before which the rank stops
        rank.overlaps = true;
        break;
      case EventKind::kSend:
      case EventKind::kRecv:
      case EventKind::kCollective:
        // The halves of a sendrecv start together and are waited for together.
        reach(number, next.paired && rank.next + 1 < rank.events.size() ? 2 : 1);
        break;
    }
  }
  // A rank that has caught up holds no memory: there may be a million.
  if (rank.next == rank.events.size()) {
    rank.dropped += std::exchange(rank.next, 0);
    rank.events = {};
  }
}

void GrowingReplay::reach(int number, int halves) {
  Rank& rank = ranks_[static_cast<std::size_t>(number)];
  for (int half = 0; half < halves; ++half) {
    if (may_overlap(event(rank, half))) {
      rank.overlaps = true;
      return;
    }
  }
  rank.halves = halves;
  rank.done = {};
  if (event(rank, 0).kind == EventKind::kCollective) {
    arrive(number);
    return;
  }
  for (int half = 0; half < halves; ++half) match(number, half);
}

/// Executes a message if its other side has been reached, too.
void GrowingReplay::match(int number, int half) {
  Rank& rank = ranks_[static_cast<std::size_t>(number)];
  const Event& mine = event(rank, half);
  Rank& peer = ranks_[static_cast<std::size_t>(mine.peer)];
  for (int i = 0; i < peer.halves; ++i) {
    const Event& other = event(peer, i);
    bool& other_done = peer.done[static_cast<std::size_t>(i)];
    if (other_done || !fit(mine, number, other, mine.peer)) continue;
    if (mine.bytes != other.bytes) return;  // the run ended there
    const bool same_node =
        nodes_[static_cast<std::size_t>(number)] == nodes_[static_cast<std::size_t>(mine.peer)];
    FourTimes end = FourPrices::later(rank.now, peer.now);
    end += prices_.message(same_node, static_cast<double>(mine.bytes));
    rank.ended[static_cast<std::size_t>(half)] = peer.ended[static_cast<std::size_t>(i)] = end;
    rank.done[static_cast<std::size_t>(half)] = other_done = true;
    if (&peer != &rank) released_.push_back(mine.peer);
    return;
  }
}

void GrowingReplay::arrive(int number) {
  const int group_number = event(ranks_[static_cast<std::size_t>(number)], 0).group;
  Group& group = groups_[static_cast<std::size_t>(group_number)];
  group.arrived.push_back(number);
  if (group.arrived.size() == group.members.size()) complete(group);
}

void GrowingReplay::complete(Group& group) {
  const Event& first = event(ranks_[static_cast<std::size_t>(group.arrived.front())], 0);
  FourTimes end;
  Contributions contributions;
  for (const int side : group.arrived) {
    const Rank& rank = ranks_[static_cast<std::size_t>(side)];
    const Event& its = event(rank, 0);
    if (its.collective != first.collective) return;  // the run ended there
    end = FourPrices::later(end, rank.now);
    contributions.add(its.bytes, side == first.peer);
  }
  end += price(group, first.collective, contributions.as_equal_pieces(first.collective));
  for (const int side : group.arrived) {
    Rank& rank = ranks_[static_cast<std::size_t>(side)];
    rank.ended[0] = end;
    rank.done[0] = true;
    released_.push_back(side);
  }
  group.arrived.clear();
}

const FourTimes& GrowingReplay::price(Group& group, CollectiveKind kind, double bytes) const {
  const cost::NativeCall call = {.kind = kind,
                                 .world_size = static_cast<int>(group.members.size()),
                                 .nodes = group.nodes,
                                 .bytes = bytes};
  if (call != group.last_call) {
    group.last_call = call;
    group.last_price =
        prices_.native(call, cost::native_cost(call.kind, call.world_size, call.bytes,
                                               cluster_.link(call.nodes == 1), cluster_.gamma));
  }
  return group.last_price;
}

std::vector<Clock> GrowingReplay::finish() {
  const Lock guard(lock_);
  const auto overlaps = [](const Rank& rank) { return rank.overlaps; };
  if (std::ranges::any_of(ranks_, overlaps)) return finish_overlapping();
  std::vector<Clock> clocks;
  clocks.reserve(ranks_.size());
  for (const Rank& rank : ranks_) clocks.push_back(clock_of(rank.now));
  return clocks;
}

/// Replays the events that are left in the order of virtual time.
std::vector<Clock> GrowingReplay::finish_overlapping() {
  Trace rest;
  rest.nodes = nodes_;
  for (Group& group : groups_) rest.groups.push_back(std::move(group.members));
  std::vector<ReplayStart<FourTimes>> starts;
  for (Rank& rank : ranks_) {
    ReplayStart<FourTimes>& start = starts.emplace_back();
    start.now = rank.now;
    for (std::size_t half = 0; half < static_cast<std::size_t>(rank.halves); ++half) {
      if (rank.done[half]) start.ended[half] = rank.ended[half];
    }
    drop_replayed(rank);
    start.first_event = rank.dropped;
    rest.ranks.push_back(std::move(rank.events));
  }
  return contended_clocks(rest, cluster_, starts);
}

}  // namespace rankbox
