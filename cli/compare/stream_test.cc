// Frames through a named pipe: complete, in order, and never more than were written.
#include "cli/compare/stream.h"

#include <cstdlib>
#include <filesystem>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox::cli {
namespace {

std::string new_path() {
  static int number = 0;
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string path = fmt::format("{}/pipe{}", folder == nullptr ? "/tmp" : folder, number++);
  std::filesystem::remove(path);
  return path;
}

Row row_of(int number) {
  Row row;
  row.algorithm = fmt::format("algorithm {}", number);
  row.whose = Whose::kYours;
  row.time = Times{1, 2, 3, number};
  row.cost = Cost{1, 2, 3};
  row.failure =
      RowFailure{"crash", std::string(static_cast<std::size_t>(number % 500), 'x'), "f", 7};
  return row;
}

TEST_CASE("what is written is read, whatever the sizes and however often one looks") {
  const std::string path = new_path();
  FrameReader reader(path);
  constexpr int kFrames = 2000;
  std::thread writer([&] {
    FrameWriter out(path);
    for (int i = 0; i < kFrames; ++i) {
      out.write({.kind = Frame::Kind::kContest,
                 .number = static_cast<std::uint64_t>(i),
                 .text = std::to_string(i),
                 .rows = {row_of(i), row_of(i + 1)}});
    }
  });
  int seen = 0;
  while (seen < kFrames) {
    reader.drain([&](const Frame& frame) {
      REQUIRE(frame.number == static_cast<std::uint64_t>(seen));
      REQUIRE(frame.text == std::to_string(seen));
      REQUIRE(frame.rows.size() == 2);
      CHECK(frame.rows[1].algorithm == fmt::format("algorithm {}", seen + 1));
      CHECK(frame.rows[1].time->iterations == seen + 1);
      CHECK(frame.rows[0].failure->line == 7);
      ++seen;
    });
    std::this_thread::yield();
  }
  writer.join();
  reader.drain([](const Frame&) { FAIL("more than was written"); });
}

TEST_CASE("a writer that comes after another is read as well") {
  const std::string path = new_path();
  FrameReader reader(path);
  int seen = 0;
  for (int i = 0; i < 2; ++i) {
    FrameWriter(path).write({.kind = Frame::Kind::kDone});
    reader.drain([&](const Frame& frame) {
      CHECK(frame.kind == Frame::Kind::kDone);
      ++seen;
    });
  }
  CHECK(seen == 2);
}

TEST_CASE("a pipe that is not there is an error") {
  CHECK_THROWS_AS(FrameWriter("/no/such/pipe"), Error);
  CHECK_THROWS_AS(FrameReader("/no/such/folder/pipe"), Error);
}

}  // namespace
}  // namespace rankbox::cli
