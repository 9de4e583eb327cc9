#include "cli/grade/similarity.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

#include "cli/grade/fingerprints.h"

namespace rankbox::cli {

namespace {

std::vector<std::uint64_t> hashes_of(const std::vector<Fingerprint>& fingerprints) {
  std::vector<std::uint64_t> hashes;
  for (const Fingerprint& each : fingerprints) hashes.push_back(each.hash);
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return hashes;
}

/// Removes white space.
std::string squeezed(std::string_view text) {
  std::string result;
  std::copy_if(text.begin(), text.end(), std::back_inserter(result),
               [](unsigned char c) { return std::isspace(c) == 0; });
  return result;
}

struct File {
  std::string student;  // empty: the reference
  std::string text;     // without white space
  std::vector<Fingerprint> fingerprints;
  std::vector<std::uint64_t> hashes;  // sorted, each once

  File(std::string name, std::string_view source)
      : student(std::move(name)),
        text(squeezed(source)),
        fingerprints(fingerprints_of(source)),
        hashes(hashes_of(fingerprints)) {}

  void discount(const std::vector<std::uint64_t>& known) {
    std::erase_if(fingerprints, [&](const Fingerprint& each) {
      return std::binary_search(known.begin(), known.end(), each.hash);
    });
    hashes = hashes_of(fingerprints);
  }
};

bool touch(int first, int last, int other_first, int other_last) {
  return other_first <= last + 1 && first <= other_last + 1;
}

/// Pairs the n-th occurrence of a hash in a with the n-th in b, and joins what touches in both.
std::vector<SimilarPassage> passages_of(const File& a, const File& b) {
  std::unordered_map<std::uint64_t, std::vector<const Fingerprint*>> in_b;  // the last one first
  for (auto each = b.fingerprints.rbegin(); each != b.fingerprints.rend(); ++each)
    in_b[each->hash].push_back(&*each);
  std::vector<SimilarPassage> passages;
  for (const Fingerprint& ours : a.fingerprints) {
    std::vector<const Fingerprint*>& others = in_b[ours.hash];
    if (others.empty()) continue;
    const Fingerprint& theirs = *others.back();
    others.pop_back();
    const auto joined = std::find_if(passages.rbegin(), passages.rend(), [&](const auto& passage) {
      return touch(passage.first_line_of_a, passage.last_line_of_a, ours.first_line,
                   ours.last_line) &&
             touch(passage.first_line_of_b, passage.last_line_of_b, theirs.first_line,
                   theirs.last_line);
    });
    if (joined == passages.rend()) {
      passages.push_back({ours.first_line, ours.last_line, theirs.first_line, theirs.last_line});
      continue;
    }
    joined->last_line_of_a = std::max(joined->last_line_of_a, ours.last_line);
    joined->first_line_of_b = std::min(joined->first_line_of_b, theirs.first_line);
    joined->last_line_of_b = std::max(joined->last_line_of_b, theirs.last_line);
  }
  return passages;
}

/// Adds the pair if its score is high enough.
void compare(const std::string& exercise, const File& a, const File& b, double least_score,
             int least_shared, std::vector<SimilarPair>& pairs) {
  const std::size_t most = std::min(a.hashes.size(), b.hashes.size());
  std::vector<std::uint64_t> shared;
  std::set_intersection(a.hashes.begin(), a.hashes.end(), b.hashes.begin(), b.hashes.end(),
                        std::back_inserter(shared));
  const int count = static_cast<int>(shared.size());
  if (count < std::max(least_shared, 1)) return;
  const double score = static_cast<double>(count) / static_cast<double>(most);
  if (score < least_score) return;
  pairs.push_back(
      {exercise, a.student, b.student, score, count, a.text == b.text, passages_of(a, b)});
}

/// Compares the submissions of one exercise, first with the reference, then with each other.
void compare_all(const std::string& exercise, std::vector<File> files, const HandedOutText* known,
                 const SimilarityOptions& options, std::vector<SimilarPair>& pairs) {
  if (known != nullptr) {
    const File stub("", known->stub);
    for (File& file : files) file.discount(stub.hashes);
    File reference("", known->solution);
    reference.discount(stub.hashes);
    for (const File& file : files)
      compare(exercise, file, reference, options.least_score_with_solution, options.least_shared,
              pairs);
    for (File& file : files) file.discount(reference.hashes);
  }
  for (std::size_t a = 0; a < files.size(); ++a) {
    for (std::size_t b = a + 1; b < files.size(); ++b) {
      if (files[a].student == files[b].student) continue;
      compare(exercise, files[a], files[b], options.least_score, options.least_shared, pairs);
    }
  }
}

}  // namespace

std::vector<SimilarPair> similar_pairs(const std::vector<SubmittedText>& submissions,
                                       const std::vector<HandedOutText>& handed_out,
                                       const SimilarityOptions& options) {
  std::map<std::string, std::vector<File>> by_exercise;
  for (const SubmittedText& each : submissions)
    by_exercise[each.exercise].emplace_back(each.student, each.text);
  std::vector<SimilarPair> pairs;
  for (auto& [exercise, files] : by_exercise) {
    const auto known = std::ranges::find(handed_out, exercise, &HandedOutText::exercise);
    compare_all(exercise, std::move(files), known == handed_out.end() ? nullptr : &*known, options,
                pairs);
  }
  std::sort(pairs.begin(), pairs.end(), [](const SimilarPair& x, const SimilarPair& y) {
    return std::tie(y.score, x.exercise, x.a, x.b) < std::tie(x.score, y.exercise, y.a, y.b);
  });
  return pairs;
}

}  // namespace rankbox::cli
