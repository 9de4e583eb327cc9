// The referee: it judges a learner's function in a process in which no learner's code runs.
//
// Every rank is a process (judge/seal/rank/main.cc), in a container, with one socket to the
// referee. For the judge nothing changes: it runs ranks in the sandbox, prepares arguments, calls a
// function and compares. But that function sends the arguments to the rank's process, and carries
// out the calls of Comm that come back, on the sandbox's mailboxes. So values can only come by
// messages, and the trace, the proof of a deadlock and the costs are the sandbox's own.
//
//   std::vector<int> theirs = connect_ranks(p);      // give them to the processes
//   judge_exercise(exercise, sealed_function(exercise.family), …);
//
// Thread safety: connect_ranks once, before ranks start.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exercises/registry.h"
#include "judge/stop_report.h"

namespace rankbox::seal {

/// Returns the function that a family of exercises calls in place of the learner's; null for a
/// family that judge/seal/signatures.h lacks.
AnyFunction sealed_function(std::string_view family);

/// Makes the sockets of this many ranks. Returns the processes' ends, for descriptors of the caller
/// to close; close-on-exec. Throws std::system_error.
std::vector<int> connect_ranks(int ranks);

/// Closes those sockets: connect_ranks may be called again. REQUIRES: no rank runs.
void disconnect_ranks();

/// Called on a rank after its last call in a case: drops what belongs to the case.
void end_case();

/// Returns where the function was on this rank when it threw, crashed or called exit() in its last
/// call: offsets into its library, as in judge/stop_report.h. Empty if it did not, or that is
/// unknown.
std::string where_stopped(int rank);

/// Sets what is called when the first process answers a supervisor that asks where it is (SIGUSR1).
void set_asked_hook(void (*hook)(const Stop& stop));

/// From now on the memory of ranks is counted by the kernel, and is what a MemoryWindow (judge/)
/// shows. Costs a look at the process with each of its requests. REQUIRES: before
/// connect_ranks.
void count_memory_of_ranks();

/// Blocks until every rank's process is ready to load the learner's function. Throws Error if one
/// ended before.
void await_ranks();

}  // namespace rankbox::seal
