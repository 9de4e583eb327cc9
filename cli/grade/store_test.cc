// Results that outlive their process.
#include "cli/grade/store.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "files/temporary_folder.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

GradeResult result_of(const std::string& exercise) {
  Failure failure;
  failure.kind = FailureKind::kDeadlock;
  failure.message = "two lines\nof text ✗";
  GradeResult result;
  result.verdict = failed_before_running(exercise, failure);
  result.verdict.status = Status::kFail;
  result.seconds = 1.5;
  result.printed = "hello";
  result.drawn = true;
  result.picture = "rank 0 [→1]";
  return result;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a store remembers its salt and its results") {
  const TemporaryFolder folder;
  const std::string path = folder.path("state");
  {
    ResultStore store(path);
    CHECK(!store.salt());
    store.set_salt(7);
    store.add("a", result_of("race"));
    store.add("a", result_of("exchange"));  // the last one counts
  }
  ResultStore store(path);
  CHECK(store.salt() == 7);
  CHECK(store.find("b") == nullptr);
  const GradeResult* known = store.find("a");
  REQUIRE(known != nullptr);
  const GradeResult expected = result_of("exchange");
  CHECK(known->verdict.name == "exchange");
  CHECK(known->verdict.failure->message == expected.verdict.failure->message);
  CHECK(known->seconds == expected.seconds);
  CHECK(known->printed == expected.printed);
  CHECK(known->drawn);
  CHECK(known->picture == expected.picture);
}

TEST_CASE("a process may be killed at any moment") {
  const TemporaryFolder folder;
  const std::string whole_path = folder.path("whole");
  {
    ResultStore store(whole_path);
    store.set_salt(7);
    store.add("a", result_of("race"));
    store.add("b", result_of("exchange"));
  }
  const std::string whole = read(whole_path);
  const std::size_t first = whole.find('\n') + 1;
  const std::size_t second = whole.find('\n', first) + 1;
  for (const std::size_t end : {std::size_t{0}, std::size_t{3}, first, first + 1, second - 1,
                                second, second + 40, whole.size() - 1, whole.size()}) {
    INFO(end);
    const std::string path = folder.path("cut");
    std::ofstream(path) << whole.substr(0, end);
    {
      ResultStore store(path);
      CHECK(store.salt().has_value() == (end >= first));
      CHECK((store.find("a") != nullptr) == (end >= second));
      CHECK((store.find("b") != nullptr) == (end == whole.size()));
      store.add("c", result_of("race"));
    }
    CHECK(ResultStore(path).find("c") != nullptr);
    fs::remove(path);
  }
}

TEST_CASE("a store may be started over, and is one process's") {
  const TemporaryFolder folder;
  const std::string path = folder.path("state");
  {
    ResultStore store(path);
    store.set_salt(7);
    store.add("a", result_of("race"));
    CHECK_THROWS_AS(ResultStore{path}, InvalidArgument);
  }
  const ResultStore store(path, /*forget=*/true);
  CHECK(!store.salt());
  CHECK(store.find("a") == nullptr);
  CHECK_THROWS_AS(ResultStore(folder.path("no/such/folder")), Error);
}

TEST_CASE("a line that is not ours is passed over") {
  const TemporaryFolder folder;
  const std::string path = folder.path("state");
  std::ofstream(path)
      << "hello\n{\"key\":\"a\"}\n[]\n{\"key\":\"a\",\"result\":{}}\n{\"salt\":9}\n";
  const ResultStore store(path);
  CHECK(store.salt() == 9);
  CHECK(store.find("a") == nullptr);
}

}  // namespace rankbox::cli
