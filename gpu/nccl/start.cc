// How a rank joins a world on NCCL.
#include <fmt/format.h>

#include "gpu/kernels/kernels.h"
#include "gpu/nccl/rank.h"
#include "gpu/nccl/types.h"

namespace rankbox::gpu {
namespace {

ncclConfig_t make_config(bool blocking) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = blocking ? 1 : 0;
  return config;
}

}  // namespace

void NcclRank::start(const Caller& caller) {
  ready_ = make_event(doing_of(caller));
  warm_kernels(device_.stream());
  for (const auto hook : start_hooks()) hook();

  std::vector<int> everyone;
  for (int r = 0; r < caller.size; ++r) everyone.push_back(r);
  add_member(caller, everyone, rank(), /*group=*/0);
  make_communicators(caller);
  connect_pairs(caller, world_member(), world_member().messages);
  warm_collectives(caller);
  wait_for_stream(caller, device_.stream());
}

void NcclRank::make_communicators(const Caller& caller) {
  NcclMember& member = world_member();
  const bool blocking = world_.settings().blocking_calls;
  // The first communicator never blocks, so a rank that does not join is detected. It is created
  // from the id, the others from it.
  ncclConfig_t first_config = make_config(/*blocking=*/false);
  // The root carries no data. With one channel it connects, and takes, as little as possible. A
  // split with a configuration inherits no channels from its parent.
  if (blocking) first_config.minCTAs = first_config.maxCTAs = 1;
  ncclConfig_t config = make_config(blocking);
  ncclComm_t& first = blocking ? root_ : member.collectives;
  issue(caller, doing_of(caller), "ncclCommInitRankConfig", first, [&] {
    return ncclCommInitRankConfig(&first, caller.size, world_.id(), rank(), &first_config);
  });
  if (blocking) split_communicator(caller, first, 0, rank(), member.collectives, &config);
  split_communicator(caller, first, 0, rank(), member.messages, &config);
}

void NcclRank::connect_pairs(const Caller& caller, NcclMember& member, ncclComm_t& comm) {
  auto* const bytes = reinterpret_cast<char*>(exchange_space(member));
  const cudaStream_t stream = device_.stream();
  issue(caller, doing_of(caller), "connecting all pairs of ranks", comm, [&] {
    return grouped_by_rank(member.size(), [&](int peer) {
      if (peer == member.index) return ncclSuccess;
      const ncclResult_t result = ncclSend(bytes, 1, ncclInt8, peer, comm, stream);
      if (!went_well(result)) return result;
      return ncclRecv(bytes + 1 + peer, 1, ncclInt8, peer, comm, stream);
    });
  });
}

void NcclRank::warm_collectives(const Caller& caller) {
  ncclComm_t& comm = world_member().collectives;
  const cudaStream_t stream = device_.stream();
  const auto ranks = static_cast<std::size_t>(caller.size);
  std::int32_t* const in = exchange_space(world_member());
  std::int32_t* const out = in + ranks;
  const auto warm = [&](const char* name, const std::function<ncclResult_t()>& call) {
    issue(caller, doing_of(caller), name, comm, call);
  };
  warm("ncclAllReduce",
       [&] { return ncclAllReduce(in, out, 1, ncclInt32, ncclSum, comm, stream); });
  warm("ncclBroadcast", [&] { return ncclBroadcast(in, out, 1, ncclInt32, 0, comm, stream); });
  warm("ncclReduce", [&] { return ncclReduce(in, out, 1, ncclInt32, ncclSum, 0, comm, stream); });
  warm("ncclAllGather", [&] { return ncclAllGather(in, out, 1, ncclInt32, comm, stream); });
  warm("ncclReduceScatter",
       [&] { return ncclReduceScatter(in, out, 1, ncclInt32, ncclSum, comm, stream); });
  connect_pairs(caller, world_member(), comm);  // for gather, scatter and all_to_all
}

}  // namespace rankbox::gpu
