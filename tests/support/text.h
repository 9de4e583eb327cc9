// The required parts of a message or a report: values, names and places.
//
// Tests match those and not the sentences around them, so that sentences can be improved.
#pragma once

#include <string>
#include <vector>

namespace rankbox::testing {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Returns the first of these parts that is missing, with the text; "" if none is.
inline std::string lacks(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    if (!contains(text, part)) return std::string("\"").append(part).append("\" in: ").append(text);
  return "";
}

}  // namespace rankbox::testing
