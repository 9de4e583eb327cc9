// The learner's loop: predict, check, hint, watch, reset, and the progress record.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "cli/support/child.h"
#include "judge/catalog.h"
#include "tests/cli/command.h"
#include "tests/support/text.h"

namespace rankbox {

namespace {

using testing::contains;
using testing::lacks;

const Exercise& ring() { return *find_exercise("broadcast_ring"); }

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(std::filesystem::path(project()) / path) << text;
}

/// Copies the solution, as if the learner had written it.
void solve(const Exercise& exercise) {
  write_file(stub_path(exercise), read_file(solution_path(exercise)));
}

}  // namespace

TEST_CASE("hints come one by one, and the last one ends at the answer") {
  const auto ask = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"hint", "broadcast_ring"});
    return rankbox(more).output;
  };
  rankbox({"reset", "broadcast_ring"});
  const std::string first = ask({});
  CHECK(lacks(first, {"1 of 3", "./rankbox hint broadcast_ring"}) == "");
  CHECK_FALSE(contains(first, "2 of 3"));
  CHECK(contains(ask({}), "2 of 3"));
  const std::string last = ask({});
  CHECK(lacks(last, {"3 of 3", solution_path(ring())}) == "");
  CHECK(ask({}) == last);
}

TEST_CASE("every exercise has at least three hints, and every line of them fits") {
  for (const Exercise& exercise : exercises()) {
    const CommandResult hints = rankbox({"hint", exercise.name, "--all"});
    INFO(hints.output);
    CHECK(hints.exit_code == 0);
    CHECK(contains(hints.output, "3 of "));
    std::istringstream lines(hints.output);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 90);
  }
}

TEST_CASE("reset brings the stub back, and keeps what was there") {
  const std::string stub = read_file(stub_path(ring()));
  const std::string mine = "// mine\n";
  write_file(stub_path(ring()), mine);
  rankbox({"check", "broadcast_ring"});
  const CommandResult reset = rankbox({"reset", "broadcast_ring"});
  INFO(reset.output);
  CHECK(reset.exit_code == 0);
  CHECK(read_file(stub_path(ring())) == stub);

  // The saved path of the learner's file.
  std::istringstream words(reset.output);
  int kept = 0;
  for (std::string word; words >> word;) {
    const std::filesystem::path path = std::filesystem::path(project()) / word;
    if (std::filesystem::is_regular_file(path) && read_file(word) == mine) ++kept;
  }
  CHECK(kept == 1);
  CHECK(contains(rankbox({"list"}).output, "○ broadcast_ring "));
  // Nothing of the learner's is there any more.
  CHECK_FALSE(contains(rankbox({"reset", "broadcast_ring"}).output, "saved"));
}

TEST_CASE("who passes hears whether the prediction was right, and what to do next") {
  struct Guess {
    const char* text;
    std::vector<std::string> values;  // of the answer
    bool is_right;
  };
  solve(ring());
  const std::vector<Guess> guesses = {
      {"7", {"7 steps"}, true},
      {"7 7", {"7 steps", "7 n bytes"}, true},
      {"3 1", {"3 steps", "1 n bytes", "7 steps", "7 n bytes", "8 ranks"}, false},
      {"broadcast_ring_pipelined", {"4 MiB", "8 ranks", "segments"}, true},
      {"broadcast_naive", {"broadcast_ring_pipelined", "segments"}, false},
  };
  for (const Guess& guess : guesses) {
    const CommandResult check = rankbox({"check", "broadcast_ring", "--predict", guess.text});
    INFO(guess.text, ": ", check.output);
    CHECK(check.exit_code == 0);
    std::string joined = check.output;  // lines are wrapped at the terminal's width
    for (std::size_t at = 0; (at = joined.find("\n    ", at)) != std::string::npos;) {
      joined.replace(at, 5, " ");
    }
    CHECK(lacks(joined, guess.values) == "");
    CHECK(contains(joined, ": right") == guess.is_right);
    CHECK(contains(joined, solution_path(ring())));
  }
  rankbox({"reset", "broadcast_ring"});
}

TEST_CASE("a prediction is kept over the stub, and answered when a program passes") {
  const CommandResult stub = rankbox({"check", "broadcast_ring", "--predict", "7 7"});
  INFO(stub.output);
  CHECK(lacks(stub.output, {"prediction is kept"}) == "");
  // A prediction is in the unit of the header.
  const Exercise& zero1 = *find_exercise("zero1");
  solve(zero1);
  CHECK(lacks(rankbox({"check", "zero1", "--predict", "6 1"}).output,
              {"6 steps and 1 Ψ bytes; it takes 6 steps and 1.774"}) == "");
  rankbox({"reset", "zero1"});
  solve(ring());
  CHECK(lacks(rankbox({"check", "broadcast_ring"}).output, {"you predicted 7 steps"}) == "");
  rankbox({"reset", "broadcast_ring"});
}

