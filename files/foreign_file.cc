#include "files/foreign_file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/fd.h"

namespace rankbox {

std::optional<std::string> read_foreign_file(const std::string& path, std::size_t most_bytes) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status = {};
  if (!fd.is_open() || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  if (status.st_size < 0 || static_cast<std::size_t>(status.st_size) > most_bytes)
    return std::nullopt;

  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = read(fd.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;  // it has become shorter
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace rankbox
