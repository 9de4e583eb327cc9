#include "cli/plugin/precompiled.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cli/plugin/public_headers.h"
#include "cli/support/child.h"
#include "cli/support/paths.h"
#include "files/text_digest.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

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
