// Files that a command reads and writes: devices and pipes, full disks, closed outputs, and what a
// learner's program prints.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/catalog.h"
#include "tests/cli/command.h"
#include "tests/support/text.h"

namespace rankbox {

namespace fs = std::filesystem;

namespace {

using testing::contains;
using testing::lacks;
using Words = std::vector<std::string>;

/// Returns the path of a new file of the project.
std::string file_with(const std::string& name, const std::string& text) {
  const std::string path = (fs::path(project()) / name).string();
  std::ofstream(path) << text;
  return path;
}

std::string naive() { return read_file("solutions/02_broadcast/broadcast_naive.cc"); }

/// The learner's program above, with these lines at the start of the function.
std::string naive_with(const std::string& lines) {
  std::string text = "#include <cstdio>\n#include <stdexcept>\n" + naive();
  const std::string brace = "int src) {\n";
  return text.insert(text.find(brace) + brace.size(), lines);
}

std::string pipe_named(const std::string& name) {
  const std::string path = (fs::path(project()) / name).string();
  fs::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  return path;
}

/// A variable of the environment, as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    project();  // sets some
    const char* before = std::getenv(name);
    if (before != nullptr) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_.empty() ? unsetenv(name_) : setenv(name_, before_.c_str(), 1); }

 private:
  const char* name_;
  std::string before_;
};

std::string executable(const std::string& name, const std::string& script) {
  const std::string path = file_with(name, "#!/bin/sh\n" + script);
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

/// Returns the names of all files in the folder and below, in order.
Words files_in(const fs::path& folder) {
  Words names;
  if (!fs::exists(folder)) return names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) names.push_back(entry.path().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("what is no regular file is neither read nor written, in one line that names it") {
  const std::string pipe = pipe_named("pipe");
  const std::string picture = pipe_named("pipe.svg");
  const std::string device = (fs::path(project()) / "device").string();
  fs::remove(device);
  fs::create_symlink("/dev/full", device);
  const std::string program =
      file_with("two.cc", "#include \"comm/comm.h\"\nvoid rankbox::rank_main(Comm&) {}\n");
  const std::pair<Words, std::string> table[] = {
      {{"check", "broadcast_naive", "--file", pipe}, pipe},
      {{"check", "broadcast_naive", "--file", device}, device},
      {{"run", pipe}, pipe},
      {{"show", "broadcast_naive", "--solution", "--html", device}, "--html " + device},
      {{"show", "broadcast_naive", "--solution", "--trace", pipe}, "--trace " + pipe},
      {{"run", program, "--html", pipe}, "--html " + pipe},
      {{"run", program, "--trace", device}, "--trace " + device},
      {{"compare", "--json", device}, "--json " + device},
      {{"compare", "--plot", picture}, "--plot " + picture},
      {{"gpu", "--json", pipe}, "--json " + pipe},
  };
  for (const auto& [arguments, named] : table) {
    const CommandResult result = rankbox(arguments);
    INFO(result.output);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.output, named));
    CHECK(std::ranges::count(result.output, '\n') == 1);
  }
  CHECK(fs::is_fifo(pipe));
  CHECK(fs::is_fifo(picture));
  CHECK(fs::is_symlink(device));
  CHECK(fs::is_character_file(device));
}

TEST_CASE("an output is replaced as a whole, and through a link its target") {
  const fs::path folder = fs::path(project()) / "outputs";
  fs::create_directory(folder);
  std::ofstream(folder / "target.json") << "old";
  fs::create_symlink("target.json", folder / "link.json");
  const CommandResult shown = rankbox({"show", "broadcast_naive", "--solution", "--ranks", "2",
                                       "--trace", (folder / "link.json").string()});
  INFO(shown.output);
  CHECK(shown.exit_code == 0);
  CHECK(fs::is_symlink(folder / "link.json"));
  CHECK(nlohmann::json::accept(read_file("outputs/target.json")));
  CHECK(files_in(folder).size() == 2);
}

TEST_CASE("the file that is checked may be a link to a regular one") {
  file_with("far.cc", naive());
  const fs::path link = fs::path(project()) / "near.cc";
  fs::create_symlink("far.cc", link);
  const CommandResult result = rankbox({"check", "broadcast_naive", "--file", link.string()});
  INFO(result.output);
  CHECK(result.exit_code == 0);
}

