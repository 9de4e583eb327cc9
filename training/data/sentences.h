// Synthetic sentences of reviews, labelled 1 (positive) or 0 (negative), for use without a corpus.
//
//   "although the staff was rude , the food was not really bad ."        1
//   "the food was really bad , although the staff was not rude ."        0
//
// Only the main clause counts, and whether it is negated; the other clause may say anything. So the
// words without their order tell little. See docs/training.md.
//
// Sentence i of a seed is the same on every machine.
#pragma once

#include "training/data/texts.h"

namespace rankbox {

std::vector<LabelledText> write_sentences(std::int64_t count, std::uint64_t seed);

struct SentencesOptions {
  std::int64_t train = 4000;
  std::int64_t test = 1000;
  std::int64_t longest = 32;  // tokens of a text
  std::uint64_t seed = 1;
};

struct TextSplit {
  Split split;
  std::int64_t vocabulary = 0;  // tokens are below it
};

TextSplit sentences(const SentencesOptions& options = {});

}  // namespace rankbox
