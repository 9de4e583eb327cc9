// A bundle runs without the project's files, in an empty environment.
#include "cli/compare/bundle.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "cli/support/child.h"
#include "comm/errors.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

std::string program() { return std::getenv("RANKBOX_COMPARE"); }

fs::path new_folder(const char* name) {
  const fs::path path = fs::path(std::getenv("TEST_TMPDIR")) / name;
  fs::remove_all(path);
  return path;
}

/// Returns the sandbox's program bundled as MPI's; `env` replaces mpirun.
Bundle bundle_in(const fs::path& folder, std::vector<NamedFile> libraries = {}) {
  return {
      folder, "mpi", program(), {"--ranks", "2", "--sizes", "64,1K", "--iters", "2"}, libraries};
}

ChildResult run(const fs::path& folder, const std::vector<std::string>& options) {
  ChildOptions child;
  child.command = {"env", "-i", "PATH=/usr/bin:/bin", "MPIRUN=env", (folder / "run.sh").string()};
  child.command.insert(child.command.end(), options.begin(), options.end());
  child.directory = "/";
  child.seconds = 50;
  child.file_bytes = std::int64_t{1} << 40;
  return run_child(child);
}

TEST_CASE("what is bundled runs elsewhere, with its own options or others") {
  const fs::path folder = new_folder("runs");
  write_bundle(bundle_in(folder));
  const ChildResult as_made = run(folder, {});
  CAPTURE(as_made.output);
  CHECK(as_made.status == 0);
  CHECK(testing::lacks(as_made.output, {"all_reduce", "2 ranks", "SUM", "1 KiB"}) == "");

  const ChildResult other = run(folder, {"--ranks", "3", "--sizes", "4", "--json", "-"});
  CAPTURE(other.output);
  CHECK(other.status == 0);
  CHECK(nlohmann::json::parse(other.output).at("results").at(0).at("ranks") == 3);
}

TEST_CASE("it brings the libraries that a bare system does not have, and no others") {
  const fs::path folder = new_folder("libraries");
  write_bundle(bundle_in(folder));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder / "lib")) {
    names.push_back(entry.path().filename());
  }
  const auto has = [&](const std::string& prefix) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return name.starts_with(prefix); });
  };
  for (const char* brought : {"libfmt.so", "libtomlplusplus.so", "libstdc++.so"}) {
    CAPTURE(brought);
    CHECK(has(brought));
  }
  for (const char* there : {"libc.so", "libm.so", "ld-linux", "libmpi", "libcuda.so"}) {
    CAPTURE(there);
    CHECK_FALSE(has(there));
  }
}

TEST_CASE("yours is in it, and named to the program") {
  const fs::path folder = new_folder("yours");
  const fs::path library = new_folder("yours.so");
  std::ofstream(library) << "no library";
  write_bundle(bundle_in(folder, {{"allreduce_ring", library}}));
  CHECK(fs::exists(folder / "allreduce_ring.so"));
  const ChildResult result = run(folder, {});
  CAPTURE(result.output);
  CHECK(WEXITSTATUS(result.status) == 1);
  CHECK(result.output.find("allreduce_ring") != std::string::npos);
}

TEST_CASE("a bundle may be made again, and no other folder is written to") {
  const fs::path folder = new_folder("again");
  write_bundle(bundle_in(folder));
  write_bundle(bundle_in(folder));
  const fs::path other = new_folder("other");
  fs::create_directories(other);
  std::ofstream(other / "thesis.txt") << "do not touch";
  CHECK_THROWS_AS(write_bundle(bundle_in(other)), InvalidArgument);
  CHECK_THROWS_AS(write_bundle(bundle_in(other / "thesis.txt")), InvalidArgument);
  CHECK_FALSE(fs::exists(other / "run.sh"));
}

}  // namespace
}  // namespace rankbox::cli