TEST_CASE("an empty value is refused in one line that names the option") {
  const std::pair<Words, const char*> table[] = {
      {{"check", "broadcast_naive", "--file", ""}, "--file"},
      {{"check", "broadcast_naive", "--file="}, "--file="},
      {{"check", "broadcast_naive", "--replay", ""}, "--replay"},
      {{"show", "broadcast_naive", "--html", ""}, "--html"},
      {{"run", "two.cc", "--trace", ""}, "--trace"},
      {{"compare", "--json", ""}, "--json"},
      {{"list", "--course", ""}, "--course"},
      {{"gpu", "--bundle", ""}, "--bundle"},
      {{"train", "--save="}, "--save="},
  };
  for (const auto& [arguments, named] : table) {
    const CommandResult result = rankbox(arguments);
    INFO(result.output);
    CHECK(result.exit_code == 2);
    CHECK(lacks(result.output, {named, "empty"}) == "");
    CHECK(std::ranges::count(result.output, '\n') == 1);
  }
}

TEST_CASE("a file may have a name that a compiler would take for an option") {
  for (const std::string name : {"@-O0.cc", "-fsyntax-only.cc"}) {
    file_with(name, naive());
    const CommandResult result = rankbox({"check", "broadcast_naive", "--file=" + name});
    INFO(result.output);
    CHECK(result.exit_code == 0);
    fs::remove(fs::path(project()) / name);
  }
}

TEST_CASE("a disk that is full or missing is an error that names it, and never a failure") {
  const std::string full = executable(
      "full",
      "echo \"cc1plus: fatal error: error writing to /x.s: No space left on device\"\nexit 1\n");
  const struct {
    const char* variable;
    std::string value;
    const char* named;
  } table[] = {{"TMPDIR", "/nowhere/at/all", "/nowhere/at/all"},
               {"TMPDIR", file_with("no_folder", ""), "no_folder"},
               {"TMPDIR", "/proc", "/proc"},
               {"CXX", full, "No space left on device"},
               {"CXX", "/no/compiler", "/no/compiler"}};
  const Variable plain("RANKBOX_NO_CONTAINER", "1");  // which would not see these compilers
  for (const auto& row : table) {
    const Variable variable(row.variable, row.value);
    const Words check = {"check", "broadcast_naive", "--solution"};
    const CommandResult text = rankbox(check);
    INFO(text.output);
    CHECK(text.exit_code == 1);
    CHECK(contains(text.output, row.named));
    const Verdict verdict = checked({"broadcast_naive", "--solution"});
    CHECK(std::string(name_of(verdict.status)) == "error");
    REQUIRE(verdict.failure.has_value());
    CHECK(contains(verdict.failure->message, row.named));
  }
}

TEST_CASE("progress that cannot be saved is said, and the verdict stands") {
  const fs::path state = fs::path(project()) / ".rankbox";
  const std::string stub = read_file("exercises/02_broadcast/broadcast_naive.cc");
  file_with("exercises/02_broadcast/broadcast_naive.cc", naive());
  fs::remove_all(state);
  std::ofstream(state) << "in the way";
  const CommandResult result = rankbox({"check", "broadcast_naive"});
  INFO(result.output);
  CHECK(result.exit_code == 0);
  CHECK(lacks(result.output, {"progress is not saved", ".rankbox"}) == "");
  fs::remove(state);
  file_with("exercises/02_broadcast/broadcast_naive.cc", stub);
}

TEST_CASE("spoilt progress is kept beside, every time") {
  const fs::path folder = fs::path(project()) / ".rankbox";
  fs::create_directories(folder);
  const std::string spoilt[] = {"{\"broadcast_naive\": {\"stat", "[]"};
  for (const std::string& text : spoilt) {
    std::ofstream(folder / "progress.json") << text;
    const CommandResult hinted = rankbox({"hint", "broadcast_naive"});
    INFO(hinted.output);
    CHECK(hinted.exit_code == 0);
    CHECK(contains(hinted.output, "progress.spoilt"));
    CHECK_FALSE(contains(rankbox({"hint", "broadcast_naive"}).output, "spoilt"));
  }
  CHECK(read_file(".rankbox/progress.spoilt.json") == spoilt[0]);
  CHECK(read_file(".rankbox/progress.spoilt-2.json") == spoilt[1]);
  fs::remove_all(folder);
}

