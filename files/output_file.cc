#include "files/output_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "comm/errors.h"
#include "files/fd.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;

/// Returns why nothing may be written at the path; empty if it is a regular file, or nothing.
std::string objection_to(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return "it is a folder";
  if (fs::exists(status) && !fs::is_regular_file(status))
    return "it is no regular file, and would be replaced by one";
  return "";
}

std::error_code last_error() { return {errno != 0 ? errno : EIO, std::generic_category()}; }

void flush_to_disk(const std::string& file, std::error_code& error) {
  const Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open() || fsync(fd.get()) != 0) error = last_error();
}

/// @param fill makes the file of that name, or says why it cannot
void put(const std::string& name,
         const std::function<void(const std::string& part, std::error_code& error)>& fill) {
  if (const std::string objection = objection_to(name); !objection.empty())
    throw Error(fmt::format("cannot write {}: {}", name, objection));
  std::error_code error;
  const fs::path path = fs::weakly_canonical(name, error);  // the target of a link
  // Two processes may write the same file.
  const std::string part = fmt::format("{}.{}.part", path.string(), getpid());
  if (!error) fill(part, error);
  if (!error) flush_to_disk(part, error);
  if (!error) fs::rename(part, path, error);
  if (!error) return;
  std::error_code ignored;  // what counts is the first
  fs::remove(part, ignored);
  throw Error(fmt::format("cannot write {}: {}", name, error.message()));
}

}  // namespace

void check_writable(const char* option, const std::string& path) {
  std::string objection = objection_to(path);
  const fs::path folder = fs::absolute(path).parent_path();
  if (objection.empty() && access(folder.c_str(), W_OK) != 0)
    objection = fmt::format("folder {}: {}", folder.string(), last_error().message());
  if (objection.empty()) return;
  throw InvalidArgument(fmt::format("{} {}: cannot write there: {}", option, path, objection));
}

void write_file(const std::string& path, const std::string& text) {
  put(path, [&](const std::string& part, std::error_code& error) {
    errno = 0;
    std::ofstream file(part);
    file << text;
    file.close();
    if (!file) error = last_error();
  });
}

void copy_file_to(const std::string& from, const std::string& path) {
  put(path, [&](const std::string& part, std::error_code& error) {
    fs::copy_file(from, part, fs::copy_options::overwrite_existing, error);
  });
}

}  // namespace rankbox
