// A failed run that ends the process: what happens where ranks are processes (MPI).
//
// There run_ranks does not throw: the other processes cannot be trusted to end their own part, and
// MPI cannot call off what they have started. Instead one process reports the first cause, and all
// processes of the job end with an exit code that is not 0.
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace rankbox {

struct RunFailure {
  std::exception_ptr error;  // the first cause; what() is one line
  std::string details;       // lines: what each rank did last, and what the sandbox can prove
};

/// Reports the failure, and returns the exit code of the job.
using FailureHandler = std::function<int(const RunFailure&)>;

/// Replaces print_failure(). Called on one process, which need not be the first.
void set_failure_handler(FailureHandler handler);

/// Calls the handler. Throws nothing.
int handle_failure(const RunFailure& failure);

/// "rankbox: …" and the details on stderr. Returns 2 for a mistake of the user's, else 1.
int print_failure(const RunFailure& failure);

/// Whether the error is an argument that no rank's call has refused: a mistake of the user's.
bool is_users_mistake(const std::exception_ptr& error);

}  // namespace rankbox
