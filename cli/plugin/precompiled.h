// The contract's headers, compiled once: three quarters of the time that a learner's file takes.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace rankbox::cli {

/// A header to include before all others, which stands for comm/comm.h; made when the compiler, its
/// flags or a header of ours are not those of the last time (.rankbox/precompiled, 50 MB for each set
/// of flags). Empty if it cannot be made: then things take longer, and that is all.
/// Blocks for some seconds when it is made. Several processes may ask at once.
/// Throws Interrupted while an InterruptGuard lives.
/// @param compiler the program and the flags of the compilation that will include it
std::string precompiled_contract(const std::vector<std::string>& compiler);

/// A text that changes when a header does that lies anywhere below these folders of the project. It
/// is about their times, not their texts: to look is as quick as not to look.
std::string state_of_headers(std::initializer_list<const char*> folders);

}  // namespace rankbox::cli
