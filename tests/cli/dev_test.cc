// The subcommands for authors: dev new, dev check, and a course in another folder.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cli/exercise/stub.h"
#include "judge/catalog.h"
#include "tests/cli/command.h"
#include "tests/support/text.h"

namespace rankbox {

namespace {

namespace fs = std::filesystem;

using testing::contains;
using testing::lacks;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

void replace(const fs::path& path, const std::string& what, const std::string& by) {
  std::string text = read(path);
  const std::size_t at = text.find(what);
  REQUIRE_MESSAGE(at != std::string::npos, path.string(), " has no ", what);
  write(path, text.replace(at, what.size(), by));
}

/// Creates a course of one chapter.
fs::path make_course(const std::string& name) {
  const fs::path course = fs::path(project()).parent_path() / name;
  fs::remove_all(course);
  write(course / "registry.toml", "[[chapter]]\nfolder = \"01_mine\"\ntitle = \"Mine\"\n");
  write(course / "exercises/01_mine/README.md", "# Mine: broadcast_mine\n");
  return course;
}

constexpr const char* kChain = R"(#include "contracts/broadcast_mine.h"

namespace rankbox {

void broadcast_mine(Comm& dist, Tensor& tensor, int src) {
  const int p = dist.world_size();
  const int place = (dist.rank() - src + p) % p;
  if (place > 0) dist.recv(tensor, (dist.rank() + p - 1) % p);
  if (place + 1 < p) dist.send(tensor, (dist.rank() + 1) % p);
}

}  // namespace rankbox
)";

}  // namespace

TEST_CASE("dev new refuses what it cannot make, in one line, and writes nothing") {
  struct Row {
    std::vector<std::string> arguments;
    const char* told;
  };
  const std::string chapter = "02_broadcast";
  const fs::path empty = fs::path(project()).parent_path() / "empty_course";
  write(empty / "registry.toml", "");
  const Row rows[] = {
      {{"broadcast_tree", "--chapter", chapter, "--like", "broadcast_ring"}, "broadcast_tree"},
      {{"Broadcast", "--chapter", chapter, "--like", "broadcast_ring"}, "Broadcast"},
      {{"2nd", "--chapter", chapter, "--like", "broadcast_ring"}, "2nd"},
      {{"../x", "--chapter", chapter, "--like", "broadcast_ring"}, "../x"},
      {{"x", "--chapter", "99_none", "--like", "broadcast_ring"}, "02_broadcast"},
      {{"x", "--chapter", chapter, "--like", "broadcast_rings"}, "broadcast_ring"},
      {{"x", "--chapter", chapter, "--family", "none"}, "segmented_broadcast"},
      {{"x", "--chapter", chapter}, "--like"},
      {{"x", "--chapter", chapter, "--like", "race", "--course", "/nowhere"}, "/nowhere"},
      {{"x", "--chapter", chapter, "--like", "race", "--course", empty.string()}, "[[chapter]]"},
  };
  const std::string before = read_file("exercises/registry.toml");
  for (const Row& row : rows) {
    std::vector<std::string> words = {"dev", "new"};
    words.insert(words.end(), row.arguments.begin(), row.arguments.end());
    const CommandResult result = rankbox(words);
    CAPTURE(result.output);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.output, row.told));
    CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
  }
  CHECK(read_file("exercises/registry.toml") == before);
  CHECK(!fs::exists(fs::path(project()) / "collectives/x.h"));
}

