#include "files/foreign_file.h"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "files/temporary_folder.h"

namespace rankbox {

TEST_CASE("only a regular file of at most so many bytes is read") {
  const TemporaryFolder folder;
  const std::string secret = folder.path("secret");
  std::ofstream(secret) << "secret";
  std::ofstream(folder.path("empty"));
  std::filesystem::create_symlink(secret, folder.path("link"));
  std::filesystem::create_symlink("/dev/zero", folder.path("endless"));
  std::filesystem::create_symlink("loop", folder.path("loop"));
  std::filesystem::create_directory(folder.path("folder"));
  REQUIRE(mkfifo(folder.path("pipe").c_str(), 0600) == 0);

  struct Row {
    const char* name;
    std::size_t most;
    std::optional<std::string> expected;
  };
  const Row table[] = {
      {"secret", 6, "secret"},         {"secret", 5, std::nullopt}, {"empty", 0, ""},
      {"link", 100, std::nullopt},     {"loop", 100, std::nullopt}, {"endless", 100, std::nullopt},
      {"folder", 10000, std::nullopt}, {"pipe", 100, std::nullopt}, {"none", 100, std::nullopt},
  };
  for (const Row& row : table) {
    CAPTURE(row.name);
    CHECK(read_foreign_file(folder.path(row.name), row.most) == row.expected);
  }
  CHECK(read_foreign_file("/dev/zero", 100) == std::nullopt);
}

}  // namespace rankbox
