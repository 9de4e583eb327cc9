#include "files/remove_tree.h"

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/fd.h"

namespace rankbox {

namespace {

/// Opens a folder, whatever its mode was. Returns a closed descriptor if it is no folder.
Fd open_folder(int parent, const char* name) {
  struct stat status = {};
  if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode))
    return Fd();
  (void)!fchmodat(parent, name, S_IRWXU, 0);  // without it, it may still open
  return Fd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  const int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
  DIR* const entries = copy < 0 ? nullptr : fdopendir(copy);
  if (entries == nullptr) {
    if (copy >= 0) close(copy);
    return names;
  }
  rewinddir(entries);  // the copy shares its position
  while (const dirent* const entry = readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(entries);
  return names;
}

/// Moves a folder to `top`, under an unused name.
void move_up(int top, int parent, const std::string& name, long& moved) {
  if (!open_folder(parent, name.c_str()).is_open()) return;
  int failed = 0;
  do {
    const std::string place = "moved." + std::to_string(moved++);
    failed = renameat(parent, name.c_str(), top, place.c_str());
  } while (failed != 0 && (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR));
}

}  // namespace

void remove_tree(const std::filesystem::path& path) {
  const Fd top = open_folder(AT_FDCWD, path.c_str());
  long moved = 0;
  // Each round removes the folders of one level. Those inside them move up, to the next round.
  for (bool goes_on = top.is_open(); goes_on;) {
    goes_on = false;
    for (const std::string& name : names_in(top.get())) {
      if (unlinkat(top.get(), name.c_str(), 0) == 0) continue;
      const Fd folder = open_folder(top.get(), name.c_str());
      if (!folder.is_open()) continue;
      for (const std::string& inner : names_in(folder.get())) {
        if (unlinkat(folder.get(), inner.c_str(), 0) != 0)
          move_up(top.get(), folder.get(), inner, moved);
      }
      goes_on = unlinkat(top.get(), name.c_str(), AT_REMOVEDIR) == 0 || goes_on;
    }
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

}  // namespace rankbox
