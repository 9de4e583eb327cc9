// CSV, words and sentences.
#include "training/data/texts.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include <doctest/doctest.h>
#include <unistd.h>

#include "comm/errors.h"
#include "tests/support/text.h"
#include "training/data/csv.h"
#include "training/data/sentences.h"

namespace rankbox {
namespace {

std::vector<std::vector<std::string>> parsed_fields(const std::string& text) {
  std::vector<std::vector<std::string>> all;
  for (const CsvRecord& record : parse_csv(text, "t.csv")) all.push_back(record.fields);
  return all;
}

TEST_CASE("csv: fields, quotes, commas and newlines within quotes, either end of line") {
  using Records = std::vector<std::vector<std::string>>;
  const std::pair<std::string, Records> cases[] = {
      {"", {}},
      {"a", {{"a"}}},
      {"a,b\n", {{"a", "b"}}},
      {"a,b\nc,d", {{"a", "b"}, {"c", "d"}}},
      {"a,b\r\nc,d\r\n", {{"a", "b"}, {"c", "d"}}},
      {",\n,", {{"", ""}, {"", ""}}},
      {"a,\n", {{"a", ""}}},
      {"\"a,b\",\"c\nd\"\n", {{"a,b", "c\nd"}}},
      {"\"say \"\"hi\"\"\",\"\"", {{"say \"hi\"", ""}}},
      {"a\n\n\nb\n", {{"a"}, {"b"}}},
      {" a , b ", {{" a ", " b "}}},
      {"\xef\xbb\xbf"
       "a,b\nc,d",
       {{"a", "b"}, {"c", "d"}}},
      {"\xef\xbb\xbf\"a\"\n", {{"a"}}},
      {"\xc3\xa4,\xe2\x82\xac", {{"\xc3\xa4", "\xe2\x82\xac"}}},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(parsed_fields(text) == expected);
  }
}

TEST_CASE("csv: a mistake is one line with the number of the line it is on") {
  const std::pair<std::string, const char*> cases[] = {
      {"a,b\nc\n", "t.csv:2: "},
      {"a,b\n\"x\ny\",c\nd,e,f\n", "t.csv:4: "},
      {"a\n\"b\nc", "t.csv:2: "},
      {"a\n\"b\"c\n", "t.csv:2: "},
      {"a\nb\"c\"\n", "t.csv:2: "},
      {"\"", "t.csv:1: "},
      // Quotes that are not closed, and where that shows.
      {"a\n\"b\nc\n\"d\"\n", "t.csv:2: the quote that opens here closes in line 4"},
      {"a,b\n\"c,d\ne,f\",g,h\ni,j\n",
       "t.csv:2: expected 2 fields, as in the first record, found 3 up to line 3"},
      // Other encodings, with and without their mark.
      {"a\nb\xe4\n", "t.csv:2: not UTF-8 at byte 3, perhaps LATIN1: convert it"},
      {"a\nb \x93q\x94\n", "t.csv:2: not UTF-8 at byte 4, perhaps WINDOWS-1252: convert it"},
      // Continuation bytes of a valid character are no quotes of Windows.
      {"\xe4;\xe2\x82\xac", "t.csv:1: not UTF-8 at byte 0, perhaps LATIN1"},
      // UTF-8 with a damaged character, and cut inside one: nothing to convert.
      {"\xc3\xa9\n\xc3\xa9 \xe9 \x93", "t.csv:2: not UTF-8 at byte 6: a damaged character"},
      {"a\xf0\x9f\x98", "t.csv:1: not UTF-8 at byte 1: a damaged character"},
      {"a\xc3", "t.csv:1: not UTF-8 at byte 1: a damaged character"},
      {"a\xc0\x80", "t.csv:1: not UTF-8 at byte 1"},
      {"a\xed\xa0\x80", "t.csv:1: not UTF-8 at byte 1"},
      {"a\xe2\x82", "t.csv:1: not UTF-8 at byte 1: a damaged character"},
      {{"\xff\xfe"
        "a\0\n\0",
        6},
       "t.csv:1: not UTF-8 at byte 0, but UTF-16:"},
      {{"\xfe\xff"
        "\0a",
        4},
       "t.csv:1: not UTF-8 at byte 0, but UTF-16:"},
      {{"a\0\n\0", 4}, "t.csv:1: not UTF-8 at byte 1, but UTF-16LE"},
      {{"\0a\0\n", 4}, "t.csv:1: not UTF-8 at byte 0, but UTF-16BE"},
      {{"\xff\xfe\0\0"
        "a\0\0\0",
        8},
       "t.csv:1: not UTF-8 at byte 0, but UTF-32:"},
      {{"a\0\0\0\n\0\0\0", 8}, "t.csv:1: not UTF-8 at byte 1, but UTF-32LE:"},
      {{"\0\0\0a\0\0\0\n", 8}, "t.csv:1: not UTF-8 at byte 0, but UTF-32BE:"},
      // UTF-8, but for zeros where no encoding has them.
      {{"a,b\nc,\0\n", 8}, "t.csv:2: a zero byte at byte 6: "},
      {{"a,b\n\xc3\xa9\0\0\0\0\0\0\0\0\0\0", 16}, "t.csv:2: a zero byte at byte 6: "},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    std::string message = "none";
    try {
      parse_csv(text, "t.csv");
    } catch (const InvalidArgument& error) {
      message = error.what();
    }
    CHECK(message.starts_with(expected));
    CHECK(message.find('\n') == std::string::npos);
  }
  CHECK_THROWS_AS(read_csv("no/such.csv"), InvalidArgument);
}

TEST_CASE("csv: the command that converts a file has its path as one word of the shell") {
  std::string message = "none";
  try {
    parse_csv("\xe4\n", "my file's.csv");
  } catch (const InvalidArgument& error) {
    message = error.what();
  }
  CHECK(testing::contains(message, "iconv -f LATIN1 -t UTF-8 'my file'\\''s.csv' >new.csv"));
}

TEST_CASE("words are lower case, marks stand alone") {
  const std::vector<std::string> expected = {"don't", "panic", ",", "it's", "42", "!", "!"};
  CHECK(words_of("Don't PANIC,\n it's 42!!") == expected);
  CHECK(words_of("").empty());
  CHECK(words_of(" \t ").empty());
}

TEST_CASE("a vocabulary numbers the most frequent words first, and knows no others") {
  const Vocabulary vocabulary({{"b a b", 0}, {"c b a", 1}});
  CHECK(vocabulary.size() == 6);
  CHECK(vocabulary.number_of("b") == 3);
  CHECK(vocabulary.number_of("a") == 4);
  CHECK(vocabulary.number_of("c") == 5);
  CHECK(vocabulary.number_of("d") == kUnknown);
  const Vocabulary small({{"b a b", 0}, {"c b a", 1}}, 4);
  CHECK(small.size() == 4);
  CHECK(small.number_of("a") == kUnknown);
}

TEST_CASE("a text becomes its start, its words and padding, and is cut off if too long") {
  const std::vector<LabelledText> texts = {{"a b", 1}, {"b b b b b", 0}, {"", 0}};
  const Vocabulary vocabulary(texts);  // b is 3, a is 4
  const Dataset dataset = text_dataset(texts, vocabulary, 4, 2);
  CHECK(dataset.values == std::vector<float>{2, 4, 3, 0, 2, 3, 3, 3, 2, 0, 0, 0});
  CHECK(dataset.lengths == std::vector<std::int32_t>{3, 4, 1});
  CHECK(dataset.labels == std::vector<std::int32_t>{1, 0, 0});
  CHECK_THROWS_AS(text_dataset(texts, vocabulary, 0, 2), InvalidArgument);
  CHECK_THROWS_AS(text_dataset(texts, vocabulary, 4, 1), InvalidArgument);
}

TEST_CASE("texts come from two columns of a file; records of other classes are left out") {
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string path =
      std::string(folder != nullptr ? folder : "/tmp") + "/texts." + std::to_string(::getpid());
  const auto read = [&](const std::string& content, const std::string& column) {
    std::ofstream(path) << content;
    return read_texts(path, "review", column, {"positive", "negative"});
  };
  const std::string content =
      "id,review,division\n1,\"good, really\",positive\n2,so so,neutral\n3,bad,negative\n";
  const TextFile file = read(content, "division");
  CHECK(file.left_out == std::map<std::string, std::int64_t>{{"neutral", 1}});
  const std::vector<LabelledText>& texts = file.texts;
  REQUIRE(texts.size() == 2);
  CHECK(texts[0].text == "good, really");
  CHECK(texts[0].label == 0);
  CHECK(texts[1].label == 1);
  std::string message;
  try {
    read(content, "stars");
  } catch (const InvalidArgument& error) {
    message = error.what();
  }
  CHECK(testing::lacks(message, {path + ":1: ", "\"stars\"", "id, review, division"}) == "");
  CHECK_THROWS_AS(read(content, "id"), InvalidArgument);
  CHECK_THROWS_AS(read("", "division"), InvalidArgument);

  std::ofstream(path) << content;
  CHECK(read_classes(path, "division") ==
        std::vector<std::string>{"negative", "neutral", "positive"});
  CHECK_THROWS_AS(read_classes(path, "stars"), InvalidArgument);
  const std::string without = "review,division\ngood,positive\n\"no\nlabel\", \nbad,negative\n";
  for (const bool reads_classes : {false, true}) {
    try {
      std::ofstream(path) << without;
      if (reads_classes) read_classes(path, "division");
      if (!reads_classes) read(without, "division");
      FAIL_CHECK("an empty label is taken for a class");
    } catch (const InvalidArgument& error) {
      CHECK(testing::lacks(error.what(), {path + ":3: ", "division is empty"}) == "");
    }
  }
  std::ofstream(path) << "review,division\ngood,positive\n";
  CHECK_THROWS_AS(read_classes(path, "division"), InvalidArgument);
  std::remove(path.c_str());
}

TEST_CASE(
    "sentences: both labels equally often, the same every time, hardly one of the test's known") {
  const auto first = write_sentences(1000, 5), again = write_sentences(10, 5);
  CHECK(again[9].text == first[9].text);
  CHECK(write_sentences(1, 6)[0].text != first[0].text);
  int positive = 0;
  for (const LabelledText& sentence : first) positive += sentence.label;
  CHECK(positive == doctest::Approx(500).epsilon(.1));

  const TextSplit data = sentences({.train = 2000, .test = 500, .longest = 32});
  const auto row = [](const Dataset& dataset, std::int64_t i) {
    return std::vector<float>(dataset.values.begin() + i * 32,
                              dataset.values.begin() + i * 32 + 32);
  };
  std::set<std::vector<float>> known;
  for (std::int64_t i = 0; i < 2000; ++i) known.insert(row(data.split.train, i));
  int repeated = 0;
  for (std::int64_t i = 0; i < 500; ++i) {
    const std::vector<float> text = row(data.split.test, i);
    repeated += known.contains(text) ? 1 : 0;
    for (const float token : text) {
      CHECK(token < static_cast<float>(data.vocabulary));
      CHECK(token != kUnknown);
    }
    CHECK(data.split.test.lengths[static_cast<std::size_t>(i)] < 32);  // none is cut off
  }
  CHECK(repeated < 25);
}

}  // namespace
}  // namespace rankbox
