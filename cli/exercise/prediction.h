// Predict, then run: what the learner expects of an exercise before its first run, and what there is
// to say about it afterwards.
//
// A prediction is one line of text:
//   "7 7"              7 messages one after another, 7 times n bytes; the second may be left out
//   "broadcast_tree"   the exercise of this chapter that is fastest for large tensors
//   "-"                asked, and not answered
#pragma once

#include <string>

#include "verdict/catalog.h"

namespace rankbox::cli {

/// Whether there is something to predict: not for what sends no messages.
bool is_predictable(const Exercise& exercise);

/// What is asked, ending in a prompt.
std::string question_about(const Exercise& exercise);

/// The line as it is kept. Throws InvalidArgument that says what a prediction may be.
std::string parse_prediction(const Exercise& exercise, const std::string& line);

/// Compares with the closed forms. Empty if nothing was predicted.
/// REQUIRES: parse_prediction returned `prediction`.
std::string answer_to(const Exercise& exercise, const std::string& prediction);

}  // namespace rankbox::cli
