// What the ranks of one process share of a communicator: its members, and a ledger in which their
// calls are compared.
//
// NCCL itself sees no mistake: a message of another size, or a collective called differently, hangs
// or writes anywhere. So every call is noted here first, in host memory, and whoever comes second
// compares, before anything is enqueued. Nobody waits: a rank that came first has gone on, and learns
// of the conflict in its next call or wait.
//
// Ranks of other processes are not seen: there NCCL's own behaviour applies.
//
// Cost: an uncontended lock per call. Thread safety: all of it may be used by any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/collective_call.h"
#include "comm/errors.h"

namespace rankbox::gpu {

/// One side of a message.
struct PostedMessage {
  bool sends = false;
  bool blocks = false;  // its rank cannot go on: not isend and irecv, until they are waited for
  int rank = -1;        // of the world, like
  int peer = -1;
  std::int64_t count = 0;
  DType dtype = DType::kFloat32;
  const char* op = "";
  Place place{};

  /// For an error that tells of it.
  ErrorContext context() const;
};

/// Two calls that do not go together.
struct Conflict {
  std::string text;
  std::vector<int> ranks;                   // of the world: whose calls they are
  std::vector<ErrorContext> messages = {};  // of messages: what each of these ranks has called
};

/// A call whose rank can never go on, because another one has returned.
struct Orphan {
  Wait wait;         // peers: the rank that returned
  std::string text;  // "rank 0 sends 4 float32 (16 bytes) to rank 1 at ring.cc:12"
};

class NcclGroup {
 public:
  /// @param members ranks of the world, by index
  /// @param local [index] whether it is one of this process
  /// @param path tells the communicators of a world apart: the parent's path, then which split and
  ///             which color
  NcclGroup(std::vector<int> members, std::vector<bool> local, std::vector<int> path);

  int size() const { return static_cast<int>(members_.size()); }
  int world_rank(int index) const { return members_[static_cast<std::size_t>(index)]; }
  const std::vector<int>& members() const { return members_; }
  const std::vector<int>& path() const { return path_; }

  /// @param src, dst indices
  std::optional<Conflict> post(int src, int dst, const PostedMessage& message);
  /// From here on its rank waits for its `number`-th message (from 0) from src to dst.
  void note_wait(int src, int dst, bool sends, std::uint64_t number);

  enum class Other : std::uint8_t { kHasCome, kHasNotCome, kUnknown };
  /// The other side of this rank's `number`-th message (from 0) from src to dst; unknown where that
  /// is in another process.
  Other other_side(int src, int dst, bool sends, std::uint64_t number) const;

  /// @param caller one of this communicator
  std::optional<Conflict> post(const Caller& caller, const CollectiveCall& call);

  /// A call that blocks until this rank of the world calls, which has returned.
  std::optional<Orphan> orphan_of(int returned) const;

 private:
  struct Open {
    CollectiveCall call;  // of whoever came first
    Caller caller;
    int came = 0;
  };

  std::optional<Orphan> message_for(int returned) const;
  std::optional<Orphan> collective_for(int returned) const;
  bool is_local(int index) const { return local_[static_cast<std::size_t>(index)]; }
  std::string in_words(const Open& open) const;

  const std::vector<int> members_;
  const std::vector<bool> local_;
  const std::vector<int> path_;
  const int local_size_;

  mutable std::mutex messages_lock_;
  struct Pair {
    std::deque<PostedMessage>
        ahead;               // what one side has called and the other has not, oldest first
    std::uint64_t sent = 0;  // called so far
    std::uint64_t received = 0;
  };
  std::map<std::pair<int, int>, Pair> messages_;  // by source and destination

  mutable std::mutex collectives_lock_;
  std::vector<std::uint64_t> calls_;  // [index] collectives called so far
  std::deque<Open> open_;             // that some have called and some not, oldest first
  std::uint64_t first_open_ = 0;      // number of open_.front()
};

}  // namespace rankbox::gpu
