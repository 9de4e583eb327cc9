#include "viewer/memory_replay.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "viewer/collective_result.h"
#include "viewer/links.h"

namespace rankbox {
namespace {

using State = HeldContents::State;
using Kind = MemoryNote::Kind;

/// Bounds time and memory. A run of 15,000 messages of one element reaches it: its page takes 0.8 s.
constexpr std::size_t kMostWork = 4'000'000;

class MemoryReplay {
 public:
  explicit MemoryReplay(const Trace& trace) : trace_(trace), links_(link_events(trace)) {
    for (const std::vector<Event>& events : trace.ranks) {
      history_.moved.emplace_back(events.size());
      RankMemory& rank = ranks_.emplace_back();
      rank.rank = static_cast<int>(ranks_.size()) - 1;
      rank.started.resize(events.size(), nullptr);
      rank.meetings.resize(events.size(), nullptr);
      const std::vector<MemoryNote>& notes = notes_of(rank);
      const auto last = std::find_if(notes.rbegin(), notes.rend(), [](const MemoryNote& note) {
        return note.kind == Kind::kEvent;
      });
      rank.after_last_call = static_cast<std::size_t>(std::distance(last, notes.rend()));
    }
  }

  /// Each rank goes on until it needs what another one has not sent yet.
  MemoryHistory run() {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (RankMemory& rank : ranks_) {
        while (work_ < kMostWork && rank.next < notes_of(rank).size() &&
               step(rank, notes_of(rank)[rank.next])) {
          ++rank.next;
          goes_on = true;
        }
      }
    }
    if (work_ >= kMostWork) return {};
    mark_own_parts();
    return std::move(history_);
  }

 private:
  struct RankMemory {
    int rank = 0;
    std::size_t next = 0;                        // note
    std::size_t after_last_call = 0;             // note
    std::size_t settled = MemoryChange::kStart;  // the last event that ended before the next one
    std::map<std::uintptr_t, int> live;          // tensors by address
    std::map<std::uintptr_t, std::pair<std::uintptr_t, int>> clones;  // the latest of a tensor
    std::vector<const MemoryNote*> started;     // [event]: the note of an asynchronous one
    std::vector<Meeting*> meetings;             // [event]: of a collective that was called
    std::map<std::int32_t, std::size_t> calls;  // of collectives, by group
  };

  const std::vector<MemoryNote>& notes_of(const RankMemory& rank) const {
    return trace_.memory_notes[static_cast<std::size_t>(rank.rank)];
  }

  /// Returns false if the rank has to wait: forever, if it did so in the run.
  bool step(RankMemory& rank, const MemoryNote& note) {
    switch (note.kind) {
      case Kind::kAllocate:
        allocate(rank, note);
        return true;
      case Kind::kFree:
        release(rank, note.into);
        return true;
      case Kind::kZero:
      case Kind::kWrite:
        refill(rank, note);
        return true;
      case Kind::kCopy:
        copy(rank, note);
        return true;
      case Kind::kEvent:
        return call(rank, note);
    }
    return true;
  }

  void allocate(RankMemory& rank, const MemoryNote& note) {
    HeldTensor tensor;
    tensor.rank = rank.rank;
    tensor.bytes = note.into_bytes;
    tensor.is_early = rank.settled == MemoryChange::kStart;
    tensor.runs = {{note.into_bytes, HeldContents::unheld(State::kUntouched, rank.settled)}};
    rank.live[note.into] = static_cast<int>(history_.tensors.size());
    history_.tensors.push_back(std::move(tensor));
  }

  /// `tensor = maximum(tensor, other)` makes a clone and frees the original: one tensor to a
  /// reader.
  void release(RankMemory& rank, std::uintptr_t address) {
    const auto freed = rank.live.find(address);
    if (freed == rank.live.end()) return;
    const int id = freed->second;
    rank.live.erase(freed);
    const auto clone = rank.clones.find(address);
    if (clone == rank.clones.end()) return;
    const auto [heir_address, heir_id] = clone->second;
    rank.clones.erase(clone);
    const auto heir = rank.live.find(heir_address);
    if (heir == rank.live.end() || heir->second != heir_id) return;
    HeldTensor& tensor = history_.tensors[static_cast<std::size_t>(id)];
    tensor.runs = history_.tensors[static_cast<std::size_t>(heir_id)].runs;
    add_change(rank, rank.settled, id, 0, tensor.runs);
    heir->second = id;
  }

  void refill(RankMemory& rank, const MemoryNote& note) {
    const State state = note.kind == Kind::kZero ? State::kZero : State::kUntouched;
    write(rank, note.into, {{note.into_bytes, HeldContents::unheld(state, rank.settled)}},
          rank.settled);
  }

