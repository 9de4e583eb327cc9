// A bundle as one compressed file. //cli/compare:bundle_test has folders.
#include "cli/support/bundle_folder.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include "comm/errors.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kEnough = std::int64_t{1} << 30;

/// Returns an empty folder.
fs::path new_folder(const std::string& name) {
  fs::path path = fs::path(std::getenv("TEST_TMPDIR")) / name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

/// This program, and a script.
BundleFolder bundle_at(const fs::path& path) {
  BundleFolder bundle;
  bundle.path = path;
  bundle.programs = {{fs::canonical("/proc/self/exe"), "deep/program"}};
  bundle.script = "#!/bin/sh\nexit 3\n";
  return bundle;
}

/// Returns the exit code.
int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("an archive holds a folder of its name, with programs that have no symbols") {
  const fs::path folder = new_folder("whole");
  const fs::path archive = folder / "gpus.tar.xz";
  const std::int64_t bytes = write_bundle_archive(bundle_at(archive), kEnough);
  CHECK(bytes == static_cast<std::int64_t>(fs::file_size(archive)));
  REQUIRE(run(fmt::format("tar -C {} -xJf {}", folder.string(), archive.string())) == 0);
  CHECK(run((folder / "gpus" / "run.sh").string()) == 3);
  const std::string program = folder / "gpus" / "deep" / "program";
  CHECK(run(fmt::format("readelf -S {} | grep -q ' [.]dynsym '", program)) == 0);
  CHECK(run(fmt::format("readelf -S {} | grep -q ' [.]symtab '", program)) == 1);
  // Nothing of what it was made of is left.
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    CAPTURE(name);
    CHECK((name == "gpus" || name == "gpus.tar.xz"));
  }
}

TEST_CASE("libraries that the other machine provides are left out") {
  const fs::path folder = new_folder("provided");
  BundleFolder bundle = bundle_at(folder);
  const auto has_fmt = [&] {
    for (const auto& entry : fs::directory_iterator(folder / "lib")) {
      if (entry.path().filename().string().starts_with("libfmt.so")) return true;
    }
    return false;
  };
  bundle.provided = {"libfmt.so"};
  write_bundle_folder(bundle);
  CHECK_FALSE(has_fmt());
  bundle.provided = {};
  write_bundle_folder(bundle);
  CHECK(has_fmt());
}

TEST_CASE("an archive that would be too large, or has another ending, is refused without a file") {
  const fs::path folder = new_folder("large");
  std::string what;
  try {
    write_bundle_archive(bundle_at(folder / "gpus.tar.xz"), 1000);
  } catch (const Error& error) {
    what = error.what();
  }
  CHECK(what.find("gpus.tar.xz") != std::string::npos);
  CHECK(what.find("0.0 MiB") != std::string::npos);
  CHECK_THROWS_AS(write_bundle_archive(bundle_at(folder / "gpus.zip"), kEnough), InvalidArgument);
  CHECK(fs::is_empty(folder));
}

}  // namespace
}  // namespace rankbox::cli
