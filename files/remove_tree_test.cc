#include "files/remove_tree.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/fd.h"
#include "files/temporary_folder.h"

namespace rankbox {

namespace fs = std::filesystem;

TEST_CASE("a tree is removed whatever its depth, its modes and its names") {
  const TemporaryFolder folder;
  const std::string tree = folder.path("tree");
  std::ofstream(folder.path("kept")) << "kept";
  fs::create_directories(tree + "/many");
  for (int i = 0; i < 3000; ++i) std::ofstream(tree + "/many/" + std::to_string(i));
  fs::create_directories(tree + "/moved.0/moved.1/moved.0");
  std::ofstream(tree + "/a\nb\xff");
  fs::create_symlink(folder.path("kept"), tree + "/link");
  fs::create_symlink(folder.path(""), tree + "/many/folder_link");
  fs::create_directories(tree + "/closed/inner/innermost");
  chmod((tree + "/closed/inner/innermost").c_str(), 0);
  chmod((tree + "/closed/inner").c_str(), 0);
  chmod((tree + "/closed").c_str(), 0);
  Fd level(open(tree.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0; depth < 5000; ++depth) {
    REQUIRE(mkdirat(level.get(), "deep", 0700) == 0);
    level.reset(openat(level.get(), "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(level.is_open());
  }

  remove_tree(tree);
  CHECK_FALSE(fs::exists(tree));
  CHECK(fs::exists(folder.path("kept")));
}

TEST_CASE("of a link, a file and nothing, the link and the file are removed") {
  const TemporaryFolder folder;
  const std::string link = folder.path("link");
  std::ofstream(folder.path("file"));
  fs::create_symlink(folder.path(""), link);
  remove_tree(link);
  CHECK_FALSE(fs::is_symlink(link));
  CHECK(fs::exists(folder.path("file")));
  remove_tree(folder.path("file"));
  CHECK_FALSE(fs::exists(folder.path("file")));
  remove_tree(folder.path("nothing"));
}

}  // namespace rankbox
