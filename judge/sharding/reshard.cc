// Judges reshard: values, the elements that each rank sends and receives, and memory.
//
// All pairs of placements occur, on meshes of all shapes that the ranks have. Every rank's elements
// differ from those of all others but its replicas, so a wrong one tells where it comes from.
#include "parallel/reshard.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/judge.h"
#include "judge/memory_window.h"
#include "judge/salt.h"
#include "judge/traffic.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&reshard);

constexpr int kPlacements = 3;
constexpr int kPairs = kPlacements * kPlacements;  // of placements; numbers of Case::from and ::to
constexpr int kRows = 1, kColumns = 2;             // {Replicate, Shard(0)}, {Replicate, Shard(1)}
constexpr int kTiles = 5, kTilesAcross = 7;        // {Shard(0), Shard(1)}, {Shard(1), Shard(0)}
// Worlds of more ranks have one in four of the pairs of layouts each, not all.
constexpr int kMostRanksOfAllPairs = 5;
constexpr int kSome = 4;

constexpr std::int64_t kWide = 4999;            // 160 KB: a copy of the whole shows
constexpr std::int64_t kLarge = (1 << 17) - 1;  // Subject::large_cases: 4 MB
// Where messages arrived stays with the sandbox; during a call a program has tables of all ranks.
constexpr std::int64_t kBookkeeping = std::int64_t{48} << 10;
constexpr std::int64_t kBookkeepingAfter = std::int64_t{32} << 10;

/// The count of a case is the number of rows. Some worlds have more ranks than there are columns.
std::int64_t columns_in(const Case& example) { return 1 + *example.count % 8; }

MeshLayout layout_of(int world_size, int extent, int pair) {
  return {{extent, world_size / extent},
          {static_cast<Placement>(pair / kPlacements), static_cast<Placement>(pair % kPlacements)}};
}
MeshLayout from_in(const Case& example) {
  return layout_of(example.world_size, *example.mesh, *example.from);
}
MeshLayout to_in(const Case& example) {
  return layout_of(example.world_size, *example.to_mesh, *example.to);
}

std::vector<Case> cases() {
  const std::vector<std::int64_t> rows = {12, 0, 1, 2, 5, drawn("rows of a matrix", 97, 81, 150)};
  std::vector<Case> all;
  for (const int world_size : world_sizes()) {
    std::vector<int> extents;  // of a mesh's first dimension
    for (int extent = 1; extent <= world_size; ++extent) {
      if (world_size % extent == 0) extents.push_back(extent);
    }
    const auto add = [&](std::int64_t count, std::size_t mesh, int from, std::size_t to_mesh,
                         int to) {
      all.push_back({.world_size = world_size,
                     .mesh = extents[mesh % extents.size()],
                     .from = from,
                     .to_mesh = extents[to_mesh % extents.size()],
                     .to = to,
                     .count = count});
    };
    for (const std::int64_t count : {0, 1, 2, 5, 12}) add(count, 0, kRows, 0, kColumns);
    std::size_t turn = 0;
    for (int from = 0; from < kPairs; ++from) {
      for (int to = 0; to < kPairs; ++to, ++turn) {
        const auto offset = static_cast<std::size_t>(world_size);
        if (world_size > kMostRanksOfAllPairs && (turn + offset) % kSome != 0) continue;
        add(rows[turn % rows.size()], turn / kSome, from, turn / kPairs + turn, to);
      }
    }
  }
  for (const int p : {4, 8}) {
    all.push_back(
        {.world_size = p, .mesh = 1, .from = kRows, .to_mesh = 1, .to = kColumns, .count = kWide});
    all.push_back({.world_size = p,
                   .mesh = 2,
                   .from = kTiles,
                   .to_mesh = p / 2,
                   .to = kTilesAcross,
                   .count = kWide});
  }
  return all;
}

std::string layout_in_words(const MeshLayout& layout) {
  const auto word = [](Placement placement) {
    return placement == Placement::kReplicate
               ? std::string("Replicate")
               : fmt::format("Shard({})", placement == Placement::kShard0 ? 0 : 1);
  };
  return fmt::format("{{{}, {}}} on {} x {} ranks", word(layout.placements[0]),
                     word(layout.placements[1]), layout.mesh[0], layout.mesh[1]);
}

std::vector<Region> regions_in(const Case& example, const MeshLayout& layout) {
  std::vector<Region> all;
  for (int rank = 0; rank < example.world_size; ++rank)
    all.push_back(region_of(layout, rank, *example.count, columns_in(example)));
  return all;
}

/// The elements that travel, by the contract's rule.
Traffic traffic_in(const Case& example) {
  const std::vector<Region> held = regions_in(example, from_in(example));
  const std::vector<Region> needed = regions_in(example, to_in(example));
  return traffic_of(example.world_size, [&](int src, int dst) -> std::int64_t {
    const Region& part = held[static_cast<std::size_t>(src)];
    for (int rank = 0; rank < example.world_size; ++rank) {
      const int nearer = std::abs(src - dst) - std::abs(rank - dst);
      if (held[static_cast<std::size_t>(rank)] == part &&
          (nearer > 0 || (nearer == 0 && rank < src)))
        return 0;
    }
    return intersection(part, needed[static_cast<std::size_t>(dst)]).elements();
  });
}

