// Communicators of subsets of the ranks.
//
// An all-gather of colors and keys determines the members. ncclCommSplit then creates two
// communicators of them, one for collectives and one for messages. The host waits for the
// all-gather first, so the parent has nothing in flight during the split.
//
// A communicator of NCCL holds up to 2 GB of its GPU and takes seconds to connect, so splits are
// remembered until the end of the run. A split of the same parent with the same colors and keys
// returns the communicators of an earlier one that no rank uses any more. A second all-gather
// finds out which: a rank uses one as long as it holds a Comm of it. So two Comms that exist at the
// same time never share messages, and a program that splits in a loop holds a constant number.
//
// Whatever its earlier user started on a communicator is on the streams of all ranks before the
// next one begins, because split() launches deferred messages. So the calls of both are in the same
// order on all ranks.
//
// Cost: two small all-gathers for a remembered split; two or three, and seconds, for a new one.
// Blocks the host.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "comm/collective_call.h"
#include "gpu/nccl/backend.h"
#include "gpu/nccl/rank.h"

namespace rankbox::gpu {
namespace {

/// Returns the two numbers of every rank, by index.
std::vector<std::int32_t> exchange(const Caller& caller, NcclRank& rank, NcclMember& member,
                                   std::uint64_t record, std::int32_t first, std::int32_t second) {
  const cudaStream_t stream = rank.device().stream();
  const Doing doing = doing_of(caller);
  const std::int32_t mine[2] = {first, second};
  std::vector<std::int32_t> all(2 * static_cast<std::size_t>(caller.size));
  std::int32_t* const in = NcclRank::exchange_space(member);
  std::int32_t* const out = in + 2;
  rank.wait_for_stream(caller, stream);
  rank.device().copy_from_host(in, mine, sizeof mine, doing);
  const std::uint64_t launch =
      rank.launch(caller, doing, "ncclAllGather", member.collectives, stream,
                  [&] { return ncclAllGather(in, out, 2, ncclInt32, member.collectives, stream); });
  rank.record().launched(record, launch);
  rank.wait_for_stream(caller, stream);
  const std::size_t bytes = all.size() * sizeof(std::int32_t);
  rank.device().copy_to_host(all.data(), out, static_cast<std::int64_t>(bytes), doing);
  return all;
}

/// Returns the members of the new communicator, as indices in the old one.
std::vector<int> members_of(const std::vector<std::int32_t>& colors_and_keys, int color) {
  std::vector<std::pair<int, int>> found;  // key, index
  for (std::size_t i = 0; i < colors_and_keys.size() / 2; ++i) {
    if (colors_and_keys[2 * i] == color) {
      found.emplace_back(colors_and_keys[2 * i + 1], static_cast<int>(i));
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<int> members;
  for (const auto& [key, index] : found) members.push_back(index);
  return members;
}

/// Returns an id that is the same on all ranks of the part, and differs from every other
/// communicator's.
std::uint64_t id_of_part(const NcclMember& whole, int number, int color) {
  std::uint64_t id = whole.group;
  for (const int step : {number, color})
    id = (id ^ static_cast<std::uint64_t>(step + 1)) * 0x100000001b3;
  return id;
}

constexpr int kRemembered = 64;  // equal splits

/// Returns the index of the first of these equal parts that no rank uses, or their number.
std::size_t first_unused(const Caller& caller, NcclRank& rank, NcclMember& whole,
                         std::uint64_t record, const std::vector<NcclMember*>& parts) {
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i]->user.expired()) used |= std::uint64_t{1} << i;
  }
  const auto words = std::bit_cast<std::array<std::int32_t, 2>>(used);
  const auto all = exchange(caller, rank, whole, record, words[0], words[1]);
  for (std::size_t i = 0; i < all.size(); i += 2)
    used |= std::bit_cast<std::uint64_t>(std::array{all[i], all[i + 1]});
  return static_cast<std::size_t>(std::countr_one(used));
}

/// Creates this rank's communicators of a split.
/// @param all colors and keys, by index
NcclMember& make_part(const Caller& caller, NcclRank& rank, NcclMember& whole, std::uint64_t record,
                      const std::vector<std::int32_t>& all, int color, int key) {
  int index = -1;
  std::vector<int> world_ranks;
  for (const int member : color < 0 ? std::vector<int>() : members_of(all, color)) {
    if (member == whole.index) index = static_cast<int>(world_ranks.size());
    world_ranks.push_back(whole.world_rank(member));
  }
  // Ranks that are left out get one too: NCCL writes to both of its variables, if only null.
  NcclMember& part =
      rank.add_member(caller, world_ranks, index, id_of_part(whole, whole.parts_made++, color));
  rank.with_start_deadline([&] {
    for (ncclComm_t* made : {&part.collectives, &part.messages}) {
      rank.split_communicator(caller, whole.collectives, color, key, *made);
    }
    if (color >= 0) {
      rank.connect_pairs(caller, part, part.messages);
      rank.connect_pairs(caller, part, part.collectives);  // for gather, scatter and all_to_all
      rank.wait_for_stream(caller, rank.device().stream());
    }
    // Ranks that are left out, or in a part that is connected first, wait here for the others: in
    // their next call they would have the deadline of an operation.
    exchange(caller, rank, whole, record, 0, 0);
  });
  return part;
}

}  // namespace

NcclBackend NcclBackend::split(const Caller& caller, const CollectiveCall& call) {
  rank_->flush(caller);
  const std::uint64_t record = rank_->record().begin(caller, *member_, call);
  const int color = std::max(call.color, NCCL_SPLIT_NOCOLOR);
  const int key = color < 0 ? 0 : call.key;
  const auto all = exchange(caller, *rank_, *member_, record, color, key);

  std::vector<NcclMember*>& equal = member_->parts[all];
  const std::size_t i = equal.empty() ? 0 : first_unused(caller, *rank_, *member_, record, equal);
  NcclMember* const part =
      i < equal.size() ? equal[i] : &make_part(caller, *rank_, *member_, record, all, color, key);
  if (i == equal.size() && i < kRemembered) equal.push_back(part);
  rank_->record().done(record);
  if (color < 0) return {*rank_, nullptr, nullptr};
  const auto use = std::make_shared<const char>();
  part->user = use;
  return {*rank_, part, use};
}

}  // namespace rankbox::gpu
