#include "files/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "files/remove_tree.h"

namespace rankbox {
namespace {

constexpr std::size_t kProbeBytes = 64 * 1024;

[[noreturn]] void refuse(const std::filesystem::path& folder, const std::string& why) {
  throw NoTemporaryFiles("cannot write temporary files in " + folder.string() + ": " + why +
                         "; make room, or set TMPDIR to another folder");
}

/// Returns an absolute path: programs that get it may run in other folders.
std::filesystem::path parent() {
  const char* given = std::getenv("TMPDIR");
  const std::filesystem::path folder = given != nullptr && *given != '\0' ? given : "/tmp";
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    refuse(folder, error ? error.message() : "it is no folder");
  return std::filesystem::absolute(folder);
}

}  // namespace

void check_has_space(const std::filesystem::path& folder) {
  const std::filesystem::path probe = folder / "probe";
  errno = 0;
  std::ofstream file(probe);
  file << std::string(kProbeBytes, '\0');
  file.close();
  const int reason = errno;
  std::error_code ignored;
  std::filesystem::remove(probe, ignored);
  if (!file) refuse(folder, std::strerror(reason != 0 ? reason : EIO));
}

TemporaryFolder::TemporaryFolder() {
  const std::filesystem::path folder = parent();
  std::string name = (folder / "rankbox.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) refuse(folder, std::strerror(errno));
  folder_ = name;
}

TemporaryFolder::~TemporaryFolder() { remove_tree(folder_); }

}  // namespace rankbox
