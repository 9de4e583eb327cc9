#include "viewer/source_text.h"

#include <cstddef>
#include <fstream>

namespace rankbox {

const std::vector<std::string>& SourceText::lines(const std::string& file) {
  const auto [at, is_new] = files_.try_emplace(file);
  if (is_new) {
    std::ifstream stream(file);
    for (std::string text; std::getline(stream, text);) at->second.push_back(text);
  }
  return at->second;
}

std::string SourceText::line(const std::string& file, std::int64_t number) {
  const std::vector<std::string>& all = lines(file);
  if (number < 1 || number > static_cast<std::int64_t>(all.size())) return "";
  return all[static_cast<std::size_t>(number - 1)];
}

}  // namespace rankbox
