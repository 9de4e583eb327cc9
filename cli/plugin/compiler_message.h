// The first error in the output of a compiler.
//
// A submission can make the compiler print what it likes (#error), so the output is a stranger's
// text: it is parsed in one pass, without regular expressions, which recurse.
#pragma once

#include <string>

#include "judge/verdict.h"

namespace rankbox::cli {

/// Returns the first error with its file and line, of kind kCompile. Without one, the message is
/// the first line that speaks of an error, or that the compiler needs too much memory.
Failure failure_in(const std::string& output);

}  // namespace rankbox::cli
