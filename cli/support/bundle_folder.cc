#include "cli/support/bundle_folder.h"

#include <filesystem>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "cli/support/child.h"
#include "comm/errors.h"
#include "files/output_file.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

/// Returns whether the other machine must provide the library itself: libraries of the C library,
/// the NVIDIA driver and MPI. MPI's libraries must match its launcher.
bool is_of_the_system(const std::string& library) {
  static const std::regex pattern(
      "^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libcuda|"
      "libnvidia-.*|libmpi.*|libopen-(pal|rte).*|libpmix|libucp|libucs|libuct|libucm|libfabric|"
      "libhwloc|libevent.*|libz|libudev|libnuma|libcap)\\.so.*");
  return std::regex_match(library, pattern);
}

/// Returns the files of the other libraries that the program needs.
std::vector<fs::path> libraries_of(const std::string& program) {
  ChildOptions options;
  options.command = {"ldd", program};
  const ChildResult result = run_child(options);
  if (result.status != 0) throw Error(fmt::format("ldd {}: {}", program, result.output));
  std::vector<fs::path> libraries;
  std::istringstream lines(result.output);
  static const std::regex pattern("^\\s*(\\S+) => (.+?)( \\(0x[0-9a-f]+\\))?$");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, pattern) || is_of_the_system(match[1])) continue;
    if (match[2].str().starts_with("not found")) {
      throw Error(
          fmt::format("{} needs {}, which is not on this machine", program, match[1].str()));
    }
    libraries.emplace_back(match[2].str());
  }
  return libraries;
}

/// Creates the folder. Accepts an empty folder or a bundle's, and throws for any other.
void make_folder(const fs::path& folder) {
  if (fs::exists(folder) && !fs::is_directory(folder)) {
    throw InvalidArgument(
        fmt::format("--bundle {}: this is a file, not a folder", folder.string()));
  }
  if (fs::exists(folder) && !fs::is_empty(folder) && !fs::exists(folder / "run.sh")) {
    throw InvalidArgument(fmt::format(
        "--bundle {}: the folder holds other files; name an empty or new one", folder.string()));
  }
  fs::create_directories(folder);
}

void copy_into(const fs::path& file, const fs::path& to) {
  fs::create_directories(to.parent_path());
  fs::remove(to);  // the old one may be running
  fs::copy_file(fs::canonical(file), to);
}

}  // namespace

void write_bundle_folder(const BundleFolder& bundle) {
  const fs::path folder = bundle.path;
  try {
    make_folder(folder);
    fs::create_directories(folder / "lib");
    for (const BundleFile& program : bundle.programs) {
      copy_into(program.file, folder / program.name);
      for (const fs::path& library : libraries_of(program.file)) {
        copy_into(library, folder / "lib" / library.filename());
      }
    }
    for (const BundleFile& other : bundle.others) copy_into(other.file, folder / other.name);
    const fs::path script = folder / "run.sh";
    write_file(script.string(), bundle.script);
    fs::permissions(script, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add);
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("--bundle {}: {}", bundle.path, error.what()));
  }
}

}  // namespace rankbox::cli
