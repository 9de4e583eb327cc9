#include "judge/verdict.h"

#include <algorithm>
#include <stdexcept>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "judge/verdict_json.h"
#include "judge/verdict_text.h"
#include "judge/visible_text.h"
#include "tests/support/text.h"

namespace rankbox {

namespace {

Verdict passing() {
  Verdict verdict;
  verdict.name = "broadcast_ring";
  verdict.checks = {{"values", CheckStatus::kPass, "", "", "12 cases"}};
  return verdict;
}

Verdict failing() {
  Verdict verdict = passing();
  verdict.status = Status::kFail;
  verdict.checks[0].status = CheckStatus::kFail;
  verdict.failure = Failure{FailureKind::kDeadlock,        3, 2, "recv", "a/b.cc", 17, "hangs",
                            "./rankbox check x --replay y"};
  verdict.failure->hint = {"an-id", "its text"};
  return verdict;
}

}  // namespace

TEST_CASE("a verdict survives the way through JSON") {
  Verdict warned = passing();
  warned.warnings = {"hangs elsewhere:\n  rank 0", "another"};
  CHECK(to_text(warned).find("\n  warning   hangs elsewhere:\n") != std::string::npos);
  CHECK(verdict_from_json(to_json(warned)).warnings == warned.warnings);
  for (const Verdict& verdict : {passing(), failing(), warned}) {
    const std::string json = to_json(verdict);
    CHECK(to_json(verdict_from_json(json)) == json);
  }
}

TEST_CASE("a message may be empty, or end in spaces, and its text comes out") {
  for (const char* message : {"", " ", "   ", "what: ", "a \nb", "a \n \n  b  ", "./rankbox"}) {
    CAPTURE(message);
    Verdict verdict = failing();
    verdict.failure->message = message;
    CHECK(to_text(verdict).find("broadcast_ring") != std::string::npos);
  }
}

TEST_CASE("JSON has every field, and a failure only where something failed") {
  const auto pass = nlohmann::json::parse(to_json(passing()));
  CHECK(pass.at("status") == "pass");
  CHECK_FALSE(pass.contains("failure"));
  for (const char* field : {"name", "status", "expected", "actual", "detail"}) {
    CHECK(pass.at("checks").at(0).contains(field));
  }
  const auto fail = nlohmann::json::parse(to_json(failing()));
  for (const char* field : {"kind", "rank", "peer", "op", "file", "line", "message", "replay"}) {
    CHECK(fail.at("failure").contains(field));
  }
  CHECK(fail.at("failure").at("kind") == "deadlock");
  CHECK(fail.at("failure").at("hint").dump() == R"({"id":"an-id","text":"its text"})");
  Verdict unexplained = failing();
  unexplained.failure->hint = {};
  CHECK_FALSE(nlohmann::json::parse(to_json(unexplained)).at("failure").contains("hint"));
}

TEST_CASE("what failed before it ran has all four checks, skipped, and does not list them") {
  Failure failure;
  failure.kind = FailureKind::kCompile;
  failure.message = "no semicolon";
  const Verdict verdict = failed_before_running("broadcast_ring", failure);
  REQUIRE(verdict.checks.size() == 4);
  for (const char* name : {"values", "messages", "cost", "safety"}) {
    REQUIRE(verdict.find(name) != nullptr);
    CHECK(verdict.find(name)->status == CheckStatus::kSkipped);
  }
  CHECK(nlohmann::json::parse(to_json(verdict)).at("checks").size() == 4);
  CHECK(to_text(verdict).find("safety") == std::string::npos);
}

TEST_CASE("the second line of what a check says is indented like the first") {
  Verdict verdict = passing();
  verdict.checks[0].detail = "12 cases\nand more";
  CHECK(to_text(verdict).find("\n            and more\n") != std::string::npos);
}

TEST_CASE("text for a terminal shows control characters and stray bytes as codes") {
  const std::pair<std::string, std::string> table[] = {
      {"plain\ttext\n", "plain\ttext\n"},
      {"p=5 · 2(p−1)/p → ✓ 😀", "p=5 · 2(p−1)/p → ✓ 😀"},
      {"\033[31mred\r\a", "\\x1b[31mred\\x0d\\x07"},
      {"\x7f", "\\x7f"},
      {"\xc2\x9b"
       "2J",
       "\\xc2\\x9b2J"},  // the Escape [ of eight bits
      {"a\u202e"
       "b",
       "a\\xe2\\x80\\xaeb"},  // right to left
      {"\xff\xc3", "\\xff\\xc3"},
      {"\xe2\x86", "\\xe2\\x86"},
      {"\v\f", "\\x0b\\x0c"},
      {{"nul\0", 4}, "nul\\x00"},
      {"\uFFFE\uFFFF\uFFFD", "\\xef\\xbf\\xbe\\xef\\xbf\\xbf\uFFFD"},  // not in XML
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},                             // a surrogate
      {"\xe0\x80\x80", "\\xe0\\x80\\x80"},                             // too long
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},                    // beyond U+10FFFF
      // Commands of a CI.
      {"::error::x", "\\x3a:error::x"},
      {"a\n \t::error::x", "a\n \t\\x3a:error::x"},
      {"\u00A0\u3000::error::x", "\u00A0\u3000\\x3a:error::x"},
      {"a\u2028::error::x", "a\\xe2\\x80\\xa8::error::x"},
      {"a ##[error]x ##vso[task]", "a \\x23#[error]x \\x23#vso[task]"},
      {"std::cout ## x", "std::cout ## x"},
  };
  for (const auto& [text, visible] : table) CHECK(visible_text(text) == visible);
  Verdict verdict = failing();
  verdict.failure->message = "said \033[2J";
  verdict.failure->file = "a\033.cc";
  CHECK(to_text(verdict).find('\033') == std::string::npos);
  // A long line is cut between characters.
  verdict.failure->file = "a.cc";
  verdict.failure->message = "x" + std::string(600, ' ');
  for (int i = 0; i < 300; ++i) verdict.failure->message.replace(1 + 2 * i, 2, "ä");
  CHECK(to_text(verdict).find("\\x") == std::string::npos);
}

