#include "viewer/source_text.h"

#include <cstddef>
#include <fstream>

namespace rankbox {

std::string SourceText::line(const std::string& file, std::int64_t number) {
  const auto [at, is_new] = files_.try_emplace(file);
  std::vector<std::string>& lines = at->second;
  if (is_new) {
    std::ifstream stream(file);
    for (std::string text; std::getline(stream, text);) lines.push_back(text);
  }
  if (number < 1 || number > static_cast<std::int64_t>(lines.size())) return "";
  return lines[static_cast<std::size_t>(number - 1)];
}

}  // namespace rankbox
