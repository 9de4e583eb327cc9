#include "training/data/sentences.h"

#include "training/random.h"

namespace rankbox {
namespace {

constexpr const char* kThings[] = {"food",  "service", "room",  "staff",     "music", "view",
                                   "price", "coffee",  "beach", "breakfast", "wine",  "garden"};
constexpr const char* kGood[] = {"good",  "lovely",   "excellent", "friendly", "great",
                                 "fresh", "charming", "pleasant",  "superb",   "delightful"};
constexpr const char* kBad[] = {"bad",   "awful", "terrible", "rude",     "poor",
                                "stale", "dirty", "horrible", "dreadful", "disappointing"};
constexpr const char* kDegrees[] = {"", "", "very ", "really ", "quite ", "so "};
constexpr const char* kOpenings[] = {"",           "",           "to be honest , ", "this time ",
                                     "on monday ", "frankly , ", "for us ",         "last summer "};
constexpr const char* kEndings[] = {" .", " !", " in the end .", " on both days .",
                                    " , we thought ."};

template <std::size_t n>
std::string any_of(const char* const (&words)[n], Random& random) {
  return words[random.below(n)];
}

/// A clause that says that something was good, or that it was bad.
std::string clause(bool good, Random& random) {
  const bool negated = random.chance(.35);
  const std::string adjective = good != negated ? any_of(kGood, random) : any_of(kBad, random);
  // Statements, since compilers may evaluate the operands of + in any order.
  const std::string degree = any_of(kDegrees, random);
  const std::string thing = any_of(kThings, random);
  return "the " + thing + " was " + (negated ? "not " : "") + degree + adjective;
}

LabelledText sentence(Random random) {
  const bool good = random.chance(.5);
  const std::string main = clause(good, random);
  const std::string other = clause(random.chance(.5), random);
  std::string text = any_of(kOpenings, random);
  switch (random.below(5)) {
    case 0:
      text += main;
      break;
    case 1:
      text += "although " + other + " , " + main;
      break;
    case 2:
      text += main + " , although " + other;
      break;
    case 3:
      text += other + " , but " + main;
      break;
    default:
      text += "whatever they say of how " + other + " , " + main;
      break;
  }
  return {text + any_of(kEndings, random), good ? 1 : 0};
}

}  // namespace

std::vector<LabelledText> write_sentences(std::int64_t count, std::uint64_t seed) {
  const Random random(seed);
  std::vector<LabelledText> texts;
  for (std::int64_t i = 0; i < count; ++i)
    texts.push_back(sentence(random.stream(static_cast<std::uint64_t>(i))));
  return texts;
}

TextSplit sentences(const SentencesOptions& options) {
  const Random random(options.seed);
  const auto train = write_sentences(options.train, random.stream("train").at(0));
  const auto test = write_sentences(options.test, random.stream("test").at(0));
  const Vocabulary vocabulary(train);
  return {{text_dataset(train, vocabulary, options.longest, 2),
           text_dataset(test, vocabulary, options.longest, 2)},
          vocabulary.size()};
}

}  // namespace rankbox
