// The semantics of messages and collectives once more: tiny, slow and single-threaded, as an oracle
// for the stress test.
//
// The model moves rank after rank on until none can move. Since receives name their source, the
// order in which ranks are moved changes nothing; what is left when all have come to rest is what
// every schedule of the real thing must come to. Only these depend on the schedule, and then the
// model gives all that is possible:
// - which of several errors comes first: an error stops its rank here, and the others go on to
//   theirs;
// - whether a request that is never waited for is matched before its rank ends, or taken back.
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

/// A rank that will never wake: the call it is in, and whom it waits for.
struct BlockedRank {
  int rank = -1;
  std::string op;
  std::vector<int> peers;
  bool operator==(const BlockedRank&) const = default;
};

/// How a run ends.
struct Verdict {
  OutcomeKind kind = OutcomeKind::kOk;
  int rank = -1;                     // whose error it is; -1 for kOk and kDeadlock
  std::vector<BlockedRank> blocked;  // kDeadlock, by rank
  bool operator==(const Verdict&) const = default;
};

struct Prediction {
  std::vector<Verdict> possible;
  // Of what ranks disagree on, also where none of them came to wait for it: a backend may notice.
  std::set<OutcomeKind> disagreements;
  // [rank] digests, in order; if the run ends well.
  std::vector<std::vector<std::uint64_t>> received;
};

Prediction predict(const Program& program);

std::string to_string(const Verdict& verdict);

}  // namespace rankbox::testing
