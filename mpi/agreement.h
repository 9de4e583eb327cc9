// The ranks of a group tell each other what native collective they call, so that a mismatch is an
// error instead of a hang or of wrong memory.
//
// Everyone tells everyone: 2 (p-1) short messages a rank. It takes two ranks to disagree, and those
// two find out as soon as both have called, whatever keeps the others.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

#include "comm/collective_call.h"
#include "mpi/group.h"

namespace rankbox::mpi {

class Agreement {
 public:
  /// Begins it. It must stay where it is until it is done, or for good.
  Agreement(Group& group, const Caller& caller, const CollectiveCall& call);
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  /// Looks what has come: true when all ranks have called the same.
  bool advance();

  /// What two ranks disagree on, of which this is one; empty if nothing is known.
  const std::string& mismatch() const { return mismatch_; }

 private:
  /// One rank's call, as it travels.
  struct Statement {
    std::int32_t kind = 0;
    std::int32_t root = 0;
    std::int32_t op = 0;
    std::int32_t dtype = 0;
    std::int64_t count = 0;
    std::int32_t rank = 0;
    std::uint32_t line = 0;
    std::array<char, 92> file{};
  };

  static Statement statement_of(const Caller& caller, const CollectiveCall& call);
  static CollectiveCall call_of(const Statement& from);
  std::string in_words(const Statement& of) const;
  void compare_with(const Statement& other);

  const Group& group_;
  std::vector<Statement> statements_;  // [index in the group]
  std::vector<MPI_Request> receives_;  // [index]
  std::vector<MPI_Request> sends_;     // [index]
  std::vector<int> arrived_;           // indices of what has come, while it is looked at
  int missing_;
  std::string mismatch_;
};

}  // namespace rankbox::mpi
