// Predict, then run: the learner's prediction before the first run, and the reply.
//
// A prediction is one line of text:
//   "7 7"              7 messages one after another, 7 times n bytes; the second may be omitted
//   "broadcast_tree"   the exercise of this chapter that is fastest for large tensors
//   "-"                asked, but not answered
#pragma once

#include <string>

#include "judge/catalog.h"

namespace rankbox::cli {

/// Returns whether there is a cost to predict: false for exercises that send no messages.
bool is_predictable(const Exercise& exercise);

/// Returns the question, ending in a prompt.
std::string question_about(const Exercise& exercise);

/// Returns the line in its stored form. Throws InvalidArgument that lists the valid forms.
std::string parse_prediction(const Exercise& exercise, const std::string& line);

/// Compares the prediction with the closed forms. Empty if nothing was predicted. REQUIRES:
/// parse_prediction returned `prediction`.
std::string answer_to(const Exercise& exercise, const std::string& prediction);

}  // namespace rankbox::cli
