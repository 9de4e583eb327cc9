// Communicators of subsets of the ranks.
//
// An all-gather of colors and keys determines the members. ncclCommSplit then creates two
// communicators of them, one for collectives and one for messages. The host waits for the
// all-gather first, so the parent has nothing in flight during the split.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "comm/collective_call.h"
#include "gpu/nccl/backend.h"
#include "gpu/nccl/rank.h"

namespace rankbox::gpu {
namespace {

/// Returns color and key of every rank, by index.
std::vector<std::int32_t> exchange(const Caller& caller, NcclRank& rank, NcclMember& member,
                                   std::uint64_t record, std::int32_t color, std::int32_t key) {
  const cudaStream_t stream = rank.device().stream();
  const Doing doing = doing_of(caller);
  const std::int32_t mine[2] = {color, key};
  std::vector<std::int32_t> all(2 * static_cast<std::size_t>(caller.size));
  std::int32_t* const in = NcclRank::exchange_space(member);
  std::int32_t* const out = in + 2;
  // A copy to or from pageable memory waits for the stream without a deadline.
  rank.wait_for_stream(caller, stream);
  check(cudaMemcpyAsync(in, mine, sizeof mine, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync",
        doing);
  const std::uint64_t launch =
      rank.launch(caller, doing, "ncclAllGather", member.collectives, stream,
                  [&] { return ncclAllGather(in, out, 2, ncclInt32, member.collectives, stream); });
  rank.record().launched(record, launch);
  rank.wait_for_stream(caller, stream);
  check(cudaMemcpyAsync(all.data(), out, all.size() * sizeof(std::int32_t), cudaMemcpyDeviceToHost,
                        stream),
        "cudaMemcpyAsync", doing);
  rank.wait_for_stream(caller, stream);
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

}  // namespace

NcclBackend NcclBackend::split(const Caller& caller, const CollectiveCall& call) {
  rank_->flush(caller);
  const std::uint64_t record = rank_->record().begin(caller, *member_, call);
  const int color = std::max(call.color, NCCL_SPLIT_NOCOLOR);
  const auto all = exchange(caller, *rank_, *member_, record, color, call.key);
  const int number = member_->splits++;

  int index = -1;
  std::vector<int> world_ranks;
  for (const int member : color < 0 ? std::vector<int>() : members_of(all, color)) {
    if (member == member_->index) index = static_cast<int>(world_ranks.size());
    world_ranks.push_back(member_->world_rank(member));
  }
  // Ranks that are left out get one too: NCCL writes to both of its variables, if only null.
  NcclMember& part =
      rank_->add_member(caller, world_ranks, index, id_of_part(*member_, number, color));
  ncclComm_t& parent = member_->collectives;
  const Doing doing = doing_of(caller);
  for (ncclComm_t* made : {&part.collectives, &part.messages}) {
    rank_->issue(caller, doing, "ncclCommSplit", parent,
                 [&] { return ncclCommSplit(parent, color, call.key, made, nullptr); });
    if (color < 0) continue;
    rank_->issue(caller, doing, "ncclCommSplit", *made, [] { return ncclInProgress; });
  }
  if (color >= 0) {
    rank_->connect_pairs(caller, part, part.messages);
    rank_->wait_for_stream(caller, rank_->device().stream());
  }
  rank_->record().done(record);
  return {*rank_, color < 0 ? nullptr : &part};
}

}  // namespace rankbox::gpu
