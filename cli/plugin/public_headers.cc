#include "cli/plugin/public_headers.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "cli/support/paths.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

/// What trains a model is no header for a learner, though it lies in a public folder.
constexpr const char* kTrainingPrograms = "training/run";

/// Headers besides those of the public folders: what every program's compilation includes
/// (compile.cc), and what a program may include itself.
constexpr const char* kAlways[] = {"comm/comm.h", "comm/xtensor.h", "cli/plugin/exercise_entry.h",
                                   "cli/rank_main.h", "bazel/clang_source_location.h"};

/// Returns the names in #include "…", of any backend.
std::vector<std::string> includes_of(const fs::path& header) {
  static const std::regex pattern("\n[ \t]*#[ \t]*include[ \t]*\"([^\"]*)\"");
  std::ifstream file(header);
  const std::string text = "\n" + std::string{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    names.push_back((*match)[1]);
  return names;
}

}  // namespace

std::vector<std::string> public_folders() {
  return {"collectives", "compute", "parallel", "training"};
}

void copy_public_headers(const std::string& folder) {
  const fs::path root = project_root();
  std::vector<std::string> found(std::begin(kAlways), std::end(kAlways));
  for (const std::string& name : public_folders()) {
    for (auto file = fs::recursive_directory_iterator(root / name);
         file != fs::recursive_directory_iterator(); ++file) {
      const fs::path path = file->path().lexically_relative(root);
      if (path == kTrainingPrograms) file.disable_recursion_pending();
      if (path.extension() == ".h") found.push_back(path.string());
    }
  }
  std::set<std::string> copied;
  while (!found.empty()) {
    const std::string name = found.back();
    found.pop_back();
    if (!fs::exists(root / name) || !copied.insert(name).second) continue;
    for (const std::string& included : includes_of(root / name)) found.push_back(included);
    const fs::path copy = fs::path(folder) / name;
    fs::create_directories(copy.parent_path());
    fs::copy_file(root / name, copy);
  }
}

}  // namespace rankbox::cli