  void copy(RankMemory& rank, const MemoryNote& note) {
    write(rank, note.into, read(rank, note.from, note.from_bytes), rank.settled);
    const auto [from, from_begin] = find(rank, note.from);
    const auto [into, into_begin] = find(rank, note.into);
    if (from == nullptr || into == nullptr) return;
    if (note.into_bytes != into->bytes) {
      own_parts_.emplace_back(id_of(from), id_of(into));
    } else if (from_begin == 0 && from->bytes == into->bytes && is_just_made(rank, note.into)) {
      rank.clones[note.from] = {note.into, id_of(into)};
    }
  }

  /// Whether the note before this one allocated the tensor at this address.
  bool is_just_made(const RankMemory& rank, std::uintptr_t address) const {
    if (rank.next == 0) return false;
    const MemoryNote& before = notes_of(rank)[rank.next - 1];
    return before.kind == Kind::kAllocate && before.into == address;
  }

  /// A rank's part of a gathered tensor takes part, though only a copy moves it.
  void mark_own_parts() {
    for (const auto& [from, into] : own_parts_) {
      if (!history_.tensors[static_cast<std::size_t>(into)].takes_part) continue;
      HeldTensor& tensor = history_.tensors[static_cast<std::size_t>(from)];
      tensor.takes_part = true;
      tensor.is_contributed = true;
    }
  }

  bool call(RankMemory& rank, const MemoryNote& note) {
    const Event& event = event_of(rank, note.event);
    const EventId link = links_[static_cast<std::size_t>(rank.rank)][note.event];
    switch (event.kind) {
      case EventKind::kSend:
        moved(rank, note.event) = read(rank, note.from, note.from_bytes);
        sent_.emplace(std::pair(rank.rank, note.event), moved(rank, note.event));
        break;
      case EventKind::kRecv:
        rank.started[note.event] = &note;
        if (!event.async && !receive(rank, note.event, note.event)) return false;
        break;
      case EventKind::kCollective:
        if (!moves_data(event.collective)) break;
        meet(rank, note);
        if (!event.async && !leave(rank, note.event, note.event)) return false;
        break;
      case EventKind::kReduce: {
        const HeldRuns added = read(rank, note.from, note.from_bytes);
        const HeldRuns before = read(rank, note.into, note.into_bytes, /*is_target=*/true);
        moved(rank, note.event) = combined(before, added, event.op);
        write(rank, note.into, moved(rank, note.event), note.event);
        break;
      }
      case EventKind::kWait:
        if (!event.done) return false;
        if (link.rank >= 0 && !finish(rank, link.event, note.event)) return false;
        break;
      case EventKind::kCompute:
        break;
    }
    if (!event.async) rank.settled = note.event;
    return event.done || event.async;
  }

  bool finish(RankMemory& rank, std::size_t operation, std::size_t wait) {
    const EventKind kind = event_of(rank, operation).kind;
    if (kind == EventKind::kRecv) return receive(rank, operation, wait);
    if (kind == EventKind::kCollective) return leave(rank, operation, wait);
    return true;
  }

  bool receive(RankMemory& rank, std::size_t event, std::size_t at) {
    const EventId sender = links_[static_cast<std::size_t>(rank.rank)][event];
    const auto message = sent_.find({sender.rank, sender.event});
    if (message == sent_.end() || !event_of(rank, at).done) return false;
    moved(rank, event) = message->second;
    write(rank, rank.started[event]->into, message->second, at, /*arrives=*/true);
    return true;
  }

  /// Adds what the rank contributes to the collective.
  void meet(RankMemory& rank, const MemoryNote& note) {
    if (rank.meetings[note.event] != nullptr) return;
    const Event& event = event_of(rank, note.event);
    const std::vector<int>& members = trace_.groups[static_cast<std::size_t>(event.group)];
    Meeting& meeting = meetings_[{event.group, rank.calls[event.group]++}];
    meeting.in.resize(members.size());
    meeting.out_bytes.resize(members.size());
    meeting.out_bytes[index_of(members, rank.rank)] = note.into_bytes;
    const bool only_receives =
        event.collective == CollectiveKind::kBroadcast && event.peer != rank.rank;
    HeldRuns in;
    if (!only_receives) in = read(rank, note.from, note.from_bytes);
    meeting.in[index_of(members, rank.rank)] = std::move(in);
    rank.meetings[note.event] = &meeting;
    rank.started[note.event] = &note;
  }

  bool leave(RankMemory& rank, std::size_t event, std::size_t at) {
    const Meeting* meeting = rank.meetings[event];
    if (meeting == nullptr) return true;
    if (!meeting->is_complete() || !event_of(rank, at).done) return false;
    const Event& its = event_of(rank, event);
    const std::vector<int>& members = trace_.groups[static_cast<std::size_t>(its.group)];
    const MemoryNote& note = *rank.started[event];
    const std::size_t root = its.peer < 0 ? 0 : index_of(members, its.peer);
    moved(rank, event) = result_of(*meeting, its, index_of(members, rank.rank), root,
                                   note.from_bytes, note.into_bytes);
    if (note.into_bytes > 0) {
      write(rank, note.into, moved(rank, event), at, /*arrives=*/true);
    } else {  // it only gave
      moved(rank, event) = *meeting->in[index_of(members, rank.rank)];
    }
    return true;
  }

