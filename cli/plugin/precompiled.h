// The headers that a learner's file may include: the contracts and what they are made of.
//
// What every file includes is precompiled, which saves three quarters of a learner's compile time.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace rankbox::cli {

/// The folders whose headers are public. Those that they include are public too.
std::vector<std::string> public_folders();

/// Copies the public headers of the project into `folder`, laid out as in the project: what is not
/// there cannot be included from there. Throws std::system_error.
void copy_public_headers(const std::string& folder);

/// A folder that compilations read, and never write to.
struct Precompiled {
  std::string folder;    // empty: it could not be created, and compilations only take longer
  std::string contract;  // a header to include before all others, in place of comm/comm.h
  std::string headers;   // a copy of the public headers
};

/// Returns the folder for these flags. Recreated if the compiler, its flags or a header of the
/// project has changed (.rankbox/precompiled, 50 MB per set of flags). Blocks for some seconds
/// while it is created. Thread safety: any thread, and several processes at once. Throws
/// Interrupted while an InterruptGuard lives.
/// @param compiler the program and the flags of the compilation that will include it
Precompiled precompiled_contract(const std::vector<std::string>& compiler);

/// Returns a key that changes when any header below these folders of the project changes. It
/// depends on file times, not on contents, so the check takes almost no time.
std::string state_of_headers(std::initializer_list<const char*> folders);

}  // namespace rankbox::cli
