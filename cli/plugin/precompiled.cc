#include "cli/plugin/precompiled.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <regex>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cli/support/child.h"
#include "cli/support/paths.h"
#include "files/text_digest.h"

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

constexpr const char* kHeader = "contract.h";
constexpr const char* kPublic = "headers";

/// Copies the public headers, and creates the header and, if the compiler can, its precompiled
/// form. Without that form the header still works; retrying each time would only take longer.
void make(const std::vector<std::string>& compiler, const fs::path& folder) {
  fs::create_directories(folder);
  copy_public_headers((folder / kPublic).string());
  const fs::path header = folder / kHeader;
  std::ofstream(header) << "#include \"comm/comm.h\"\n";
  ChildOptions options;
  options.command = compiler;
  for (const std::string& word : {std::string("-xc++-header"), header.string(), std::string("-o"),
                                  header.string() + ".gch"}) {
    options.command.push_back(word);
  }
  options.directory = project_root();
  options.temporary = folder.string();  // a killed compiler leaves files behind
  options.seconds = 60;
  options.file_bytes = std::int64_t{1} << 30;
  std::error_code ignored;
  if (run_child(options).status != 0) fs::remove(header.string() + ".gch", ignored);
}

/// Removes the folders of older headers and unfinished ones, which are not used again.
void remove_others(const fs::path& all, const fs::path& mine) {
  for (const fs::directory_entry& other : fs::directory_iterator(all)) {
    const bool may_be_under_way =
        other.path().has_extension() &&
        fs::file_time_type::clock::now() - other.last_write_time() < std::chrono::minutes(5);
    std::error_code ignored;  // another process may have removed it
    if (other.path() != mine && !may_be_under_way) fs::remove_all(other.path(), ignored);
  }
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

std::string state_of_headers(std::initializer_list<const char*> folders) {
  std::uint64_t all = 0;  // independent of the order
  for (const char* name : folders) {
    const fs::path folder = fs::path(project_root()) / name;
    if (!fs::exists(folder)) continue;
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder)) {
      if (file.path().extension() != ".h") continue;
      all +=
          std::hash<std::string>()(fmt::format("{} {} {}", file.path().string(), file.file_size(),
                                               file.last_write_time().time_since_epoch().count()));
    }
  }
  return fmt::format("{:016x}", all);
}

Precompiled precompiled_contract(const std::vector<std::string>& compiler) {
  // Other threads wait for the header; other processes use folders of their own.
  static std::mutex making;
  const std::lock_guard lock(making);
  try {
    // A folder for each compiler and set of flags, with the form of the newest headers.
    const fs::path all = fs::path(project_root()) / ".rankbox" / "precompiled" /
                         text_digest(fmt::format("{}", fmt::join(compiler, "\n")));
    const fs::path mine =
        all / state_of_headers({"bazel", "cli/plugin", "collectives", "comm", "compute", "gpu",
                                "mpi", "parallel", "sim", "training"});
    if (!fs::exists(mine)) {
      const fs::path part = all / fmt::format("{}.{}", mine.filename().string(), getpid());
      std::error_code ignored;
      try {
        make(compiler, part);
      } catch (...) {
        fs::remove_all(part, ignored);
        throw;
      }
      fs::rename(part, mine, ignored);  // fails, harmlessly, if another process was faster
      fs::remove_all(part, ignored);
      if (!fs::exists(mine)) return {};
      remove_others(all, mine);
    }
    return {mine.string(), (mine / kHeader).string(), (mine / kPublic).string()};
  } catch (const std::system_error&) {
    return {};  // full or read-only disk, or no compiler: compilation reports it
  }
}

}  // namespace rankbox::cli
