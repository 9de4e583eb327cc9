#include "cli/page/chapter.h"

#include <algorithm>
#include <filesystem>

#include "cli/page/safe_html.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "exercises/registry.h"

namespace rankbox::cli {
namespace {

/// Returns null if there is none.
const Chapter* chapter_in(const std::string& folder) {
  const auto found = std::ranges::find(chapters(), folder, &Chapter::folder);
  return found == chapters().end() ? nullptr : &*found;
}

/// Returns the content of the file; empty if it cannot be read.
std::string text_if_any(const std::string& path) {
  try {
    return text_of(path);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

std::string chapter_html(const std::string& folder) {
  const Chapter* chapter = chapter_in(folder);
  if (chapter == nullptr) return "";
  return safe_html(text_if_any(readme_path(*chapter)), "chapter/" + folder + "/");
}

std::string chapter_drawing(const std::string& folder, const std::string& name) {
  const Chapter* chapter = chapter_in(folder);
  if (chapter == nullptr || name.find('/') != std::string::npos) return "";
  return text_if_any(std::filesystem::path(readme_path(*chapter)).replace_filename(name).string());
}

}  // namespace rankbox::cli
