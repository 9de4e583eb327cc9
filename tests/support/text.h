// What a message or a report has to have: values, names and places. Tests match those and not the
// sentences around them, so that sentences can be improved.
#pragma once

#include <string>
#include <vector>

namespace rankbox::testing {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The first of these parts that the text does not have, and the text; "" if it has them all.
inline std::string lacks(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    if (!contains(text, part)) return "\"" + part + "\" in: " + text;
  return "";
}

}  // namespace rankbox::testing