TEST_CASE("each failed check is explained, in at most twelve lines") {
  Verdict verdict = failing();
  verdict.failure->message = "1\n2\n3\n4\n5\n6\n7\n8";
  verdict.checks[0].detail = verdict.failure->message;
  verdict.checks.push_back({"cost", CheckStatus::kFail, "", "", "expected 2 steps\nmore"});
  const std::string text = to_text(verdict);
  INFO(text);
  CHECK(text.find("cost too: expected 2 steps\n") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') <= 12);
  CHECK(text.find("values too") == std::string::npos);
}

TEST_CASE("a long line is wrapped, and nothing of it is lost") {
  constexpr std::size_t kWidest = 160;
  const std::string command = "./rankbox check broadcast_ring --replay world_size=2,count=1";
  Verdict verdict = failing();
  verdict.failure->message.clear();
  for (int i = 0; i < 90; ++i) verdict.failure->message += "wörd" + std::to_string(i) + " ";
  verdict.failure->message += command;
  verdict.checks[0].detail = verdict.failure->message;
  Verdict warned = passing();
  warned.warnings = {verdict.failure->message};
  for (const Verdict& each : {verdict, warned}) {
    std::istringstream rows(to_text(each));
    std::string joined;
    for (std::string row; std::getline(rows, row);) {
      CHECK(static_cast<std::size_t>(std::ranges::count_if(
                row, [](char byte) { return (byte & '\xC0') != '\x80'; })) <= kWidest);
      joined += " " + row.substr(std::min(row.find_first_not_of(' '), row.size()));
    }
    CHECK(testing::lacks(joined, {verdict.failure->message}) == "");
    CHECK(testing::contains(to_text(each), command));
  }
}

TEST_CASE("an error of this machine's is not called a failure") {
  Verdict verdict = failing();
  verdict.status = Status::kError;
  verdict.failure->kind = FailureKind::kCompile;
  CHECK(to_text(verdict).find("compile") == std::string::npos);
  CHECK(testing::lacks(to_text(verdict), {"broadcast_ring", "not judged", "hangs"}) == "");
}

TEST_CASE("a message that is no UTF-8 still makes valid JSON") {
  Verdict verdict = failing();
  verdict.failure->message = "thrown: \xff\xfe";
  CHECK(nlohmann::json::accept(to_json(verdict)));
}

TEST_CASE("what is no verdict is refused") {
  for (const char* text : {"", "{}", "[1]", "{\"name\": 1}", "not json",
                           R"({"name": "x", "status": "great", "checks": []})"}) {
    CHECK_THROWS_AS(verdict_from_json(text), std::runtime_error);
  }
  CHECK_THROWS_AS(verdict_from_json(std::string(20'000, '[') + std::string(20'000, ']')),
                  std::runtime_error);
  CHECK_THROWS_AS(verdict_from_json(to_json(passing()) + std::string(kMostVerdictBytes, ' ')),
                  std::runtime_error);
}

TEST_CASE("a field of another type or out of range is refused, and so is a contradiction") {
  using Json = nlohmann::json;
  const Json huge = 18'446'744'073'709'551'615U;
  const std::pair<const char*, Json> table[] = {
      {"/name", 1},
      {"/status", "error?"},
      {"/status", "pass"},
      {"/checks", "values"},
      {"/checks/0", 7},
      {"/checks/0/name", "speed"},
      {"/checks/0/name", 1},
      {"/checks/0/detail", 1},
      {"/checks/0/status", "great"},
      {"/warnings", "slow"},
      {"/warnings", Json::array({1})},
      {"/warnings", Json(std::vector<std::string>(kMostWarnings + 1, "again"))},
      {"/failure", Json()},
      {"/failure", "hangs"},
      {"/failure/kind", "bad luck"},
      {"/failure/rank", "3"},
      {"/failure/rank", 1e300},
      {"/failure/rank", 1.5},
      {"/failure/rank", -2},
      {"/failure/peer", huge},
      {"/failure/line", -1},
      {"/failure/line", 1e9},
      {"/failure/message", 1},
      {"/failure/hint", "its text"},
      {"/failure/hint/id", 1},
      {"/failure/replay", Json::array()},
      {"/checks/0/status", "pass"},  // it fails, and no check does
  };
  const Json good = Json::parse(to_json(failing()));
  CHECK_NOTHROW(verdict_from_json(good.dump()));
  for (const auto& [pointer, value] : table) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = value;
    CAPTURE(bad.dump());
    CHECK_THROWS_AS(verdict_from_json(bad.dump()), std::runtime_error);
  }
  for (const char* field : {"name", "status", "checks", "warnings", "failure"}) {
    Json bad = good;
    bad.erase(field);
    CHECK_THROWS_AS(verdict_from_json(bad.dump()), std::runtime_error);
  }
  Json twice = good;
  twice["checks"].push_back(twice["checks"][0]);
  CHECK_THROWS_AS(verdict_from_json(twice.dump()), std::runtime_error);
}

TEST_CASE("a long text keeps its beginning and its end, in whole characters") {
  Verdict verdict = failing();
  verdict.failure->message = "begin";
  for (int i = 0; i < 1'000'000; ++i) verdict.failure->message += "ä";
  verdict.failure->message += "the fix";
  verdict.checks[0].detail = verdict.failure->message;
  const std::string json = to_json(verdict);
  CHECK(json.size() < 3 * kMostTextBytes);
  const Verdict read = verdict_from_json(json);
  CHECK(read.failure->message.starts_with("beginä"));
  CHECK(read.failure->message.ends_with("the fix"));
  CHECK(read.checks[0].detail == read.failure->message);
  CHECK(visible_text(read.failure->message) == read.failure->message);
}

TEST_CASE("a failure's text names who, where and how to see it again") {
  const std::string text = to_text(failing());
  INFO(text);
  CHECK(testing::lacks(text, {"broadcast_ring", "deadlock", "hangs", "rank 3", "recv", "rank 2",
                              "a/b.cc:17", "./rankbox check x --replay y"}) == "");
  CHECK(text.find('\033') == std::string::npos);
  CHECK(to_text(failing(), true).find('\033') != std::string::npos);
}

TEST_CASE("a kind that would mislead has a better word in text, and stays in JSON") {
  const auto heading = [](FailureKind kind, const char* op, const char* message, const char* hint) {
    Verdict verdict = failing();
    verdict.failure->kind = kind;
    verdict.failure->op = op;
    verdict.failure->message = message;
    verdict.failure->hint.id = hint;
    CHECK(testing::contains(to_json(verdict), std::string("\"kind\":\"") + name_of(kind)));
    const std::string text = to_text(verdict);
    return text.substr(0, text.find('\n'));
  };
  using enum FailureKind;
  CHECK(heading(kCrash, "copy", "sizes 6 and 0 differ", "") == "✗ broadcast_ring: bad argument");
  CHECK(heading(kCrash, "", "segmentation fault", "") == "✗ broadcast_ring: crash");
  CHECK(heading(kUnreceived, "isend", "request never waited for: rank 0 …", "") ==
        "✗ broadcast_ring: never waited for");
  CHECK(heading(kUnreceived, "send", "a message", "") == "✗ broadcast_ring: unreceived");
  CHECK(heading(kCost, "", "too long", "nothing-overlaps") == "✗ broadcast_ring: overlap");
}

TEST_CASE("a message of many lines keeps its first and its last") {
  Verdict verdict = failing();
  verdict.failure->message = "1";
  for (int line = 2; line <= 20; ++line) verdict.failure->message += "\n" + std::to_string(line);
  const std::string text = to_text(verdict);
  CAPTURE(text);
  CHECK(text.find("\n  1\n") != std::string::npos);
  CHECK(text.find("\n  4 …\n  18\n  19\n  20\n") != std::string::npos);
}

TEST_CASE("however long the message, the text has at most twelve lines") {
  Verdict verdict = failing();
  for (int lines : {1, 7, 8, 100}) {
    verdict.failure->message.clear();
    for (int i = 0; i < lines; ++i) verdict.failure->message += std::string(1000, 'x') + "\n\n";
    const std::string text = to_text(verdict);
    CHECK(std::count(text.begin(), text.end(), '\n') <= 12);
  }
}

}  // namespace rankbox
