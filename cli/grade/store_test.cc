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
  result.waits = R"({"cycle": [0]})";
  return result;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a file that was there is for its owner alone as soon as it holds the secret") {
  const TemporaryFolder folder;
  const std::string path = folder.path("state");
  std::ofstream(path).close();
  fs::permissions(path, fs::perms::owner_all | fs::perms::group_read | fs::perms::others_read);
  const ResultStore store(path);
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a store remembers its secret and its results") {
  const TemporaryFolder folder;
  const std::string path = folder.path("state");
  std::string secret;
  {
    ResultStore store(path);
    secret = store.secret();
    store.add("a", result_of("race"));
    store.add("a", result_of("exchange"));  // the last one counts
  }
  CHECK(secret.size() == 32);
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  ResultStore store(path);
  CHECK(store.secret() == secret);
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
  CHECK(known->waits == expected.waits);
}

TEST_CASE("a process may be killed at any moment") {
  const TemporaryFolder folder;
  const std::string whole_path = folder.path("whole");
  {
    ResultStore store(whole_path);
    store.add("a", result_of("race"));
    store.add("b", result_of("exchange"));
  }
  const std::string secret = ResultStore(whole_path).secret();
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
      CHECK((store.secret() == secret) == (end >= first));
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
  std::string secret;
  {
    ResultStore store(path);
    secret = store.secret();
    store.add("a", result_of("race"));
    CHECK_THROWS_AS(ResultStore{path}, InvalidArgument);
  }
  const ResultStore store(path, /*forget=*/true);
  CHECK(store.secret() != secret);
  CHECK(store.find("a") == nullptr);
  CHECK_THROWS_AS(ResultStore(folder.path("no/such/folder")), Error);
}

TEST_CASE("a file that is no store is left as it is") {
  const TemporaryFolder folder;
  const std::string path = folder.path("points.toml");
  for (const char* text : {"[points]\nrace = 1\n", "no line end"}) {
    std::ofstream(path) << text;
    for (const bool forget : {false, true}) {
      CHECK_THROWS_AS(ResultStore(path, forget), InvalidArgument);
      CHECK(read(path) == text);
    }
  }
}

TEST_CASE("a line that is not ours is passed over, and that file is judged again") {
  const TemporaryFolder folder;
  const std::string path = folder.path("state");
  { ResultStore(path).add("good", result_of("race")); }
  const std::string lines = read(path);
  const std::string good = lines.substr(lines.find('\n') + 1);
  std::string no_failure = good;
  const std::size_t failure = no_failure.find(",\"failure\":");
  no_failure.erase(failure, no_failure.find("},", failure) + 1 - failure);
  no_failure.replace(no_failure.find("good"), 4, "bad");
  std::ofstream(path) << "hello\n{\"key\":\"bad\"}\n[]\n{\"key\":\"bad\",\"result\":{}}\n"
                      << no_failure << "{\"key\":\"bad\",\"result\":" << std::string(20'000, '[')
                      << "\n{\"secret\":\"s\"}\n"
                      << good;
  const ResultStore store(path);
  CHECK(store.secret() == "s");
  CHECK(store.find("bad") == nullptr);
  CHECK(store.find("good") != nullptr);
}

}  // namespace rankbox::cli
