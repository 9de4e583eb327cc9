#include "files/output_file.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "comm/errors.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;

/// @param fill makes the file of that name, or says why it cannot
void put(const std::string& path,
         const std::function<void(const std::string& part, std::error_code& error)>& fill) {
  const std::string part = path + ".part";
  std::error_code error;
  fill(part, error);
  if (!error) fs::rename(part, path, error);
  if (!error) return;
  std::error_code ignored;  // what counts is the first
  fs::remove(part, ignored);
  throw Error(fmt::format("cannot write {}: {}", path, error.message()));
}

}  // namespace

void check_writable(const char* option, const std::string& path) {
  const fs::path folder = fs::absolute(path).parent_path();
  if (fs::is_directory(path) || access(folder.c_str(), W_OK) != 0)
    throw InvalidArgument(fmt::format("{} {}: cannot write there", option, path));
}

void write_file(const std::string& path, const std::string& text) {
  put(path, [&](const std::string& part, std::error_code& error) {
    std::ofstream file(part);
    file << text;
    file.close();
    if (!file) error = std::make_error_code(std::errc::io_error);
  });
}

void copy_file_to(const std::string& from, const std::string& path) {
  put(path, [&](const std::string& part, std::error_code& error) {
    fs::copy_file(from, part, fs::copy_options::overwrite_existing, error);
  });
}

}  // namespace rankbox
