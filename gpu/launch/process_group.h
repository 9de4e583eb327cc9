// The processes of one job, and all-gathers of short byte strings among them over TCP.
//
//   const RankVariables who = rank_variables().value();
//   ProcessGroup group(who, endpoint_of_rank_0(who), /*seconds=*/30);  // the rendezvous
//   const auto all = group.all_gather(my_gpu, /*seconds=*/30);
//   if (all.problem) std::rethrow_exception(all.problem);
//
// Rendezvous: rank 0 listens, and the others connect to it, with retries until the deadline. A
// handshake checks that all have the same job and world size, and different ranks. Then rank 0
// stops listening, so that a child job may use the port. In an all-gather, every rank sends one
// message to rank 0, which returns all of them to each.
//
// It carries NCCL's id, results and errors, not tensors. It has no thread and no heartbeat: when a
// process dies the kernel closes its connection, which the next all-gather reports at once. The
// launcher ends the other processes of the job.
//
// Trust: no secrets and no encryption, as in the start-up of MPI and NCCL. A process that reaches
// the port during the rendezvous and speaks the protocol can join; other strangers are ignored.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "gpu/launch/endpoint.h"
#include "gpu/launch/rank_variables.h"
#include "gpu/launch/socket.h"

namespace rankbox::launcher {

/// The maximum number of bytes that all ranks together may pass to one all-gather.
inline constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

/// Returns this machine's name and the id of its current boot. Containers with separate names count
/// as separate machines, as in NCCL.
std::string this_host();

class ProcessGroup {
 public:
  using Strings = std::vector<std::optional<std::string>>;  // [rank]
  struct Gathered {
    Strings bytes;               // as far as they arrived
    std::exception_ptr problem;  // null: all arrived
  };

  /// Blocks until all processes have connected.
  /// @param seconds this process's timeout for rank 0, and rank 0's for the others; 3 more if
  /// nothing answers, to find out whether MASTER_PORT does
  /// Throws Error if rank 0 cannot listen or be reached, or ranks are missing. Throws
  /// InvalidArgument if two processes differ in job or world size, or have the same rank.
  ProcessGroup(const RankVariables& who, const Endpoint& endpoint, double seconds);

  int rank() const { return who_.rank; }
  int world_size() const { return who_.world_size; }

  /// Blocks until all ranks have called it, at most for the shortest timeout among them. The
  /// problem is the same on all reachable ranks, and in every later call. It is RankFailed with the
  /// first missing rank, if a rank ended or did not call in time, or InvalidArgument for more than
  /// kMaxBytes; then no bytes are sent.
  Gathered all_gather(const std::string& mine, double seconds);

 private:
  void accept_all(const Endpoint& endpoint, double seconds);
  void admit(Fd socket);
  void connect_to_rank_0(const Endpoint& endpoint, double seconds);
  Gathered collect(const std::string& mine, double seconds);
  Gathered ask_rank_0(const std::string& mine, double seconds);

  RankVariables who_;
  std::vector<Fd> sockets_;    // rank 0: [rank], [0] is closed; others: only to rank 0
  Strings names_;              // rank 0: [rank], "pid 4711 on node7"
  std::exception_ptr broken_;  // the problem of an earlier call
};

}  // namespace rankbox::launcher