NativeCalls calls(const Case& example, int rank) {
  return {{CollectiveKind::kAllToAllV, traffic_in(example).busiest(rank)}};
}

/// Calls handle(i, row, column) for each element i of a region.
template <class Handle>
void for_each_in(const Region& region, Handle handle) {
  std::int64_t i = 0;
  for (std::int64_t row = region.first_row; row < region.last_row; ++row) {
    for (std::int64_t column = region.first_column; column < region.last_column; ++column)
      handle(i++, row, column);
  }
}

/// The whole matrix: of replicas, the elements of the lowest rank.
class Whole {
 public:
  explicit Whole(const Case& example)
      : columns_(columns_in(example)),
        elements_(static_cast<std::size_t>(*example.count * columns_)) {
    const std::vector<Region> held = regions_in(example, from_in(example));
    for (int rank = 0; rank < example.world_size; ++rank) {
      const Region& region = held[static_cast<std::size_t>(rank)];
      if (std::find(held.begin(), held.begin() + rank, region) != held.begin() + rank) continue;
      const std::vector<float> own = to_host(elements_of(rank, region.elements()));
      for_each_in(region, [&](std::int64_t i, std::int64_t row, std::int64_t column) {
        elements_[at(row, column)] = own[static_cast<std::size_t>(i)];
      });
    }
  }

  std::vector<float> part(const Region& region) const {
    std::vector<float> all(static_cast<std::size_t>(region.elements()));
    for_each_in(region, [&](std::int64_t i, std::int64_t row, std::int64_t column) {
      all[static_cast<std::size_t>(i)] = elements_[at(row, column)];
    });
    return all;
  }

 private:
  std::size_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * columns_ + column);
  }

  const std::int64_t columns_;
  std::vector<float> elements_;
};

/// A call may hold the output, what the rank sends and what it receives, its own part in both.
std::optional<Difference> compare_memory(const MemoryWindow& window, const Case& example,
                                         int rank) {
  if (judges_only_values()) return std::nullopt;  // libraries hold their own memory
  const Traffic traffic = traffic_in(example);
  const std::int64_t received = total(traffic.received_by(rank)) * kElementBytes;  // all it needs
  const std::int64_t most =
      2 * received + total(traffic.sent_by(rank)) * kElementBytes + kBookkeeping;
  const std::int64_t kept = received + kBookkeepingAfter;
  const bool keeps = window.kept() > kept;
  if (!keeps && window.peak() <= most) return std::nullopt;
  Difference excess{
      keeps ? "memory still held after the call" : "memory held at the worst moment",
      -1,
      fmt::format("at most {} bytes", keeps ? kept : most),
      fmt::format("{} bytes", keeps ? window.kept() : window.peak()),
      {"no-whole-matrix",
       "besides the output, what is sent and what is received: is the whole matrix held?"}};
  excess.kind = FailureKind::kMemory;
  return excess;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size(), rank = dist.rank();
  const MeshLayout from = from_in(example), to = to_in(example);
  const std::int64_t rows = *example.count, columns = columns_in(example);
  const Region held = region_of(from, rank, rows, columns);
  const Region needed = region_of(to, rank, rows, columns);
  std::vector<float> before, expected;
  {
    const Whole whole(example);
    before = whole.part(held);
    expected = whole.part(needed);
  }

  const Tensor mine = from_host(before, {held.rows(), held.columns()});
  Tensor output = poison(2);
  std::optional<Difference> excess;
  {
    const MemoryWindow window;
    function(dist, mine, from, to, rows, columns, output);
    excess = compare_memory(window, example, rank);
  }

  const auto element_of = [](const std::vector<float>& all) {
    return [&all](std::int64_t i) { return all[static_cast<std::size_t>(i)]; };
  };
  if (auto wrong = compare("mine", mine, held.elements(), element_of(before), is_an_input))
    return wrong;
  const std::string what =
      fmt::format("output, from {} to {},", layout_in_words(from), layout_in_words(to));
  if (auto wrong = compare_moved(what, output, needed.elements(), p, element_of(expected)))
    return wrong;
  if (auto wrong = compare_shape("output", output.shape(), {needed.rows(), needed.columns()}))
    return wrong;
  return excess;
}

}  // namespace

Family family::reshard() {
  Subject subject = subject_with_calls(cases, calls, {check_of_calls(calls)});
  subject.limits_memory = true;
  subject.large_cases = {{.world_size = 8,
                          .mesh = 2,
                          .from = kTiles,
                          .to_mesh = 4,
                          .to = kTilesAcross,
                          .count = kLarge}};
  subject.count_to_show = 64;
  return make_family<Function>(
      "reshard",
      "(Comm& dist, const Tensor& mine, const MeshLayout& from, const MeshLayout& to, std::int64_t "
      "rows, std::int64_t columns, Tensor& output)",
      subject, run);
}

}  // namespace rankbox
