#include "cli/support/bundle_folder.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <regex>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

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

/// Returns what the command prints. Throws Error if it fails.
std::string output_of(std::vector<std::string> command) {
  ChildOptions options;
  options.command = std::move(command);
  options.seconds = 1200;
  options.file_bytes = std::int64_t{1} << 40;
  const ChildResult result = run_child(options);
  if (result.status != 0) {
    throw Error(fmt::format("{} {}: {}", options.command.front(), options.command.back(),
                            result.timed_out ? "did not end" : result.output));
  }
  return result.output;
}

/// Returns the files of the other libraries that the program needs, but for those `provided`.
std::vector<fs::path> libraries_of(const std::string& program,
                                   const std::vector<std::string>& provided) {
  std::vector<fs::path> libraries;
  std::istringstream lines(output_of({"ldd", program}));
  static const std::regex pattern("^\\s*(\\S+) => (.+?)( \\(0x[0-9a-f]+\\))?$");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, pattern) || is_of_the_system(match[1])) continue;
    const auto begins = [&](const std::string& name) { return match[1].str().starts_with(name); };
    if (std::any_of(provided.begin(), provided.end(), begins)) continue;
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
      for (const fs::path& library : libraries_of(program.file, bundle.provided)) {
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

std::int64_t write_bundle_archive(const BundleFolder& bundle, std::int64_t most_bytes) {
  const std::string ending = ".tar.xz";
  const fs::path archive = bundle.path;
  const std::string name = archive.filename().string();
  if (!name.ends_with(ending) || name == ending) {
    throw InvalidArgument(fmt::format("--bundle {}: name it NAME{}", bundle.path, ending));
  }
  const fs::path work = fmt::format("{}.{}.part", bundle.path, getpid());
  const std::string stem = name.substr(0, name.size() - ending.size());
  const std::string packed = work / name;
  // Also when something below throws.
  const auto remove = [](const fs::path* folder) {
    std::error_code ignored;
    fs::remove_all(*folder, ignored);
  };
  const std::unique_ptr<const fs::path, decltype(remove)> guard(&work, remove);
  try {
    BundleFolder folder = bundle;
    folder.path = work / stem;
    write_bundle_folder(folder);
    std::vector<std::string> strip = {"strip"};
    for (const BundleFile& program : bundle.programs) {
      strip.push_back(work / stem / program.name);
      fs::permissions(strip.back(), fs::perms::owner_write, fs::perm_options::add);
    }
    if (strip.size() > 1) output_of(strip);
    output_of({"tar", "--sort=name", "--owner=0", "--group=0", "-C", work, "-cJf", packed, stem});
    const auto bytes = static_cast<std::int64_t>(fs::file_size(packed));
    if (bytes > most_bytes) {
      throw Error(fmt::format(
          "--bundle {}: {:.1f} MiB, more than {:.1f} MiB; a folder (--bundle {}) has no limit",
          bundle.path, static_cast<double>(bytes) / 0x1p20,
          static_cast<double>(most_bytes) / 0x1p20, (archive.parent_path() / stem).string()));
    }
    fs::rename(packed, archive);
    return bytes;
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("--bundle {}: {}", bundle.path, error.what()));
  }
}

}  // namespace rankbox::cli
