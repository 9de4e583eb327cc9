#include "cli/grade/source_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/plugin/compile.h"
#include "comm/errors.h"
#include "files/fd.h"
#include "judge/visible_text.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

struct Content {
  std::string text;
  std::string refused;
};

/// Returns the name of an encoding that the compiler does not read; empty for any other.
std::string foreign_encoding(const std::string& text) {
  using namespace std::string_view_literals;
  for (const auto& [mark, name] : {std::pair{"\xff\xfe\0\0"sv, "UTF-32"},
                                   {"\0\0\xfe\xff"sv, "UTF-32"},
                                   {"\xff\xfe"sv, "UTF-16"},
                                   {"\xfe\xff"sv, "UTF-16"}}) {
    if (text.starts_with(mark)) return name;
  }
  // Of UTF-16 without a mark, every second byte.
  return text.find('\0') != std::string::npos ? "UTF-16 or another encoding with zero bytes" : "";
}

Content read_regular_file(const std::string& path) {
  // Opening a FIFO would wait for a writer; following a link could show another student's file.
  const Fd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.is_open() && errno == ELOOP)
    return {.text = {}, .refused = "a symbolic link, not a file"};
  if (!fd.is_open() && errno == ENXIO) return {.text = {}, .refused = "a socket, not a file"};
  struct stat about = {};
  if (!fd.is_open() || fstat(fd.get(), &about) != 0)
    throw Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  if (!S_ISREG(about.st_mode)) return {.text = {}, .refused = "a device or a pipe, not a file"};

  Content content;
  std::array<char, 65536> buffer;
  while (content.text.size() <= kMostBytes) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got == 0) break;
    if (got < 0) throw Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    content.text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (content.text.size() > kMostBytes) return {.text = {}, .refused = "larger than 1 MiB"};
  if (const std::string encoding = foreign_encoding(content.text); !encoding.empty())
    return {.text = {}, .refused = fmt::format("saved as {}: save it as UTF-8", encoding)};
  return content;
}

}  // namespace

SourceText read_source(const std::string& path, bool with_helpers) {
  Content content = read_regular_file(path);
  SourceText source{.text = std::move(content.text), .helpers = {}, .refused = content.refused};
  if (!with_helpers || !source.refused.empty()) return source;

  std::vector<fs::path> headers;
  std::size_t regular = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(path).parent_path())) {
    const fs::file_type type = entry.symlink_status().type();
    if (type == fs::file_type::directory || !is_helper(entry.path().string())) continue;
    headers.push_back(entry.path());
    if (type == fs::file_type::regular) ++regular;
  }
  std::ranges::sort(headers);
  if (regular > kMostHelpers) {
    source.refused = fmt::format("beside more than {} headers", kMostHelpers);
    return source;
  }
  for (const fs::path& header : headers) {
    const std::string name = header.filename().string();
    Content helper = read_regular_file(header.string());
    if (helper.refused.empty()) {
      source.helpers.push_back({name, std::move(helper.text)});
    } else {
      source.left_out.push_back(visible_name(name + " is left out: " + helper.refused));
    }
  }
  return source;
}

}  // namespace rankbox::cli
