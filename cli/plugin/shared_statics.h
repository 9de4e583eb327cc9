// Static variables of a learner's library, which all ranks of the sandbox share.
#pragma once

#include <string>

namespace rankbox::cli {

/// Returns the names of at most three variables, "last, table", from the library's symbols; empty
/// if there are none, or no nm. Constants named as such (kTable) and thread_local ones do not
/// count. Blocks for some milliseconds.
std::string shared_statics(const std::string& library);

}  // namespace rankbox::cli
