// `rankbox show`: pictures of real runs, correct and wrong.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"
#include "tests/cli/wrong_programs.h"

namespace rankbox {
namespace {

/// Returns the columns of the widest line; every character outside ASCII counts once.
std::size_t width_of(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto starts = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    });
    widest = std::max(widest, static_cast<std::size_t>(starts));
  }
  return widest;
}

TEST_CASE("a picture of eight ranks fits 80 columns and says what it cost") {
  const CommandResult shown = rankbox(
      {"show", "allreduce_ring", "--solution", "--ranks", "8", "--count", "1024", "--op", "MAX"});
  INFO(shown.output);
  CHECK(shown.exit_code == 0);
  CHECK(width_of(shown.output) <= 80);
  for (const char* part : {"rank 0", "rank 7", "14 steps", "world_size=8", "op=MAX", "laptop"})
    CHECK(shown.output.find(part) != std::string::npos);
  CHECK(shown.output.find("arrived") == std::string::npos);
}

TEST_CASE("a stub has a verdict and no picture") {
  const CommandResult shown = rankbox({"show", "broadcast_tree"});
  INFO(shown.output);
  CHECK(shown.exit_code == 1);
  CHECK(shown.output.find("not implemented") < shown.output.find('\n'));
  CHECK(shown.output.find("rank 0") == std::string::npos);
}

TEST_CASE("worlds and tensors may be larger than those that values are judged on") {
  const CommandResult shown =
      rankbox({"show", "broadcast_tree", "--solution", "--ranks", "64", "--count", "100000",
               "--root", "63", "--cluster", "h100-efa"});
  INFO(shown.output);
  CHECK(shown.exit_code == 0);
  CHECK(shown.output.find("root=63") != std::string::npos);
  // On 2^18, only the first events of a rank are drawn.
  for (const auto& [name, ranks, says] :
       {std::tuple("broadcast_tree", "262144", "18 steps"),
        std::tuple("allreduce_butterfly", "16384", "14 steps"),
        std::tuple("scatter_tree", "16384", "14 steps, 65532 bytes")}) {
    const CommandResult large = rankbox({"show", name, "--solution", "--ranks", ranks});
    INFO(large.output);
    CHECK(large.exit_code == 0);
    CHECK(large.output.find(says) != std::string::npos);
  }
}

TEST_CASE("the schedule of a pipeline is drawn, with what of it is idle and what was promised") {
  const CommandResult shown = rankbox(
      {"show", "pipeline_1f1b", "--solution", "--ranks", "3", "--segments", "4", "--count", "8"});
  INFO(shown.output);
  CHECK(shown.exit_code == 0);
  CHECK(width_of(shown.output) <= 80);
  for (const char* part :
       {"rank 0  F0 F1 F2 ", " F3 B1", "world_size=3,segments=4,count=8", "(p-1)/(m+p-1) = 33.3 %"})
    CHECK(shown.output.find(part) != std::string::npos);
  CHECK(shown.output.find('\033') == std::string::npos);  // no terminal, no colour

  const CommandResult interleaved =
      rankbox({"show", "pipeline_interleaved", "--solution", "--ranks", "2", "--segments", "3"});
  CHECK(interleaved.exit_code == 2);
  CHECK(interleaved.output.find("2 ranks") != std::string::npos);
}

TEST_CASE("--trace writes one valid JSON object, and nothing beside it") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(project()) / "traces";
  fs::create_directory(folder);
  const std::string file = (folder / "ring.json").string();
  const CommandResult shown =
      rankbox({"show", "broadcast_ring", "--solution", "--ranks", "3", "--trace", file});
  INFO(shown.output);
  CHECK(shown.exit_code == 0);
  CHECK(shown.output.find(file) != std::string::npos);
  CHECK(nlohmann::json::parse(read_file(file))["traceEvents"].size() > 0);
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);

  const CommandResult nowhere = rankbox(
      {"show", "broadcast_ring", "--solution", "--trace", (folder / "no" / "way.json").string()});
  CHECK(nowhere.exit_code == 2);
  CHECK(nowhere.output.find("no/way.json") != std::string::npos);
}

TEST_CASE("a run that deadlocks is drawn up to there, and explained") {
  const CommandResult shown =
      rankbox({"show", "exchange", "--file", wrong_program("send_send"), "--ranks", "2"});
  INFO(shown.output);
  CHECK(shown.exit_code == 1);
  CHECK(shown.output.find("rank 1  out  [") != std::string::npos);
  CHECK(shown.output.find("deadlock") != std::string::npos);
  CHECK(shown.output.find("2 messages, 32768 bytes in all; 0 of them arrived\n") !=
        std::string::npos);
  // The wait-for picture.
  CHECK(shown.output.find("\n,> rank 0\n|    | send, 16384 bytes, ") != std::string::npos);
  CHECK(shown.output.find("`----' send, 16384 bytes, ") != std::string::npos);
}

TEST_CASE("what native collectives move is told, which are no messages of the program") {
  const CommandResult shown = rankbox({"show", "ddp_average_gradients", "--solution"});
  INFO(shown.output);
  CHECK(shown.exit_code == 0);
  CHECK(shown.output.find("native collectives, to which ranks gave ") != std::string::npos);
  CHECK(shown.output.find("0 messages") == std::string::npos);
}

TEST_CASE("the buffering mode decides whether a program deadlocks") {
  struct Dial {
    const char* text;
    int exit_code;
  };
  for (const Dial& dial :
       {Dial{"rendezvous", 1}, {"eager:16383", 1}, {"eager:16K", 0}, {"unbounded", 0}}) {
    const CommandResult shown = rankbox({"show", "exchange", "--file", wrong_program("send_send"),
                                         "--ranks", "2", "--buffering", dial.text});
    INFO(dial.text << "\n" << shown.output);
    CHECK(shown.exit_code == dial.exit_code);
  }
}

TEST_CASE("what an exercise has no use for is a mistake") {
  struct Mistake {
    std::vector<std::string> arguments;
    const char* says;
  };
  const Mistake mistakes[] = {
      {{"show", "race"}, "race"},
      {{"show", "barrier_dissemination", "--count", "3"}, "count"},
      {{"show", "allreduce_ring", "--root", "1"}, "root"},
      {{"show", "broadcast_ring", "--op", "SUM"}, "op"},
      {{"show", "broadcast_ring", "--segments", "2"}, "segments"},
      {{"show", "reduce_tree", "--op", "XOR"}, "XOR"},
      {{"show", "broadcast_ring", "--root", "4"}, "0 to 3"},
      {{"show", "broadcast_ring", "--ranks", "0"}, "--ranks"},
      {{"show", "allgather_ring", "--ranks", "1048576"}, "4096 GiB of memory"},
      {{"show", "broadcast_ring", "--ranks", "1048576", "--count", "1000000"}, "--count"},
      {{"show", "broadcast_ring", "--rank", "2"}, "no option --rank; did you mean --ranks?"},
      {{"show", "broadcast_ring", "again"}, "unexpected: again"},
      {{"show", "broadcast_ring", "--cluster", "moon"}, "moon"},
      {{"show", "broadcast_ring", "--buffering", "some"}, "rendezvous, eager:BYTES"},
  };
  for (const Mistake& mistake : mistakes) {
    const CommandResult result = rankbox(mistake.arguments);
    INFO(result.output);
    CHECK(result.exit_code == 2);
    CHECK(result.output.find(mistake.says) != std::string::npos);
    CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
  }
}

}  // namespace
}  // namespace rankbox
