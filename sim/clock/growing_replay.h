// Virtual time of a trace that is still growing, in bounded memory.
//
// Each rank appends its events while the run goes on. An event is replayed as soon as its partners
// have appended theirs, and is then dropped. So memory depends on how far ranks are ahead of each
// other, not on how many messages they exchange: a ring of 4,096 ranks has 67 million events. Where
// a rank waits with events that it has not appended yet, the ranks that depend on them keep theirs.
//
// Messages of blocking calls never compete for a port, so they may be replayed in any order. From
// its first asynchronous or buffered event on, the events of a rank, and of those that depend on
// it, are kept until finish(), which replays them in the order of virtual time (engine.h). The
// clocks equal those of the whole trace.
//
// Cost: O(E) for E events of blocking calls. Thread safety: any thread may call append() and
// add_group(); finish() follows after all of them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "comm/run_options.h"
#include "comm/thread_annotations.h"
#include "comm/trace.h"
#include "sim/clock/four_times.h"

namespace rankbox {

class GrowingReplay {
 public:
  /// @param cluster outlives the replay
  /// @param nodes the node of each world rank
  GrowingReplay(const Cluster& cluster, std::vector<int> nodes);

  /// Adds a communicator before any rank appends an event of it.
  /// @param group as in the events
  void add_group(int group, std::vector<int> members);

  /// Appends the next events of rank `number`. The two events of a sendrecv must come in one call.
  void append(int number, std::span<const Event> events);

  /// Returns every rank's clock at its last event that could be replayed.
  std::vector<Clock> finish();

 private:
  struct Rank {
    FourTimes now;
    std::vector<Event> events;  // from `next` on, not replayed yet
    std::size_t next = 0;       // in `events`
    std::size_t dropped = 0;    // the number of events before events[0]
    // The rank has reached its next event, or the two next ones of a sendrecv.
    int halves = 0;  // reached; 0: none
    std::array<bool, 2> done{};
    std::array<FourTimes, 2> ended{};
    bool overlaps = false;  // its next event may compete for a port: wait for finish()
  };
  /// A communicator, and its ranks that have reached its next collective.
  struct Group {
    std::vector<int> members;
    int nodes = 1;
    std::vector<int> arrived{};
    // The last price: a program repeats its calls, and a price takes some 100 ns.
    cost::NativeCall last_call{.world_size = 0};  // none yet
    FourTimes last_price{};
  };

  const Event& event(const Rank& rank, int half) const {
    return rank.events[rank.next + static_cast<std::size_t>(half)];
  }
  static void drop_replayed(Rank& rank);
  static bool leaves_call(Rank& rank);
  void walk(int number) REQUIRES(lock_);
  void reach(int number, int halves) REQUIRES(lock_);
  void match(int number, int half) REQUIRES(lock_);
  void arrive(int number) REQUIRES(lock_);
  void complete(Group& group) REQUIRES(lock_);
  const FourTimes& price(Group& group, CollectiveKind kind, double bytes) const;
  std::vector<Clock> finish_overlapping() REQUIRES(lock_);

  const Cluster& cluster_;
  const FourPrices prices_;
  const std::vector<int> nodes_;  // [world rank]

  Mutex lock_;
  std::vector<Rank> ranks_ GUARDED_BY(lock_);
  std::vector<Group> groups_ GUARDED_BY(lock_);
  std::vector<int> released_ GUARDED_BY(lock_);  // ranks whose wait may be over
};

}  // namespace rankbox
