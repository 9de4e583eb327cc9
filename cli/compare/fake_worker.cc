// Fake measuring process for supervisor_test. Its first argument selects how it ends.
//
//   fake_worker END [OPTION...] --first-contest N --stream PIPE
//
// Runs three contests of native, ring and, with --mine-library, ring (yours). In the second one
// yours behaves as END states: none, die, exit, hang, or mismatch, which it reports. With fail, the
// process itself fails.
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

#include "cli/compare/stream.h"

namespace rankbox::cli {
namespace {

constexpr std::size_t kContests = 3;
constexpr std::size_t kOfTheEnd = 1;

Row row_of(const char* algorithm, Whose whose, std::size_t contest) {
  Row row;
  row.algorithm = algorithm;
  row.whose = whose;
  row.world_size = 2;
  row.elements = std::int64_t{1} << contest;
  row.bytes = 4 * row.elements;
  return row;
}

void come_to(const std::string& end, FrameWriter& writer, Row yours) {
  if (end == "die") std::raise(SIGKILL);
  if (end == "exit") _exit(0);
  while (end == "hang") pause();
  if (end == "mismatch") {
    yours.failure = RowFailure{"mismatch", "message mismatch: ...", "ring.cc", 7};
    writer.write({.kind = Frame::Kind::kRowFailed, .rows = {yours}});
    _exit(1);
  }
  if (end != "fail") return;
  writer.write({.kind = Frame::Kind::kFailed, .number = 2, .text = "no such GPU"});
  _exit(2);
}

int run(const std::vector<std::string>& words) {
  std::string pipe;
  std::size_t first = 0;
  bool has_yours = false;
  for (std::size_t i = 2; i + 1 < words.size(); ++i) {
    if (words[i] == "--stream") pipe = words[i + 1];
    if (words[i] == "--first-contest") first = std::stoul(words[i + 1]);
    if (words[i] == "--mine-library") has_yours = true;
  }
  FrameWriter writer(pipe);
  writer.write({.kind = Frame::Kind::kStart, .devices = {Device{}, Device{}}});
  for (std::size_t contest = first; contest < kContests; ++contest) {
    std::vector<Row> rows = {row_of("native", Whose::kNative, contest),
                             row_of("ring", Whose::kReference, contest)};
    if (has_yours) rows.push_back(row_of("ring", Whose::kYours, contest));
    for (std::size_t job = 0; job < rows.size(); ++job) {
      writer.write(
          {.kind = Frame::Kind::kJob, .number = job, .rows = job == 0 ? rows : std::vector<Row>{}});
      rows[job].time = Times{static_cast<double>(job + 1), 1, 4, 5};
      if (contest == kOfTheEnd && rows[job].whose == Whose::kYours)
        come_to(words[1], writer, rows[job]);
    }
    writer.write({.kind = Frame::Kind::kContest, .rows = rows});
  }
  writer.write({.kind = Frame::Kind::kDone});
  return 0;
}

}  // namespace
}  // namespace rankbox::cli

int main(int argc, char** argv) { return rankbox::cli::run({argv, argv + argc}); }
