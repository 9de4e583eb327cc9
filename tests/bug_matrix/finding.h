// What a run says is wrong: the class of the mistake, its line, and the lines that the text names.
#pragma once

#include <exception>
#include <set>
#include <string>

namespace rankbox::testing {

struct Finding {
  std::string kind;  // "call mismatch", …; "": the run passed
  int line = 0;      // of the generated file; 0: elsewhere
  std::set<int> named;
  std::string text;
};

/// Returns the finding of an error; that of a run that passed, for null.
Finding finding_of(const std::exception_ptr& error);

}  // namespace rankbox::testing