TEST_CASE("Ctrl-C while the compiler runs leaves none of its files") {
  const Variable plain("RANKBOX_NO_CONTAINER", "1");  // which takes its files with it
  const fs::path started = fs::path(project()) / "started";
  // The first makes the precompiled header, the second compiles the learner's file.
  for (const std::string waits : {"*c++-header*", "*-shared*"}) {
    fs::remove_all(fs::path(project()) / ".rankbox");
    fs::remove(started);
    const Variable compiler(
        "CXX",
        executable("slow", "case \"$*\" in\n" + waits + ") echo x >\"$TMPDIR/cc.s\"; echo x >'" +
                               started.string() + "'; sleep 600;;\nesac\nexit 1\n"));
    const Words before = files_in(fs::temp_directory_path());
    const pid_t child = fork();
    if (child == 0) {
      const std::string program = rankbox_program();
      if (chdir(project().c_str()) != 0) _exit(126);
      execl(program.c_str(), "rankbox", "check", "broadcast_naive", "--solution", nullptr);
      _exit(127);
    }
    for (int i = 0; i < 30'000 && !fs::exists(started); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    REQUIRE(fs::exists(started));
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 130);
    CHECK(files_in(fs::temp_directory_path()) == before);
    for (const std::string& name : files_in(fs::path(project()) / ".rankbox/precompiled"))
      CHECK_FALSE(contains(name, "cc.s"));
  }
}

TEST_CASE("what nothing reads any more is not computed") {
  const std::string status = (fs::path(project()) / "status").string();
  // 100000 runs of a million updates would take hours.
  const std::string race = "'" + rankbox_program() + "' race --runs 100000";
  const std::string line = "{ " + race + "; echo $? >'" + status + "'; } | head -1 >/dev/null";
  CHECK(std::system(line.c_str()) == 0);
  CHECK(std::stoi(read_file("status")) != 0);
}

TEST_CASE("control characters that a program prints or throws are shown as codes") {
  const std::string file =
      file_with("escapes.cc", naive_with("  if (dist.rank() == 0) std::puts(\"\\033[2J\\rgone\");\n"
                                         "  throw std::runtime_error(\"\\033[31mred\\007\");\n"));
  const CommandResult text = rankbox({"check", "broadcast_naive", "--file", file});
  INFO(text.output);
  CHECK(text.exit_code == 1);
  CHECK(lacks(text.output, {"\\x1b[2J\\x0dgone", "\\x1b[31mred\\x07"}) == "");
  CHECK(std::ranges::none_of(text.output, [](char c) { return c == '\033' || c == '\r'; }));
  const Verdict verdict = checked({"broadcast_naive", "--file", file});
  REQUIRE(verdict.failure.has_value());
  CHECK(contains(verdict.failure->message, "\033[31mred\007"));
}

TEST_CASE("check grades a chapter: a line each, or an array") {
  const std::string folder = "07_mixed_precision";
  Words names;
  for (const Exercise& exercise : exercises()) {
    if (chapter_of(exercise).folder == folder) names.push_back(exercise.name);
  }
  const std::string all = std::to_string(names.size());
  const CommandResult stubs = rankbox({"check", folder});
  INFO(stubs.output);
  CHECK(stubs.exit_code == 1);
  CHECK(lacks(stubs.output, names) == "");
  CHECK(contains(stubs.output, "0 of " + all));
  CHECK(std::ranges::count(stubs.output, '\n') == static_cast<int>(names.size()) + 1);

  const CommandResult solved = rankbox({"check", "exercises/" + folder + "/", "--solution"});
  CHECK(solved.exit_code == 0);
  CHECK(contains(solved.output, all + " of " + all));

  const CommandResult json = rankbox({"check", folder, "--json"});
  CHECK(json.exit_code == 1);
  const auto array = nlohmann::json::parse(json.output);
  REQUIRE(array.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(array[i].at("name") == names[i]);
    CHECK(array[i].at("status") == "not_implemented");
  }
  CHECK(rankbox({"check", folder, "--file", "two.cc"}).exit_code == 2);
  CHECK(contains(rankbox({"check", "02_brodcast"}).output, "02_broadcast"));
}

TEST_CASE("a mistyped subcommand is answered with the nearest one") {
  for (const auto& [typed, meant] : {std::pair("chek", "check"), {"comapre", "compare"}}) {
    const CommandResult result = rankbox({typed});
    CHECK(result.exit_code == 2);
    CHECK(contains(result.output, std::string("did you mean ") + meant));
  }
  CHECK_FALSE(contains(rankbox({"zzz"}).output, "did you mean"));
}

}  // namespace rankbox
