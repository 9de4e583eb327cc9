// The computation of native collectives, part by part, on all ranks' memory.
#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/collective/collective.h"
#include "sim/collective/reduce_kernels.h"
#include "sim/group.h"
#include "sim/message/copy_bytes.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

using Participants = std::vector<CollectiveOperation*>;

const CollectiveCall& call_of(const Participants& participants, int index) {
  return participants[static_cast<std::size_t>(index)]->call;
}

void copy_slice(Slice into, Slice from) {
  if (into.data() != from.data()) copy_bytes(into.data(), from.data(), from.bytes());
}

/// Reduces elements [begin, end) of all inputs, in rank order, into every target.
void reduce_range(const Participants& participants, std::int64_t begin, std::int64_t end,
                  std::span<void* const> targets) {
  static thread_local std::vector<const void*>
      inputs;  // reused, so that short collectives allocate nothing
  inputs.clear();
  for (const CollectiveOperation* rank : participants)
    inputs.push_back(rank->call.in.sub(begin, end).data());
  const CollectiveCall& first = call_of(participants, 0);
  reduce_to_all(inputs.data(), static_cast<int>(inputs.size()), targets.data(),
                static_cast<int>(targets.size()), end - begin, first.dtype, first.op);
}

void all_reduce(const Participants& participants, std::int64_t begin, std::int64_t end) {
  static thread_local std::vector<void*> targets;
  targets.clear();
  for (const CollectiveOperation* rank : participants)
    targets.push_back(rank->call.out.sub(begin, end).data());
  reduce_range(participants, begin, end, targets);
}

void reduce_to(Slice target, const Participants& participants, std::int64_t begin,
               std::int64_t end) {
  void* const only = target.data();
  reduce_range(participants, begin, end, {&only, 1});
}

void reduce_scatter(const Participants& participants, std::int64_t begin, std::int64_t end) {
  const auto p = static_cast<std::int64_t>(participants.size());
  const std::int64_t count = call_of(participants, 0).count;
  for (std::int64_t rank = 0; rank < p; ++rank) {
    const std::int64_t chunk_begin = rank * count / p;
    const std::int64_t from = std::max(begin, chunk_begin);
    const std::int64_t to = std::min(end, (rank + 1) * count / p);
    if (from >= to) continue;
    const Slice piece = call_of(participants, static_cast<int>(rank)).out;
    reduce_to(piece.sub(from - chunk_begin, to - chunk_begin), participants, from, to);
  }
}

/// Sets elements [begin, end) of gathered = inputs in rank order.
void gather_into(const Participants& participants, Slice gathered, std::int64_t begin,
                 std::int64_t end) {
  std::int64_t input_begin = 0;
  for (const CollectiveOperation* rank : participants) {
    const Slice input = rank->call.in;
    const std::int64_t from = std::max(begin, input_begin);
    const std::int64_t to = std::min(end, input_begin + input.size());
    if (from < to)
      copy_slice(gathered.sub(from, to), input.sub(from - input_begin, to - input_begin));
    input_begin += input.size();
  }
}

/// Hands out elements [begin, end) of `whole`.
void scatter_from(Slice whole, const Participants& participants, std::int64_t begin,
                  std::int64_t end) {
  std::int64_t output_begin = 0;
  for (const CollectiveOperation* rank : participants) {
    const Slice output = rank->call.out;
    const std::int64_t from = std::max(begin, output_begin);
    const std::int64_t to = std::min(end, output_begin + output.size());
    if (from < to)
      copy_slice(output.sub(from - output_begin, to - output_begin), whole.sub(from, to));
    output_begin += output.size();
  }
}

void all_to_all(const Participants& participants, int part, int parts) {
  const int p = static_cast<int>(participants.size());
  for (int dst = part * p / parts; dst < (part + 1) * p / parts; ++dst) {
    for (int src = 0; src < p; ++src) {
      copy_slice(chunk(call_of(participants, dst).out, src, p),
                 chunk(call_of(participants, src).in, dst, p));
    }
  }
}

