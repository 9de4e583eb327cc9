// Similar submissions of one exercise: which pairs an instructor should look at.
//
// Two files are compared by their fingerprints (fingerprints.h): comments, layout, names, literals
// and the order of functions do not matter. Fingerprints of the stub are dropped. Each submission is
// compared with the reference solution, whose fingerprints are then dropped, too: two students who
// both copied the reference are two pairs with it, and none with each other.
//
// Measured: some 250 pairs of right programs in different styles (tests/variants) score at most 0.48
// with each other, and 0.73 with the reference; two more are edits of another one, and score 0.87
// and 0.97. Copies with an additional statement after every third one score 0.72 to 0.9. Of 491
// references with a mistake or two (tests/mutants), 94 % score above 0.75.
//
// A score proves nothing: see kWhatSimilarityMeans.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankbox::cli {

struct SubmittedText {
  std::string student;
  std::string exercise;
  std::string text;  // of the file
};

/// What was handed out, and must not count as copied from a student.
struct HandedOutText {
  std::string exercise;
  std::string stub;
  std::string solution;  // empty: submissions are not compared with it
};

/// A passage that two files share. Lines count from 1, both ends included.
struct SimilarPassage {
  int first_line_of_a = 0;
  int last_line_of_a = 0;
  int first_line_of_b = 0;
  int last_line_of_b = 0;
};

struct SimilarPair {
  std::string exercise;
  std::string a;           // a student
  std::string b;           // another student; empty: the reference solution
  double score = 0;        // share of the shorter file's fingerprints that the other has, 0 to 1
  int shared = 0;          // fingerprints that both have
  bool same_text = false;  // the files differ in white space at most
  std::vector<SimilarPassage> passages;  // in the order of a's lines
};

/// Pairs below these are not reported.
struct SimilarityOptions {
  double least_score = 0.6;
  double least_score_with_solution = 0.75;  // hints and pages lead to it
  int least_shared = 10;                    // fingerprints: a shorter file says too little
};

/// Returns the pairs to look at, highest score first, then by exercise and names. Submissions of
/// different exercises are not compared, nor are those of the same student. Exercises without a
/// HandedOutText are compared without a discount.
///
/// Cost: for s submissions of an exercise with f fingerprints each, O(s f) memory and, where most
/// fingerprints are shared, O(s² f) time: 0.3 s for 200 submissions of 10 exercises. Does not block.
/// Thread safety: any thread.
std::vector<SimilarPair> similar_pairs(const std::vector<SubmittedText>& submissions,
                                       const std::vector<HandedOutText>& handed_out,
                                       const SimilarityOptions& options = {});

/// What a high score means and what it does not prove, in sentences for a report.
extern const std::string_view kWhatSimilarityMeans;

/// Returns one line a pair, without a line end: exercise, score, names, matching lines of both.
std::string to_text(const SimilarPair& pair);

/// Returns a JSON array with an object a pair:
///   {"exercise": …, "a": …, "b": … or null, "score": 0.93, "shared": 41, "same_text": false,
///    "passages": [{"a": [first, last], "b": [first, last]}, …]}
/// @param indent spaces per level; -1: all in one line
std::string to_json(const std::vector<SimilarPair>& pairs, int indent = -1);

}  // namespace rankbox::cli
