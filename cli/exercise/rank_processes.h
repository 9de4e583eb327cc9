// The processes in which a learner's function runs when a referee judges it.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "files/fd.h"

namespace rankbox::cli {

/// Starts a process for each rank, in one container without the project's files, and ends them all
/// with this object.
class RankProcesses {
 public:
  /// @param libraries the function's, then those with the functions that it may call
  /// Throws std::system_error if they cannot be started.
  RankProcesses(const std::string& family, int ranks, const std::vector<std::string>& libraries);
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;
  ~RankProcesses();

 private:
  pid_t pid_ = -1;
  Fd info_;  // on the container's first process
};

}  // namespace rankbox::cli
