// The stubs: exercises in their original form.
//
// There is no second copy of them. The registry stores git's id of each text.
#pragma once

#include <string>

#include "exercises/registry.h"

namespace rankbox::cli {

/// Returns whether the learner's file is still the stub.
bool is_stub(const Exercise& exercise);

/// Returns the stub's text: from the file if it is unchanged, else from git. Throws Error with the
/// fix if git or the object is missing.
std::string stub_text(const Exercise& exercise);

}  // namespace rankbox::cli
