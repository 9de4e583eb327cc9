#include "viewer/holdings.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "viewer/memory_replay.h"

namespace rankbox {
namespace {

constexpr std::size_t kMostRanks = 64;
constexpr std::size_t kMostBuffers = 8;  // of a rank
constexpr std::size_t kMostPieces = 64;  // of a buffer

using Cuts = std::set<std::int64_t>;

bool has_output(const HeldTensor& tensor) {
  return std::ranges::any_of(tensor.runs,
                             [](const HeldRun& run) { return run.contents.is_unread; });
}

/// Returns [tensor]: the column that it is drawn in; -1: it is not drawn. Ranks run one program, so
/// tensors of one size in one order have one role. Tensors that only pass data on are not drawn.
/// One that a rank had from the start counts although no call moved it: it is drawn empty where
/// other ranks' are drawn, rather than another tensor in its column.
std::vector<int> columns_of(const MemoryHistory& history) {
  using Role = std::pair<std::int64_t, int>;  // bytes; number among those of the rank
  std::map<std::pair<int, std::int64_t>, int> numbers;
  std::vector<Role> roles;
  std::set<Role> drawn;
  for (const HeldTensor& tensor : history.tensors) {
    Role role = {tensor.bytes, -1};
    if (tensor.takes_part || tensor.is_early) role.second = numbers[{tensor.rank, tensor.bytes}]++;
    roles.push_back(role);
    if (tensor.takes_part && (tensor.is_contributed || has_output(tensor))) drawn.insert(role);
  }
  std::map<Role, int> numbers_of;
  std::vector<int> columns;
  for (const Role& role : roles) {
    if (!drawn.contains(role)) {
      columns.push_back(-1);
      continue;
    }
    const int next = static_cast<int>(numbers_of.size());
    columns.push_back(numbers_of.try_emplace(role, next).first->second);
  }
  return columns;
}

class Drawing {
 public:
  Drawing(const Trace& trace, const MemoryHistory& history)
      : trace_(trace), history_(history), columns_(columns_of(history)) {}

  Holdings draw() {
    find_cuts();
    if (!add_buffers()) return {};
    holdings_.contents.emplace_back();
    numbers_[PieceContents()] = 0;
    add_changes();
    add_labels();
    return std::move(holdings_);
  }

 private:
  /// Buffers of one size are cut alike on all ranks, so that their pieces are below each other.
  void find_cuts() {
    for (const MemoryChange& change : history_.changes) {
      for_each_run(change.runs, [&](std::int64_t begin, const HeldRun& run) {
        cut_out(change.tensor, change.begin + begin, run.bytes);
        cut_out(run.contents.home, run.contents.home_offset, run.bytes);
      });
    }
    for (auto& [bytes, cuts] : cuts_) {
      cuts.insert(0);
      cuts.erase(bytes);
      pieces_[bytes] = joined({cuts.begin(), cuts.end()});
    }
  }

  void cut_out(int tensor_id, std::int64_t begin, std::int64_t bytes) {
    if (tensor_id < 0) return;
    Cuts& cuts = cuts_[tensor(tensor_id).bytes];
    cuts.insert(begin);
    cuts.insert(begin + bytes);
  }

  /// Leaves out cuts if there are too many, evenly.
  static std::vector<std::int64_t> joined(const std::vector<std::int64_t>& cuts) {
    if (cuts.size() <= kMostPieces) return cuts;
    std::vector<std::int64_t> some;
    for (std::size_t i = 0; i < kMostPieces; ++i)
      some.push_back(cuts[i * cuts.size() / kMostPieces]);
    return some;
  }

  /// Returns false if some rank has too many.
  bool add_buffers() {
    first_cell_.assign(history_.tensors.size(), -1);
    int cells = 0;
    for (int rank = 0; rank < static_cast<int>(trace_.ranks.size()); ++rank) {
      std::size_t count = 0;
      for (std::size_t i = 0; i < history_.tensors.size(); ++i) {
        const HeldTensor& its = history_.tensors[i];
        if (columns_[i] < 0 || its.rank != rank) continue;
        if (++count > kMostBuffers) return false;
        const std::vector<std::int64_t>& begins = pieces_[its.bytes];
        holdings_.buffers.push_back({rank, its.bytes, begins, cells, columns_[i]});
        first_cell_[i] = cells;
        cells += static_cast<int>(begins.size());
      }
    }
    return cells > 0;
  }