TEST_CASE("dev check says what is missing, and what is wrong") {
  fs::path root = project();
  const fs::path stub = root / stub_path(*find_exercise("reduce_tree"));
  const std::string handed_out = read(stub);
  write(stub, handed_out + "// mine\n");
  fs::path guide = root / "exercises/03_reduce/guide.toml";
  const std::string hints = read(guide);
  replace(guide, "[reduce_tree]", "[reduce_trees]");
  const CommandResult result = rankbox({"dev", "check", "reduce_tree"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  CHECK(lacks(result.output, {"✗ stub", "./rankbox reset reduce_tree", "✗ hints", "✓ solution",
                              "1 of 1", "reduce_tree"}) == "");
  write(stub, handed_out);
  write(guide, hints);
}

TEST_CASE("dev check passes where nothing is missing, also of a program handed out wrong") {
  const CommandResult result = rankbox({"dev", "check", "exchange"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(!contains(result.output, "✗"));
}

TEST_CASE("dev check does not take a promise that the solution does not keep") {
  const fs::path registry = fs::path(project()) / "exercises/registry.toml";
  const std::string before = read(registry);
  replace(registry, "cost = \"broadcast_naive\"", "cost = \"broadcast_tree\"");
  const CommandResult result = rankbox({"dev", "check", "broadcast_naive"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  CHECK(lacks(result.output, {"✗ solution", "broadcast_naive", "cost"}) == "");
  write(registry, before);
}

TEST_CASE("a registry with a mistake is one line that names exercise, field, value and choices") {
  const fs::path registry = fs::path(project()) / "exercises/registry.toml";
  const std::string before = read(registry);
  struct Row {
    const char* what;
    const char* by;
    const char* value;
    const char* choice;
  };
  const Row rows[] = {
      {"family = \"broadcast\"", "family = \"cast\"", "family = \"cast\"", "broadcast"},
      {"cost = \"broadcast_naive\"", "cost = \"free\"", "cost = \"free\"", "solution"},
      {"messages = \"from_root\"", "messages = \"all\"", "messages = \"all\"", "any"},
      {"difficulty = 2\nimportance = 3\nsummary = \"src sends",
       "difficulty = 9\nsummary = \"src sends", "difficulty = 9", "1 to 5"},
  };
  for (const Row& row : rows) {
    replace(registry, row.what, row.by);
    const CommandResult result = rankbox({"check", "broadcast_naive", "--solution"});
    CAPTURE(result.output);
    CHECK(result.exit_code != 0);
    CHECK(lacks(result.output, {"broadcast_naive", row.value, row.choice}) == "");
    write(registry, before);
  }
}

TEST_CASE("reset takes the text from git, and says in one line what to do without it") {
  const Exercise& exercise = *find_exercise("allreduce_naive");
  const fs::path file = fs::path(project()) / stub_path(exercise);
  const std::string handed_out = read(file);
  CHECK(cli::is_stub(exercise));
  write(file, "// mine\n");
  CHECK(!cli::is_stub(exercise));
  CHECK(rankbox({"reset", "allreduce_naive"}).exit_code == 0);
  CHECK(read(file) == handed_out);

  write(file, "// mine\n");
  const fs::path git = fs::path(project()) / ".git";
  fs::rename(git, git.string() + "_away");
  setenv("GIT_CEILING_DIRECTORIES", fs::path(project()).parent_path().c_str(), 1);
  const CommandResult result = rankbox({"reset", "allreduce_naive"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  CHECK(contains(result.output, "git fetch --unshallow"));
  CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
  CHECK(read(file) == "// mine\n");
  fs::rename(git.string() + "_away", git);
  write(file, handed_out);
}

TEST_CASE("a course in another folder is checked, shown, hinted at, reset and remembered there") {
  const fs::path course = make_course("course");
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--course", course.string()});
    const CommandResult result = rankbox(words);
    INFO(result.output);
    return result;
  };
  const CommandResult made =
      run({"dev", "new", "broadcast_mine", "--chapter", "01_mine", "--like", "broadcast_tree"});
  REQUIRE_MESSAGE(made.exit_code == 0, made.output);
  for (const char* path : {"contracts/broadcast_mine.h", "exercises/01_mine/broadcast_mine.cc",
                           "solutions/01_mine/broadcast_mine.cc", "mutants/broadcast_mine.toml",
                           "exercises/01_mine/guide.toml"}) {
    CHECK_MESSAGE(fs::exists(course / path), path);
  }
  write(course / "solutions/01_mine/broadcast_mine.cc", kChain);

  const CommandResult stub = run({"check", "broadcast_mine"});
  CHECK_MESSAGE(stub.exit_code != 0, stub.output);
  const CommandResult solution = run({"check", "broadcast_mine", "--solution"});
  CHECK_MESSAGE(solution.exit_code == 0, solution.output);
  CHECK_MESSAGE(contains(solution.output, "✓ broadcast_mine"), solution.output);
  CHECK(run({"show", "broadcast_mine", "--solution"}).exit_code == 0);
  CHECK(contains(run({"hint", "broadcast_mine"}).output, "1 of 3"));

  // The promise is the solution's cost: sending everything twice takes twice as many steps.
  std::string slow = kChain;
  const std::string recv = "dist.recv(tensor, (dist.rank() + p - 1) % p);";
  slow.replace(slow.find(recv), recv.size(),
               "{ dist.recv(tensor, (dist.rank() + p - 1) % p); "
               "dist.recv(tensor, (dist.rank() + p - 1) % p); }");
  const std::string send = "dist.send(tensor, (dist.rank() + 1) % p);";
  slow.replace(slow.find(send), send.size(),
               "{ dist.send(tensor, (dist.rank() + 1) % p); "
               "dist.send(tensor, (dist.rank() + 1) % p); }");
  write(course / "exercises/01_mine/broadcast_mine.cc", slow);
  const Verdict verdict = checked({"broadcast_mine", "--course", course.string()});
  REQUIRE(verdict.failure.has_value());
  CHECK(verdict.failure->kind == FailureKind::kCost);

  const auto list = nlohmann::json::parse(run({"list", "--json"}).output);
  REQUIRE(list.size() == 1);
  CHECK(list[0]["name"] == "broadcast_mine");
  CHECK(list[0]["status"] == "fail");
  CHECK(fs::exists(course / ".rankbox/progress.json"));
  CHECK(!contains(rankbox({"list"}).output, "broadcast_mine"));

  CHECK(std::system(("cd '" + course.string() + "' && git init -q").c_str()) == 0);
  const CommandResult lost = run({"reset", "broadcast_mine"});
  CHECK_MESSAGE(lost.exit_code == 1, lost.output);
}

TEST_CASE("a folder that is no course is refused") {
  const CommandResult result = rankbox({"list", "--course", "/nowhere"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 2);
  CHECK(contains(result.output, "registry.toml"));
  CHECK(rankbox({"demo", "--course", "/nowhere"}).exit_code == 2);
}

}  // namespace rankbox
