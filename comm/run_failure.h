// A failed run that ends the process, where ranks are processes (MPI).
//
// There run_ranks does not throw: the other processes may be unable to end their part, and MPI
// cannot cancel the operations they started. Instead one process reports the first cause, and all
// processes of the job end with a non-zero exit code.
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

/// Prints "rankbox: …" and the details on stderr. Returns 2 for a user error, else 1.
int print_failure(const RunFailure& failure);

/// Returns whether the error is a user error: an InvalidArgument that names no line of the program.
bool is_users_mistake(const std::exception_ptr& error);

}  // namespace rankbox
