// A second implementation of messages and collectives, as an oracle for the stress test.
//
// It is small, slow and single-threaded. The model advances rank after rank until none can advance.
// Since receives name their source, the order of ranks changes nothing. The final state is the one
// that every schedule of the sandbox must reach. Only these depend on the schedule, and for them
// the model returns all possibilities:
//   - which of several errors comes first: an error stops its rank here, and the others go on to
//     theirs;
//   - whether a request that is never waited for is matched before its rank ends, or withdrawn.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/random_program.h"

namespace rankbox::testing {

enum class OutcomeKind : std::uint8_t {
  kOk,
  kDeadlock,
  kMessageMismatch,
  kCollectiveMismatch,
  kUnreceived,
  kFailed
};

/// A rank that will never wake: its current call, and the ranks it waits for.
struct BlockedRank {
  int rank = -1;
  std::string op;
  std::vector<int> peers;
  bool operator==(const BlockedRank&) const = default;
};

/// The outcome of a run.
struct Verdict {
  OutcomeKind kind = OutcomeKind::kOk;
  int rank = -1;                     // that failed; -1 for kOk and kDeadlock
  std::vector<BlockedRank> blocked;  // kDeadlock, by rank
  bool operator==(const Verdict&) const = default;
};

struct Prediction {
  std::vector<Verdict> possible;
  // Kinds of disagreement between ranks, even if none waits for it: a backend may detect it.
  std::set<OutcomeKind> disagreements;
  // [rank] digests, in order; set if the run succeeds.
  std::vector<std::vector<std::uint64_t>> received;
};

Prediction predict(const Program& program);

std::string to_string(const Verdict& verdict);

}  // namespace rankbox::testing
