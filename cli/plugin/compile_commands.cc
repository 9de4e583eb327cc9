#include "cli/plugin/compile_commands.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/plugin/compile_flags.h"
#include "cli/support/paths.h"
#include "files/output_file.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

bool is_of_another_backend(std::string_view path) {
  for (const std::string_view folder : {"gpu/", "mpi/", "tests/gpu/", "tests/mpi/", "bench/mpi_"}) {
    if (path.starts_with(folder)) return true;
  }
  return path.ends_with("_mpi.cc") || path.ends_with("_nccl.cc");
}

/// Hidden folders, and Bazel's links to what it built.
bool is_passed_over(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.starts_with('.') || name.starts_with("bazel-");
}

/// Returns the sources below the root, as paths from there, sorted.
std::vector<std::string> sources_below(const fs::path& root) {
  std::vector<std::string> sources;
  const auto add = [&](const fs::directory_entry& file) {
    if (file.path().extension() != ".cc" || !file.is_regular_file()) return;
    std::string path = file.path().lexically_relative(root).string();
    if (!is_of_another_backend(path)) sources.push_back(std::move(path));
  };
  for (const fs::directory_entry& top : fs::directory_iterator(root)) {
    if (!top.is_directory()) {
      add(top);
      continue;
    }
    if (top.is_symlink() || is_passed_over(top.path())) continue;
    const auto readable = fs::directory_options::skip_permission_denied;
    for (auto below = fs::recursive_directory_iterator(top.path(), readable);
         below != fs::recursive_directory_iterator(); ++below) {
      if (!below->is_directory()) {
        add(*below);
      } else if (is_passed_over(below->path())) {
        below.disable_recursion_pending();
      }
    }
  }
  std::sort(sources.begin(), sources.end());
  return sources;
}

std::string quoted(const std::string& text) {
  // A name need not be UTF-8.
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string database_of(const fs::path& root) {
  std::string arguments;
  for (const auto& words : {compiler_words(), reading_flags(), clang_header_flags()}) {
    for (const std::string& word : words) arguments += quoted(word) + ", ";
  }
  const std::string directory = quoted(root.string());
  std::string text;
  for (const std::string& source : sources_below(root)) {
    const std::string file = quoted(source);
    text += fmt::format("{}{{\"directory\": {}, \"file\": {},\n \"arguments\": [{}\"-c\", {}]}}",
                        text.empty() ? "[\n" : ",\n", directory, file, arguments, file);
  }
  return text.empty() ? "[]\n" : text + "\n]\n";
}

}  // namespace

void renew_compile_commands() {
  try {
    const std::string path = project_root() + "/compile_commands.json";
    const std::string wanted = database_of(project_root());
    std::ifstream file(path, std::ios::binary);
    const std::string found{std::istreambuf_iterator<char>(file), {}};
    if (found != wanted) write_file(path, wanted);
  } catch (const std::exception&) {  // an editor's convenience is no reason to fail
  }
}

}  // namespace rankbox::cli
