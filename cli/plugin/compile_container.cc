#include "cli/plugin/compile_container.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/plugin/compile.h"
#include "cli/support/container.h"
#include "cli/support/exec.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "files/fd.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{4} << 20;   // of a source file
constexpr std::int64_t kTmpBytes = std::int64_t{1} << 30;  // for assembly and objects

/// Returns the content of a regular file of a source's size. Opening a pipe or a device would wait
/// for it, or have effects.
std::optional<std::string> text_of_file(const std::string& path, int flags) {
  const Fd file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags));
  struct stat status = {};
  if (!file.is_open() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string text;
  std::array<char, 16384> buffer;
  while (text.size() <= kMostBytes) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (text.size() > kMostBytes) return {};
  return text;
}

/// Returns the headers beside the source, for the folder `at`. Links are left out: they may lead
/// anywhere.
std::vector<MadeFile> helpers_beside(const fs::path& source, const fs::path& at) {
  std::vector<MadeFile> helpers;
  std::error_code ignored;
  for (const fs::directory_entry& file : fs::directory_iterator(source.parent_path(), ignored)) {
    if (!is_helper(file.path().string())) continue;
    if (helpers.size() == kMostHelpers) {
      throw InvalidArgument(fmt::format("{} lies beside more than {} headers: move it apart",
                                        source.string(), kMostHelpers));
    }
    if (std::optional<std::string> text = text_of_file(file.path().string(), O_NOFOLLOW))
      helpers.push_back({(at / file.path().filename()).string(), *std::move(text)});
  }
  return helpers;
}

/// Adds the folder of a compiler that is not one of the system's: /opt/gcc-13 for its bin/g++.
void add_compiler(const std::string& program, Container& container) {
  std::error_code ignored;
  for (const fs::path& path : {fs::path(program), fs::canonical(program, ignored)}) {
    const fs::path folder = path.parent_path().parent_path();
    if (is_of_system(path.string()) || folder == folder.root_path()) continue;
    const fs::path root = project_root();
    if (!root.lexically_relative(folder).string().starts_with("..")) {
      throw Error(fmt::format(
          "the compiler {} lies in a folder that also has the project, and would show it to the "
          "compiled file; install it elsewhere, or set RANKBOX_NO_CONTAINER=1",
          program));
    }
    container.readable.push_back({folder.string(), folder.string()});
  }
}

Container container_of(const Compilation& compilation, const std::string& compiler) {
  Container container;
  container.may_start_processes = true;  // the compiler's parts
  container.tmp_bytes = kTmpBytes;
  const fs::path source = fs::path(compilation.source).lexically_normal();
  container.hidden = {project_root(), source.parent_path().string()};
  container.writable = {compilation.folder};
  add_compiler(compiler, container);
  const Precompiled& precompiled = compilation.precompiled;
  for (const fs::directory_entry& folder : fs::directory_iterator(precompiled.headers)) {
    container.readable.push_back(
        {folder.path().string(), absolute_path(folder.path().filename().string())});
  }
  if (!precompiled.folder.empty())
    container.readable.push_back({precompiled.folder, precompiled.folder});
  if (const std::string contracts = compilation.course + "/contracts"; fs::exists(contracts))
    container.readable.push_back({fs::canonical(contracts).string(), contracts});

  std::optional<std::string> text = text_of_file(compilation.source, 0);
  if (!text) {
    throw InvalidArgument(fmt::format("{} is not a regular file of at most {} MiB",
                                      compilation.source, kMostBytes >> 20));
  }
  container.made = helpers_beside(compilation.source, source.parent_path());
  std::erase_if(container.made, [&](const MadeFile& file) { return file.at == source; });
  container.made.push_back({source.string(), *std::move(text)});
  for (const Mount& mount : container.readable) {
    if (!source.string().starts_with(mount.at + "/")) continue;
    throw InvalidArgument(
        fmt::format("{} lies among the headers that every program may include: "
                    "move it to another folder",
                    compilation.source));
  }
  return container;
}

/// Throws Error if the compiler did not start in its container. A compiler's output may begin like
/// bwrap's, after a #line in the file, so another program has to show which of them wrote it.
void check_container(ChildOptions contained, const ChildResult& result) {
  if (!result.output.starts_with("bwrap: ")) return;
  contained.command = {"true"};
  const ChildResult other = run_child(contained);
  if (other.status != 0) throw Error(last_line(other.output));
}

}  // namespace

ChildResult run_compiler(ChildOptions options, const Compilation& compilation) {
  const std::string compiler = find_program(options.command.front());
  if (may_have_containers() && !compiler.empty()) {
    const Container container = container_of(compilation, compiler);
    ChildOptions contained = options;
    contained.command.front() = compiler;
    contained.container = &container;
    try {
      ChildResult result = run_child(contained);
      if (result.status == 0) container_has_worked();
      if (container_problem().empty()) {
        check_container(contained, result);
        return result;
      }
    } catch (const std::system_error&) {
      if (container_problem().empty()) throw;
    }
  }
  return run_child(options);
}

}  // namespace rankbox::cli
