// The processes of one job, and all-gathers of short byte strings among them over TCP.
//
//   const RankVariables who = rank_variables().value();
//   ProcessGroup group(who, endpoint_of_rank_0(who), /*seconds=*/30);  // the rendezvous
//   const auto all = group.all_gather(my_gpu, /*seconds=*/30);
//   if (all.problem) std::rethrow_exception(all.problem);
//
// Rendezvous: rank 0 listens, and the others connect to it, with retries until the deadline. A
// handshake makes sure that they are of one job and one world size, each of another rank. Then rank
// 0 stops listening, so that a child job may use the port. An all-gather is a message from every
// rank to rank 0, and one back with everything.
//
// It passes NCCL's id, results and errors, not tensors. It has no thread and no heartbeat: when a
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

#include "launch/endpoint.h"
#include "launch/rank_variables.h"
#include "launch/socket.h"

namespace rankbox::launcher {

/// The most bytes that all ranks together may pass to one all-gather.
inline constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

/// The name of this machine and the id of its current boot. Containers with names of their own
/// count as machines of their own, as they do for NCCL.
std::string this_host();

class ProcessGroup {
 public:
  using Strings = std::vector<std::optional<std::string>>;  // [rank]
  struct Gathered {
    Strings bytes;               // as far as they arrived
    std::exception_ptr problem;  // null: all arrived
  };

  /// Blocks until all processes have connected.
  /// @param seconds that this process waits for rank 0, and rank 0 for the others
  /// Throws Error where rank 0 cannot listen or be reached, or ranks are missing; InvalidArgument
  /// where two processes are of different jobs or world sizes, or of the same rank.
  ProcessGroup(const RankVariables& who, const Endpoint& endpoint, double seconds);

  int rank() const { return who_.rank; }
  int world_size() const { return who_.world_size; }

  /// Blocks until all ranks have called it, for as long as the least patient of them waits.
  /// Problems, the same on all ranks that can be reached, and in every later call: RankFailed, with
  /// the first missing rank, where a rank ended or did not call in time; InvalidArgument for more
  /// than kMaxBytes, of which none are passed.
  Gathered all_gather(const std::string& mine, double seconds);

 private:
  void accept_all(const Endpoint& endpoint, double seconds);
  void admit(Fd socket);
  void connect_to_rank_0(const Endpoint& endpoint, double seconds);
  Gathered collect(const std::string& mine, double seconds);
  Gathered ask_rank_0(const std::string& mine, double seconds);

  RankVariables who_;
  std::vector<Fd> sockets_;    // rank 0: [rank], its own closed; other ranks: to rank 0 alone
  Strings names_;              // rank 0: [rank], "pid 4711 on node7"
  std::exception_ptr broken_;  // the problem of an earlier call
};

}  // namespace rankbox::launcher