  void add_changes() {
    std::map<int, HeldRuns> now;       // by tensor
    std::map<int, std::size_t> shown;  // by cell
    for (const MemoryChange& change : history_.changes) {
      const int first = first_cell_[static_cast<std::size_t>(change.tensor)];
      if (first < 0) continue;
      const std::int64_t bytes = tensor(change.tensor).bytes;
      HeldRuns& runs = now[change.tensor];
      if (runs.empty()) runs = {{bytes, {}}};
      overwrite(runs, change.begin, change.runs);
      std::int64_t end = change.begin;
      for (const HeldRun& run : change.runs) end += run.bytes;
      const std::vector<std::int64_t>& begins = pieces_[bytes];
      for (std::size_t i = 0; i < begins.size(); ++i) {
        const std::int64_t to = i + 1 < begins.size() ? begins[i + 1] : bytes;
        if (to <= change.begin || begins[i] >= end) continue;
        const int cell = first + static_cast<int>(i);
        const std::size_t contents = number_of(part_of(runs, begins[i], to));
        if (shown[cell] == contents) continue;
        shown[cell] = contents;
        holdings_.changes.push_back({change.event, cell, contents});
      }
    }
  }

  /// Returns how often each rank contributed the same data: weights and gradients add up.
  std::map<int, int> ranks_of(const HeldRun& run) const {
    std::map<int, int> ranks;
    for (const auto& [id, times] : run.contents.from) {
      int& most = ranks[tensor(id).rank];
      most = std::max(most, times);
    }
    return ranks;
  }

  /// Returns the index of the contents that all of the joined pieces have.
  std::size_t number_of(const HeldRuns& piece) {
    PieceContents contents;
    contents.from = ranks_of(piece.front());
    for (const HeldRun& run : piece) {
      const std::map<int, int> here = ranks_of(run);
      std::erase_if(contents.from, [&](const auto& each) { return !here.contains(each.first); });
      for (auto& [rank, times] : contents.from) times = std::min(times, here.at(rank));
    }
    if (!contents.from.empty()) contents.label = label_of(piece);
    const auto [at, is_new] = numbers_.try_emplace(contents, holdings_.contents.size());
    if (is_new) holdings_.contents.push_back(contents);
    return at->second;
  }

  void add_labels() {
    for (const std::vector<HeldRuns>& of_rank : history_.moved) {
      std::vector<std::string>& labels = holdings_.labels.emplace_back();
      for (const HeldRuns& runs : of_rank) labels.push_back(label_of(runs));
    }
  }

  /// Returns "c2–c4" for pieces of buffers, "r2–r4" for whole buffers of ranks; empty if unknown.
  std::string label_of(const HeldRuns& runs) const {
    std::set<std::int64_t> pieces;
    std::set<int> owners;
    std::size_t most = 0;
    for (const HeldRun& run : runs) {
      if (run.contents.home < 0) return "";
      const std::vector<std::int64_t>& begins = pieces_.at(tensor(run.contents.home).bytes);
      most = std::max(most, begins.size());
      const std::int64_t first = run.contents.home_offset;
      pieces.insert(piece_at(begins, first));
      pieces.insert(piece_at(begins, first + run.bytes - 1));
      for (const auto& [rank, times] : ranks_of(run)) owners.insert(rank);
    }
    if (most > 1) return range('c', pieces);
    if (owners.size() == runs.size()) return range('r', {owners.begin(), owners.end()});
    return "";
  }

  static std::int64_t piece_at(const std::vector<std::int64_t>& begins, std::int64_t offset) {
    return std::ranges::upper_bound(begins, offset) - begins.begin() - 1;
  }

  static std::string range(char letter, const std::set<std::int64_t>& numbers) {
    if (numbers.empty()) return "";
    const std::int64_t first = *numbers.begin(), last = *numbers.rbegin();
    if (first == last) return fmt::format("{}{}", letter, first);
    return fmt::format("{}{}–{}{}", letter, first, letter, last);
  }

  const HeldTensor& tensor(int id) const { return history_.tensors[static_cast<std::size_t>(id)]; }

  const Trace& trace_;
  const MemoryHistory& history_;
  const std::vector<int> columns_;                            // [tensor]; -1: not drawn
  std::map<std::int64_t, Cuts> cuts_;                         // by the bytes of the buffer
  std::map<std::int64_t, std::vector<std::int64_t>> pieces_;  // likewise: where each begins
  std::vector<int> first_cell_;                               // [tensor]; -1: not drawn
  std::map<PieceContents, std::size_t> numbers_;              // in holdings_.contents
  Holdings holdings_;
};

}  // namespace

Holdings holdings_of(const Trace& trace) {
  if (trace.memory_notes.empty() || trace.ranks.size() > kMostRanks || trace.left_out > 0)
    return {};
  const MemoryHistory history = replay_memory(trace);
  return Drawing(trace, history).draw();
}

}  // namespace rankbox
