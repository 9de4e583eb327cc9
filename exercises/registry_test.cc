#include "exercises/registry.h"

#include <set>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "tests/support/text.h"

namespace rankbox {

namespace {

constexpr const char* kChapter = R"(
[[chapter]]
folder = "02_broadcast"
title = "Broadcast"
contracts = "collectives"
)";

/// An entry, with one of its lines replaced, added or (if the line is only a field) removed.
std::string entry_with(const std::string& line) {
  const std::string lines[] = {"name = \"broadcast_star\"",
                               "chapter = \"02_broadcast\"",
                               "difficulty = 2",
                               "importance = 3",
                               "summary = \"two stars\"",
                               "family = \"broadcast\"",
                               "stub = \"0123456789ab\""};
  const std::string field = line.substr(0, line.find(' '));
  std::string text = std::string(kChapter) + "[[exercise]]\n";
  for (const std::string& each : lines) {
    if (!each.starts_with(field + " ")) text += each + "\n";
  }
  if (field != line) text += line + "\n";
  return text;
}

std::string refusal(const std::string& text) {
  try {
    parse_registry(text, "registry.toml");
  } catch (const InvalidArgument& mistake) {
    return mistake.what();
  }
  return "";
}

using testing::contains;
using testing::lacks;

}  // namespace

TEST_CASE("an entry is read field by field") {
  const Registry registry =
      parse_registry(entry_with("cost = \"solution\"") +
                         "messages = \"tree\"\nexample = \"world_size=8,count=24\"\n"
                         "example_cost = { steps = 4, bytes = 384, reduced = 0 }\n",
                     "registry.toml");
  REQUIRE(registry.exercises.size() == 1);
  const Exercise& exercise = registry.exercises.front();
  CHECK(exercise.name == "broadcast_star");
  CHECK(exercise.chapter == 2);
  CHECK(exercise.difficulty == 2);
  CHECK(exercise.importance == 3);
  CHECK(exercise.summary == "two stars");
  CHECK(exercise.family == "broadcast");
  CHECK(exercise.cost == kCostOfSolution);
  CHECK(exercise.messages == "tree");
  CHECK(exercise.example == "world_size=8,count=24");
  CHECK(exercise.example_cost == Cost{4, 384, 0});
  CHECK(exercise.stub == "0123456789ab");
}

TEST_CASE("optional fields have defaults") {
  const Registry registry = parse_registry(entry_with("cost"), "registry.toml");
  const Exercise& exercise = registry.exercises.front();
  CHECK(exercise.cost == "");
  CHECK(exercise.messages == "any");
  CHECK(exercise.example == "");
  CHECK(parse_registry(entry_with("cost"), "r", "contracts").chapters[0].contracts == "contracts");
}

TEST_CASE("a mistake is one line: the exercise, the field, its value, and what is allowed") {
  struct Row {
    std::string line;
    const char* value;
    const char* allowed;
  };
  const Row rows[] = {
      {"difficulty = 6", "difficulty = 6", "1 to 5"},
      {"importance = \"high\"", "importance = ", "1 to 5"},
      {"chapter = \"2_broadcast\"", "2_broadcast", "02_broadcast"},
      {"summary", "summary", "summary"},
      {"family = 3", "family = 3", "family"},
      {"stub = \"xyz\"", "xyz", "12"},
      {"colour = \"red\"", "colour", "difficulty"},
      {"example = \"world_size=8\"", "example_cost", "steps = S"},
      {"example_cost = 7", "example", "example"},
      {"example = \"world_size=8\"\nexample_cost = { steps = inf, bytes = 0, reduced = 0 }", "inf",
       "steps = S"},
  };
  for (const Row& row : rows) {
    const std::string told = refusal(entry_with(row.line));
    CAPTURE(told);
    CHECK(lacks(told, {"registry.toml:", "broadcast_star", row.value, row.allowed}) == "");
    CHECK(!contains(told, "\n"));
  }
  CHECK(contains(refusal(entry_with("name = \"Broadcast Star\"")), "Broadcast Star"));
  CHECK(contains(refusal("[[chapter]]\nfolder = \"broadcast\"\n"), "02_broadcast"));
  CHECK(contains(refusal("[[exercise]]\nname = "), "registry.toml:2"));
  CHECK(contains(refusal("[[exercises]]\n"), "exercises"));
}

TEST_CASE("a chapter may say how many hours it takes") {
  CHECK(parse_registry(kChapter, "r").chapters[0].hours == 0);
  CHECK(parse_registry(std::string(kChapter) + "hours = 3\n", "r").chapters[0].hours == 3);
  const std::string told = refusal(std::string(kChapter) + "hours = 0\n");
  CHECK(lacks(told, {"02_broadcast", "hours = 0", "1 to 100"}) == "");
}

TEST_CASE("two entries with the same name are refused") {
  const std::string entry = entry_with("cost");
  const std::string twice = entry + entry.substr(entry.find("[[exercise]]"));
  CHECK(contains(refusal(twice), "broadcast_star"));
  CHECK(contains(refusal(std::string(kChapter) + kChapter), "02_broadcast"));
}

TEST_CASE("the registry of the course can be read, and has chapters in order") {
  CHECK(exercises().size() >= 59);
  int number = 0;
  std::set<std::string> names;
  for (const Chapter& chapter : chapters()) {
    CHECK(chapter.number > number);
    number = chapter.number;
    CHECK(chapter.hours > 0);
  }
  for (const Exercise& exercise : exercises()) {
    CHECK(names.insert(exercise.name).second);
    CHECK(contains(contract_path(exercise), exercise.name + ".h"));
    CHECK(find_exercise(exercise.name) == &exercise);
  }
  CHECK(find_exercise("broadcast_rings") == nullptr);
}

}  // namespace rankbox
