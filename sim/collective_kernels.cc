// What the native collectives compute, part by part, with every rank's memory in reach.
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "sim/arithmetic.h"
#include "sim/collective.h"
#include "sim/group.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

using Participants = std::vector<CollectiveOperation*>;

// Reductions go block by block, so that what was just computed is still in the nearest cache when it is copied to the others.
constexpr std::int64_t kBlockBytes = 8 * 1024;

const CollectiveCall& call_of(const Participants& participants, int index) {
  return participants[static_cast<std::size_t>(index)]->call;
}

void copy_bytes(Slice into, Slice from) {
  if (from.size() > 0 && into.data() != from.data()) {
    std::memcpy(into.data(), from.data(), static_cast<std::size_t>(from.bytes()));
  }
}

/// into = reduction of [begin, begin + into.size()) of all inputs, in rank order. `into` may be that piece of input 0.
void reduce_block(const Participants& participants, Slice into, std::int64_t begin) {
  const int p = static_cast<int>(participants.size());
  const CollectiveCall& first = call_of(participants, 0);
  const std::int64_t end = begin + into.size();
  if (p == 1) {
    copy_bytes(into, first.in.sub(begin, end));
  } else {
    reduce_elements(into.data(), first.in.sub(begin, end).data(), call_of(participants, 1).in.sub(begin, end).data(),
                    into.size(), first.dtype, first.op);
  }
  for (int rank = 2; rank < p; ++rank) {
    reduce_elements(into.data(), call_of(participants, rank).in.sub(begin, end).data(), into.size(), first.dtype, first.op);
  }
  if (first.op == ReduceOp::AVG) divide_elements(into.data(), into.size(), first.dtype, p);
}

/// Calls body(begin, end) for blocks of elements that cover [begin, end).
template <class Body>
void for_each_block(std::int64_t begin, std::int64_t end, DType dtype, Body body) {
  const std::int64_t step = kBlockBytes / size_of(dtype);
  for (; begin < end; begin += step) body(begin, std::min(begin + step, end));
}

void all_reduce(const Participants& participants, std::int64_t begin, std::int64_t end) {
  const CollectiveCall& first = call_of(participants, 0);
  for_each_block(begin, end, first.dtype, [&](std::int64_t from, std::int64_t to) {
    const Slice result = first.out.sub(from, to);
    reduce_block(participants, result, from);
    for (const CollectiveOperation* other : participants) copy_bytes(other->call.out.sub(from, to), result);
  });
}

/// The reduction of [begin, end), handed in blocks to store(from, to, block).
template <class Store>
void reduce_aside(const Participants& participants, std::int64_t begin, std::int64_t end, Store store) {
  alignas(64) std::byte scratch[kBlockBytes];
  const DType dtype = call_of(participants, 0).dtype;
  for_each_block(begin, end, dtype, [&](std::int64_t from, std::int64_t to) {
    const Slice block(scratch, to - from, dtype, false, 0);
    reduce_block(participants, block, from);
    store(from, to, block);
  });
}

void reduce_scatter(const Participants& participants, std::int64_t begin, std::int64_t end) {
  const int p = static_cast<int>(participants.size());
  const std::int64_t count = call_of(participants, 0).count;
  for (int rank = 0; rank < p; ++rank) {
    const std::int64_t chunk_begin = rank * count / p;
    const std::int64_t chunk_end = (rank + 1) * count / p;
    const Slice piece = call_of(participants, rank).out;
    reduce_aside(participants, std::max(begin, chunk_begin), std::min(end, chunk_end),
                 [&](std::int64_t from, std::int64_t to, Slice block) {
                   copy_bytes(piece.sub(from - chunk_begin, to - chunk_begin), block);
                 });
  }
}

/// gathered = inputs in rank order; elements [begin, end) of each.
void gather_into(const Participants& participants, Slice gathered, std::int64_t begin, std::int64_t end) {
  const std::int64_t count = call_of(participants, 0).count;
  for (std::int64_t rank = 0; rank < static_cast<std::int64_t>(participants.size()); ++rank) {
    copy_bytes(gathered.sub(rank * count + begin, rank * count + end),
               call_of(participants, static_cast<int>(rank)).in.sub(begin, end));
  }
}

void all_to_all(const Participants& participants, int part, int parts) {
  const int p = static_cast<int>(participants.size());
  for (int dst = part * p / parts; dst < (part + 1) * p / parts; ++dst) {
    for (int src = 0; src < p; ++src) {
      copy_bytes(chunk(call_of(participants, dst).out, src, p), chunk(call_of(participants, src).in, dst, p));
    }
  }
}

/// Makes one group per color, its ranks ordered by key, then by rank.
void split(const Participants& participants) {
  std::map<int, std::vector<int>> by_color;
  for (int index = 0; index < static_cast<int>(participants.size()); ++index) {
    const int color = call_of(participants, index).color;
    if (color >= 0) by_color[color].push_back(index);
  }
  Group& parent = participants.front()->job->group();
  const int number = parent.next_split();
  for (auto& [color, indices] : by_color) {
    std::stable_sort(indices.begin(), indices.end(), [&](int a, int b) {
      return call_of(participants, a).key < call_of(participants, b).key;
    });
    std::vector<int> members;
    for (int index : indices) members.push_back(parent.world_rank(index));
    std::vector<int> path = parent.path();
    path.insert(path.end(), {number, color});
    Group& group = parent.world().add_group(std::move(members), std::move(path));
    for (int i = 0; i < static_cast<int>(indices.size()); ++i) {
      CollectiveOperation& member = *participants[static_cast<std::size_t>(indices[static_cast<std::size_t>(i)])];
      member.split_group = &group;
      member.split_index = i;
    }
  }
}

}  // namespace

void run_collective_part(const Participants& participants, int part, int parts) {
  const CollectiveCall& first = call_of(participants, 0);
  const std::int64_t begin = part * first.count / parts;
  const std::int64_t end = (part + 1) * first.count / parts;
  switch (first.kind) {
    case CollectiveKind::kBarrier:
      break;
    case CollectiveKind::kBroadcast:
      for (const CollectiveOperation* rank : participants) {
        copy_bytes(rank->call.out.sub(begin, end), call_of(participants, first.root).in.sub(begin, end));
      }
      break;
    case CollectiveKind::kReduce:
      reduce_aside(participants, begin, end, [&](std::int64_t from, std::int64_t to, Slice block) {
        copy_bytes(call_of(participants, first.root).out.sub(from, to), block);
      });
      break;
    case CollectiveKind::kAllReduce:
      all_reduce(participants, begin, end);
      break;
    case CollectiveKind::kGather:
      gather_into(participants, call_of(participants, first.root).out, begin, end);
      break;
    case CollectiveKind::kAllGather:
      for (const CollectiveOperation* rank : participants) gather_into(participants, rank->call.out, begin, end);
      break;
    case CollectiveKind::kScatter:
      for (std::int64_t rank = 0; rank < static_cast<std::int64_t>(participants.size()); ++rank) {
        copy_bytes(call_of(participants, static_cast<int>(rank)).out.sub(begin, end),
                   call_of(participants, first.root).in.sub(rank * first.count + begin, rank * first.count + end));
      }
      break;
    case CollectiveKind::kReduceScatter:
      reduce_scatter(participants, begin, end);
      break;
    case CollectiveKind::kAllToAll:
      all_to_all(participants, part, parts);
      break;
    case CollectiveKind::kSplit:
      split(participants);
      break;
  }
}

}  // namespace rankbox::sim