/// The same for pieces of any size: one part, since each rank's pieces are passed in order.
void all_to_all_v(const Participants& participants) {
  const int p = static_cast<int>(participants.size());
  static thread_local std::vector<Pieces> outputs;
  outputs.clear();
  for (const CollectiveOperation* rank : participants)
    outputs.emplace_back(rank->call.out, rank->call.out_counts, p);
  for (const CollectiveOperation* rank : participants) {
    Pieces inputs(rank->call.in, rank->call.in_counts, p);
    for (Pieces& output : outputs) copy_slice(output.next(), inputs.next());
  }
}

/// Creates one group per color, its ranks ordered by key, then by rank.
void split(const Participants& participants) {
  std::map<int, std::vector<int>> by_color;
  for (int index = 0; index < static_cast<int>(participants.size()); ++index) {
    const int color = call_of(participants, index).color;
    if (color >= 0) by_color[color].push_back(index);
  }
  Group& parent = participants.front()->operation.job->group();
  const int number = parent.next_split();
  for (auto& [color, indices] : by_color) {
    std::stable_sort(indices.begin(), indices.end(), [&](int a, int b) {
      return call_of(participants, a).key < call_of(participants, b).key;
    });
    std::vector<int> members;
    for (int index : indices) members.push_back(parent.world_rank(index));
    std::vector<int> path = parent.path();
    path.insert(path.end(), {number, color});
    const Place made = participants[static_cast<std::size_t>(indices.front())]->operation.place;
    Group& group = parent.world().add_group(std::move(members), std::move(path), made);
    for (int i = 0; i < static_cast<int>(indices.size()); ++i) {
      CollectiveOperation& member =
          *participants[static_cast<std::size_t>(indices[static_cast<std::size_t>(i)])];
      member.split_group = &group;
      member.split_index = i;
    }
  }
}

}  // namespace

void run_collective_part(const Participants& participants, int part, int parts) {
  const CollectiveCall& first = call_of(participants, 0);
  // Parts of the result: of what a rank has of it, or of what all have together.
  std::int64_t count = first.count;
  if (with_equal_pieces(first.kind) == CollectiveKind::kGather)
    count = call_of(participants, first.root).out.size();
  if (with_equal_pieces(first.kind) == CollectiveKind::kScatter)
    count = call_of(participants, first.root).in.size();
  const std::int64_t begin = part * count / parts;
  const std::int64_t end = (part + 1) * count / parts;
  switch (first.kind) {
    case CollectiveKind::kBarrier:
      break;
    case CollectiveKind::kBroadcast:
      for (const CollectiveOperation* rank : participants) {
        copy_slice(rank->call.out.sub(begin, end),
                   call_of(participants, first.root).in.sub(begin, end));
      }
      break;
    case CollectiveKind::kReduce:
      reduce_to(call_of(participants, first.root).out.sub(begin, end), participants, begin, end);
      break;
    case CollectiveKind::kAllReduce:
      all_reduce(participants, begin, end);
      break;
    case CollectiveKind::kGather:
    case CollectiveKind::kGatherV:
      gather_into(participants, call_of(participants, first.root).out, begin, end);
      break;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllGatherV:
      for (const CollectiveOperation* rank : participants)
        gather_into(participants, rank->call.out, begin, end);
      break;
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterV:
      scatter_from(call_of(participants, first.root).in, participants, begin, end);
      break;
    case CollectiveKind::kReduceScatter:
      reduce_scatter(participants, begin, end);
      break;
    case CollectiveKind::kAllToAll:
      all_to_all(participants, part, parts);
      break;
    case CollectiveKind::kAllToAllV:
      all_to_all_v(participants);
      break;
    case CollectiveKind::kSplit:
      split(participants);
      break;
  }
}

}  // namespace rankbox::sim
