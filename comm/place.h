// The place of a call in the learner's source.
#pragma once

#include <source_location>

namespace rankbox {

#if defined(__cpp_lib_source_location)
using Place = std::source_location;
#else
/// The same interface for compilers whose <source_location> is still empty (clang before 16 with
/// libstdc++).
class Place {
 public:
  static constexpr Place current(const char* file = __builtin_FILE(),
                                 unsigned line = __builtin_LINE(),
                                 const char* function = __builtin_FUNCTION()) {
    Place place;
    place.file_ = file;
    place.line_ = line;
    place.function_ = function;
    return place;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr unsigned line() const { return line_; }
  constexpr const char* function_name() const { return function_; }

 private:
  const char* file_ = "";
  unsigned line_ = 0;
  const char* function_ = "";
};
#endif

}  // namespace rankbox