  static std::size_t index_of(const std::vector<int>& members, int rank) {
    return static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
  }

  const Event& event_of(const RankMemory& rank, std::size_t event) const {
    return trace_.ranks[static_cast<std::size_t>(rank.rank)][event];
  }

  HeldRuns& moved(const RankMemory& rank, std::size_t event) {
    return history_.moved[static_cast<std::size_t>(rank.rank)][event];
  }

  /// Returns the tensor that holds the address, and where it begins; null if it is not known.
  std::pair<HeldTensor*, std::int64_t> find(RankMemory& rank, std::uintptr_t address) {
    auto at = rank.live.upper_bound(address);
    if (at == rank.live.begin()) return {};
    --at;
    HeldTensor& tensor = history_.tensors[static_cast<std::size_t>(at->second)];
    const auto offset = static_cast<std::int64_t>(address - at->first);
    if (offset >= tensor.bytes) return {};
    return {&tensor, offset};
  }

  int id_of(const HeldTensor* tensor) const {
    return static_cast<int>(tensor - history_.tensors.data());
  }

  /// Returns what the slice holds. What no call put there is what the rank contributes.
  /// @param is_target zeros stay zeros: something is added to them
  HeldRuns read(RankMemory& rank, std::uintptr_t address, std::int64_t bytes,
                bool is_target = false) {
    const auto [tensor, begin] = find(rank, address);
    if (tensor == nullptr || bytes == 0) return {};
    const bool is_call = notes_of(rank)[rank.next].kind == Kind::kEvent;
    tensor->takes_part |= is_call;
    work_ += tensor->runs.size();
    HeldRuns runs = part_of(tensor->runs, begin, begin + bytes);
    std::int64_t at = begin;
    for (HeldRun& run : runs) {
      HeldContents& contents = run.contents;
      if (rank.next < rank.after_last_call) contents.is_unread = false;
      const bool stays = is_target && contents.state == State::kZero;
      if (contents.state != State::kHeld && !stays) {
        contents.state = State::kHeld;
        contents.from = {{id_of(tensor), 1}};
        contents.home = id_of(tensor);
        contents.home_offset = at;
        add_change(rank, contents.since, id_of(tensor), at, {run});
      }
      if (is_call && contents.home >= 0) note_contribution(rank.rank, contents.home);
      at += run.bytes;
    }
    overwrite(tensor->runs, begin, runs);
    return runs;
  }

  bool is_from_elsewhere(const HeldRuns& runs, int rank) const {
    return std::ranges::any_of(runs, [&](const HeldRun& run) {
      return std::ranges::any_of(run.contents.from, [&](const auto& each) {
        return history_.tensors[static_cast<std::size_t>(each.first)].rank != rank;
      });
    });
  }

  void note_contribution(int rank, int home) {
    HeldTensor& tensor = history_.tensors[static_cast<std::size_t>(home)];
    if (tensor.rank != rank) return;
    tensor.takes_part = true;
    tensor.is_contributed = true;
  }

  /// The slice holds the runs from the end of event `at` on.
  void write(RankMemory& rank, std::uintptr_t address, HeldRuns runs, std::size_t at,
             bool arrives = false) {
    const auto [tensor, begin] = find(rank, address);
    if (tensor == nullptr) return;
    work_ += tensor->runs.size();
    for (HeldRun& run : runs) {
      run.contents.is_unread = arrives;
      work_ += 1 + run.contents.from.size();
    }
    runs = part_of(runs, 0, tensor->bytes - begin);
    tensor->takes_part |= arrives || is_from_elsewhere(runs, rank.rank);
    overwrite(tensor->runs, begin, runs);
    add_change(rank, at, id_of(tensor), begin, std::move(runs));
  }

  void add_change(const RankMemory& rank, std::size_t event, int tensor, std::int64_t begin,
                  HeldRuns runs) {
    history_.changes.push_back({{rank.rank, event}, tensor, begin, std::move(runs)});
  }

  const Trace& trace_;
  const std::vector<std::vector<EventId>> links_;
  std::vector<RankMemory> ranks_;
  std::map<std::pair<int, std::size_t>, HeldRuns> sent_;
  std::map<std::pair<std::int32_t, std::size_t>, Meeting> meetings_;
  std::vector<std::pair<int, int>> own_parts_;  // copies of a tensor to a part of another
  std::size_t work_ = 0;                        // runs visited, and contributions copied
  MemoryHistory history_;
};

}  // namespace

MemoryHistory replay_memory(const Trace& trace) {
  MemoryHistory history = MemoryReplay(trace).run();
  // Ranks took turns, and a contribution is noticed late.
  const auto position = [](const MemoryChange& change) {
    return std::pair(change.event.rank, change.event.event + 1);  // kStart + 1 is 0
  };
  std::ranges::stable_sort(history.changes, {}, position);
  return history;
}

}  // namespace rankbox