TEST_CASE("the first verdict explains the names of checks, and no later one") {
  std::filesystem::remove_all(std::filesystem::path(project()) / ".rankbox" / "progress.json");
  constexpr const char* kLegend = "the checks: values;";
  CHECK_FALSE(contains(rankbox({"check", "broadcast_ring"}).output, kLegend));  // the stub
  solve(ring());
  CHECK_FALSE(contains(rankbox({"check", "broadcast_ring", "--json"}).output, kLegend));
  rankbox({"reset", "broadcast_ring"});
  solve(ring());
  const std::string first = rankbox({"check", "broadcast_ring"}).output;
  CHECK(contains(first, kLegend));
  CHECK_FALSE(contains(first, "· was not judged"));  // all were
  CHECK_FALSE(contains(rankbox({"check", "broadcast_ring"}).output, kLegend));
  rankbox({"reset", "broadcast_ring"});
}

TEST_CASE("a prediction that is none is refused in one line, and nothing is run") {
  for (const char* guess : {"many", "-3", "7 7 7", "allreduce_ring"}) {
    const CommandResult check = rankbox({"check", "broadcast_ring", "--predict", guess});
    INFO(check.output);
    CHECK(check.exit_code == 2);
    CHECK(lacks(check.output, {guess, "broadcast_tree"}) == "");
    CHECK(std::count(check.output.begin(), check.output.end(), '\n') == 1);
  }
  CHECK(rankbox({"check", "race", "--predict", "7"}).exit_code == 2);
}

TEST_CASE("the overview leads back to the exercise that was last checked alone") {
  write_file(stub_path(ring()), "// not yet\n");
  rankbox({"check", "broadcast_ring"});
  rankbox({"check", "3"});
  const std::string overview = rankbox({}).output;
  INFO(overview);
  CHECK(lacks(overview, {"0 of " + std::to_string(exercises().size()),
                         "./rankbox hint broadcast_ring"}) == "");
  rankbox({"reset", "broadcast_ring"});
  CHECK_FALSE(contains(rankbox({}).output, "broadcast_ring"));
}

TEST_CASE("progress that was spoilt is begun anew") {
  write_file(".rankbox/progress.json", "{\"broadcast_ring\": {\"stat");
  CHECK(rankbox({"list"}).exit_code == 0);
  solve(ring());
  CHECK(rankbox({"check", "broadcast_ring"}).exit_code == 0);
  CHECK(contains(rankbox({"list"}).output, "✓ broadcast_ring "));
  rankbox({"reset", "broadcast_ring"});
}

TEST_CASE("headers are compiled once, and a spoilt precompiled one does no harm") {
  namespace fs = std::filesystem;
  const auto check = [] { return rankbox({"check", "broadcast_ring", "--solution"}).exit_code; };
  CHECK(check() == 0);
  const fs::path folder = fs::path(project()) / ".rankbox/precompiled";
  // One precompiled form per set of flags, of which `check` has one.
  const auto only_entry_of = [](const fs::path& path) {
    const std::vector<fs::path> all(fs::directory_iterator(path), fs::directory_iterator{});
    REQUIRE(all.size() == 1);
    return all.front();
  };
  const fs::path header = only_entry_of(only_entry_of(folder)) / "contract.h.gch";
  CHECK(fs::file_size(header) > 1'000'000);
  std::ofstream(header) << "spoilt";
  CHECK(check() == 0);
  fs::remove_all(folder);
}

TEST_CASE(
    "watch grades each file of a chapter that is saved, and starts over when it is saved again") {
  const Exercise& tree = *find_exercise("broadcast_tree");
  const std::string path = (std::filesystem::path(project()) / "watch.txt").string();
  const std::string all_done = "2 of " + std::to_string(exercises().size());
  cli::ChildOptions options;
  options.directory = project();
  options.command = {"sh", "-c", "exec '" + rankbox_program() + "' watch 2 >'" + path + "'"};
  options.seconds = 240;                       // a hang
  options.file_bytes = std::int64_t{1} << 30;  // precompiled headers are large
  int saves = 0;
  options.keep_running = [&] {
    const std::string output = read_file(path);
    if (saves == 0 && contains(output, "watching ")) {
      // An endless check is interrupted when a file is saved.
      write_file(stub_path(ring()),
                 "#include \"collectives/broadcast_ring.h\"\n"
                 "void rankbox::broadcast_ring(Comm&, Tensor&, int) {\n"
                 "  for (volatile int i = 0;; ++i) {}\n}\n");
      ++saves;
    } else if (saves == 1 && contains(output, "checking ")) {
      // Two at once, as an editor's "Save all".
      solve(ring());
      solve(tree);
      ++saves;
    }
    return !contains(output, all_done);
  };
  write_file("watch.txt", "");
  cli::run_child(options);
  const std::string output = read_file(path);
  INFO(output);
  CHECK(lacks(output,
              {"watching exercises/02_broadcast;", "✓ broadcast_ring", "✓ broadcast_tree"}) == "");
  CHECK_FALSE(contains(output, "timeout"));
  CHECK(contains(output, all_done));
  rankbox({"reset", "broadcast_ring"});
  rankbox({"reset", "broadcast_tree"});
}

}  // namespace rankbox
