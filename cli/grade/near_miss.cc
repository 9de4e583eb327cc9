#include "cli/grade/near_miss.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "exercises/registry.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

/// Returns the exercise whose name this may have been meant to be. Only letters and digits count,
/// and no letter follows, as in "broadcast_ring (1)" and "broadcast_ring_final". Empty if there is
/// none.
std::string likely_exercise(const std::string& text) {
  const auto is_counted = [](unsigned char c) { return std::isalnum(c) != 0; };
  const auto counted = [&](std::string name) {
    std::erase_if(name, [&](unsigned char c) { return !is_counted(c); });
    return name;
  };
  std::string likely;
  for (const Exercise& exercise : exercises()) {
    const std::string name = counted(exercise.name);
    if (exercise.name.size() <= likely.size() || !counted(text).starts_with(name)) continue;
    std::size_t end = 0;  // of the name in the text
    for (std::size_t left = name.size(); left > 0; ++end) left -= is_counted(text[end]) ? 1 : 0;
    const bool is_a_word =
        end == text.size() || std::isalpha(static_cast<unsigned char>(text[end])) == 0;
    if (is_a_word) likely = exercise.name;
  }
  return likely;
}

}  // namespace

bool is_source(const fs::path& path) {
  return path.extension() == ".cc" || path.extension() == ".cpp";
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string likely_name(const fs::path& path) {
  static const std::set<std::string> endings = {".cc", ".cpp", ".cxx", ".c++", ".c", ".cp"};
  std::string name = lower_case(path.filename().string());
  if (name.starts_with('.')) name.erase(0, 1);
  fs::path known = name;
  if (endings.contains(known.stem().extension().string())) known = known.stem();
  return endings.contains(known.extension().string()) ? known.stem().string() : "";
}

NearMiss near_miss(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string likely = likely_exercise(likely_name(path));
  if (likely.empty()) return {};
  const std::string mend = ": rename it to " + likely + ".cc";
  if (is_hidden(path)) return {likely, name + " is hidden" + mend};
  if (!is_source(path)) return {likely, name + " is no C++ file by its name" + mend};
  if (find_exercise(path.stem().string()) != nullptr) return {};
  return {likely, name + " has not quite an exercise's name" + mend + ", if it is that one"};
}

}  // namespace rankbox::cli
