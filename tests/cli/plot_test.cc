// `rankbox compare --plot`: plots of comparisons.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/command.h"
#include "tests/support/run_tests.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;

/// Runs a comparison that measures no times.
CommandResult compare_to(const std::string& picture, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"compare", "--ranks",  "2", "--sizes", "64,1K", "--iters",
                                        "1",       "--warmup", "1", "--plot",  picture};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return rankbox(arguments);
}

TEST_CASE("a picture is drawn in the format that its name says") {
  struct Format {
    const char* name;
    const char* begins_with;
  };
  const fs::path folder = fs::path(project()) / "plots";
  fs::create_directory(folder);
  for (const Format& format : {Format{"a.svg", "<?xml"}, {"b.png", "\x89PNG"}, {"c.pdf", "%PDF"}}) {
    const std::string picture = (folder / format.name).string();
    const CommandResult compared = compare_to(picture);
    INFO(compared.output);
    if (compared.exit_code == 1 && compared.output.find("python3-matplotlib") != std::string::npos)
      return testing::pass_over("no matplotlib here");
    REQUIRE(compared.exit_code == 0);
    CHECK(compared.output.find(picture) != std::string::npos);
    CHECK(read_file(picture).starts_with(format.begins_with));
    for (const auto& file : fs::directory_iterator(folder))
      CHECK(file.path().extension() != ".part");
  }
}

TEST_CASE("yours has its own line; what failed has none") {
  const std::string wrong = (fs::path(project()) / "wrong.cc").string();
  std::ofstream(wrong) << "#include \"collectives/allreduce_ring.h\"\nnamespace rankbox {\n"
                          "void allreduce_ring(Comm&, Tensor&, ReduceOp) {}\n}\n";
  const struct {
    std::string file;
    int exit_code;
    bool is_drawn;
  } table[] = {{project() + "/solutions/04_allreduce/allreduce_ring.cc", 0, true},
               {wrong, 1, false}};
  const std::string picture = (fs::path(project()) / "yours.svg").string();
  for (const auto& row : table) {
    const CommandResult compared =
        compare_to(picture, {"--algorithms", "ring", "--mine", "allreduce_ring=" + row.file});
    INFO(compared.output);
    if (compared.output.find("python3-matplotlib") != std::string::npos)
      return testing::pass_over("no matplotlib here");
    CHECK(compared.exit_code == row.exit_code);
    const std::string drawn = read_file(picture);
    CHECK(drawn.find(">ring<") != std::string::npos);
    CHECK((drawn.find(">ring (yours)<") != std::string::npos) == row.is_drawn);
  }
}

TEST_CASE("a comparison without data is drawn against sizes and against ranks") {
  const std::string picture = (fs::path(project()) / "virtual.svg").string();
  const CommandResult compared =
      rankbox({"compare", "--virtual", "--ranks", "2,9", "--sizes", "64,1G", "--mine", "none",
               "--cluster", "a100-infiniband", "--plot", picture});
  INFO(compared.output);
  if (compared.output.find("python3-matplotlib") != std::string::npos)
    return testing::pass_over("no matplotlib here");
  CHECK(compared.exit_code == 0);
  const std::string drawn = read_file(picture);
  for (const char* part : {">size<", ">ranks<", ", 1 GiB: virtual time on a100-infiniband",
                           ">hierarchical: skipped on 9 ranks<"})
    CHECK(drawn.find(part) != std::string::npos);
  CHECK(drawn.find("this machine") == std::string::npos);
}

TEST_CASE("a picture says as the table does where a topology is ahead of native") {
  const std::string picture = (fs::path(project()) / "ahead.svg").string();
  const struct {
    const char* cluster;
    const char* algorithms;
    bool is_ahead;
  } table[] = {{"h100-efa", "butterfly,ring", true},
               {"h100-efa", "naive,ring", false},
               {"laptop", "butterfly,ring", false}};
  for (const auto& row : table) {
    const CommandResult compared =
        rankbox({"compare", "--virtual", "--ranks", "16", "--sizes", "1M", "--mine", "none",
                 "--algorithms", row.algorithms, "--cluster", row.cluster, "--plot", picture});
    INFO(compared.output);
    if (compared.output.find("python3-matplotlib") != std::string::npos)
      return testing::pass_over("no matplotlib here");
    CHECK(compared.exit_code == 0);
    CHECK((compared.output.find("ahead of native") != std::string::npos) == row.is_ahead);
    CHECK((read_file(picture).find("ahead of native") != std::string::npos) == row.is_ahead);
  }
}

TEST_CASE("what cannot be drawn is refused before anything is measured") {
  struct Mistake {
    std::string picture;
    std::vector<std::string> more;
    const char* says;
  };
  const Mistake mistakes[] = {
      {"plot.txt", {}, ".svg, .png or .pdf"},
      {"nowhere/at/all.svg", {}, "nowhere/at/all.svg"},
      {"plot.svg", {"--collective", "barrier"}, "barrier"},
  };
  for (const Mistake& mistake : mistakes) {
    const CommandResult compared = compare_to(mistake.picture, mistake.more);
    INFO(compared.output);
    CHECK(compared.exit_code == 2);
    CHECK(compared.output.find(mistake.says) != std::string::npos);
    CHECK(std::count(compared.output.begin(), compared.output.end(), '\n') == 1);
  }
}

}  // namespace
}  // namespace rankbox
