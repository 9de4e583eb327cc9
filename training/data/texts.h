// Texts with labels, and their conversion to numbers.
//
//   TextFile file = read_texts("reviews.csv", "review", "division", {"positive", "negative"});
//   Vocabulary vocabulary(file.texts);
//   Dataset dataset = text_dataset(file.texts, vocabulary, 32, 2);
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "training/data/dataset.h"

namespace rankbox {

struct LabelledText {
  std::string text;
  std::int32_t label = 0;
};

/// The texts of a file.
struct TextFile {
  std::vector<LabelledText> texts;
  std::map<std::string, std::int64_t> left_out;  // records of other classes: how many of each
};

/// Texts and labels from two columns of a CSV file whose first record names the columns. The label
/// is the index in `classes`; records of other classes are counted alone.
/// Throws InvalidArgument as read_csv does, and if a column is missing, a label is empty, or no
/// record is left.
TextFile read_texts(const std::string& path, const std::string& text_column,
                    const std::string& label_column, const std::vector<std::string>& classes);

/// The classes of such a file: the different values of a column, in alphabetical order.
/// Throws InvalidArgument as read_texts does, and unless there are at least two.
std::vector<std::string> read_classes(const std::string& path, const std::string& label_column);

/// Lower-case words (letters, digits, apostrophes; bytes beyond ASCII count as letters), and every
/// other character as a token of its own.
std::vector<std::string> words_of(const std::string& text);

inline constexpr std::int32_t kPadding = 0;
inline constexpr std::int32_t kUnknown = 1;      // a word that is not in the vocabulary
inline constexpr std::int32_t kStartOfText = 2;  // stands for the whole text

/// Numbers for words, from 3 on, the most frequent first (ties in alphabetical order). It is made
/// only from the training texts: the test texts must stay unseen.
class Vocabulary {
 public:
  explicit Vocabulary(const std::vector<LabelledText>& texts, std::int64_t largest = 30000);

  std::int32_t number_of(const std::string& word) const;  // kUnknown if it has none
  std::int64_t size() const { return 3 + static_cast<std::int64_t>(numbers_.size()); }

 private:
  std::unordered_map<std::string, std::int32_t> numbers_;
};

/// Samples of shape {longest}: kStartOfText, words, padding. Longer texts are cut off.
/// Throws InvalidArgument for longest < 1 or a label that is not a class.
Dataset text_dataset(const std::vector<LabelledText>& texts, const Vocabulary& vocabulary,
                     std::int64_t longest, std::int64_t classes);

}  // namespace rankbox
