#include "training/data/texts.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"
#include "training/data/csv.h"

namespace rankbox {

namespace {

std::size_t column_of(const std::vector<CsvRecord>& records, const std::string& name,
                      const std::string& path) {
  if (records.empty()) throw InvalidArgument(fmt::format("{}: is empty", path));
  const std::vector<std::string>& names = records.front().fields;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw InvalidArgument(
        fmt::format("{}:1: no column \"{}\": there are {}", path, name, fmt::join(names, ", ")));
  }
  return static_cast<std::size_t>(found - names.begin());
}

/// Returns the record's label. Throws InvalidArgument for an empty one, which would be a class.
const std::string& label_of(const CsvRecord& record, std::size_t column, const std::string& name,
                            const std::string& path) {
  const std::string& label = record.fields[column];
  if (label.find_first_not_of(" \t") != std::string::npos) return label;
  throw InvalidArgument(fmt::format("{}:{}: the {} is empty: write one, or leave the record out",
                                    path, record.line, name));
}

}  // namespace

std::vector<std::string> read_classes(const std::string& path, const std::string& label_column) {
  const std::vector<CsvRecord> records = read_csv(path);
  const std::size_t label = column_of(records, label_column, path);
  std::set<std::string> classes;
  for (std::size_t i = 1; i < records.size(); ++i)
    classes.insert(label_of(records[i], label, label_column, path));
  if (classes.size() < 2) {
    throw InvalidArgument(
        fmt::format("{}: its column {} has {} values; to tell classes apart it "
                    "takes two at least",
                    path, label_column, classes.size()));
  }
  return {classes.begin(), classes.end()};
}

TextFile read_texts(const std::string& path, const std::string& text_column,
                    const std::string& label_column, const std::vector<std::string>& classes) {
  const std::vector<CsvRecord> records = read_csv(path);
  const std::size_t text = column_of(records, text_column, path);
  const std::size_t label = column_of(records, label_column, path);

  TextFile file;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const std::string& name = label_of(records[i], label, label_column, path);
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end()) {
      ++file.left_out[name];
      continue;
    }
    file.texts.push_back(
        {records[i].fields[text], static_cast<std::int32_t>(found - classes.begin())});
  }
  if (file.texts.empty()) {
    throw InvalidArgument(fmt::format("{}: no record whose {} is one of {}", path, label_column,
                                      fmt::join(classes, ", ")));
  }
  return file;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  bool in_word = false;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool belongs = byte >= 128 || std::isalnum(byte) != 0 || letter == '\'';
    if (std::isspace(byte) == 0) {
      if (!in_word || !belongs) words.emplace_back();
      words.back() += static_cast<char>(std::tolower(byte));
    }
    in_word = belongs;
  }
  return words;
}

Vocabulary::Vocabulary(const std::vector<LabelledText>& texts, std::int64_t largest) {
  std::map<std::string, std::int64_t> counts;
  for (const LabelledText& text : texts) {
    for (const std::string& word : words_of(text.text)) ++counts[word];
  }
  std::vector<std::pair<std::string, std::int64_t>> words(counts.begin(), counts.end());
  std::stable_sort(words.begin(), words.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [word, count] : words) {
    if (size() >= largest) break;
    numbers_.emplace(word, static_cast<std::int32_t>(size()));
  }
}

std::int32_t Vocabulary::number_of(const std::string& word) const {
  const auto found = numbers_.find(word);
  return found == numbers_.end() ? kUnknown : found->second;
}

Dataset text_dataset(const std::vector<LabelledText>& texts, const Vocabulary& vocabulary,
                     std::int64_t longest, std::int64_t classes) {
  if (longest < 1) {
    throw InvalidArgument(
        fmt::format("texts of {} tokens: at least 1 is needed, which starts the text", longest));
  }
  Dataset dataset;
  dataset.sample_shape = longest;
  dataset.classes = classes;
  for (const LabelledText& text : texts) {
    if (text.label < 0 || text.label >= classes) {
      throw InvalidArgument(
          fmt::format("a text with label {}, expected 0 to {}", text.label, classes - 1));
    }
    std::vector<std::int32_t> tokens = {kStartOfText};
    for (const std::string& word : words_of(text.text))
      tokens.push_back(vocabulary.number_of(word));
    const std::int64_t length = std::min(static_cast<std::int64_t>(tokens.size()), longest);
    tokens.resize(static_cast<std::size_t>(longest), kPadding);
    for (const std::int32_t token : tokens) dataset.values.push_back(static_cast<float>(token));
    dataset.labels.push_back(text.label);
    dataset.lengths.push_back(static_cast<std::int32_t>(length));
  }
  return dataset;
}

}  // namespace rankbox
