// The embedded digits: what must never change, and that they can be learnt.
#include "training/data/digits.h"

#include <set>

#include <doctest/doctest.h>

#include "training/cross_entropy.h"
#include "training/data/data_loader.h"
#include "training/models/mlp.h"
#include "training/sgd.h"

namespace rankbox {
namespace {

TEST_CASE("the digits of a seed are these, bit by bit, with any compiler on any machine") {
  std::vector<std::uint8_t> labels;
  const Images images = draw_digits(200, 1, labels);
  std::uint64_t digest = 0xcbf29ce484222325;  // FNV-1a
  for (const std::uint8_t pixel : images.pixels) digest = (digest ^ pixel) * 0x100000001b3;
  for (const std::uint8_t label : labels) digest = (digest ^ label) * 0x100000001b3;
  CHECK(digest == 0x9c449ae974c6a4b6);
}

TEST_CASE("digit i is the same whatever is drawn before or after; seeds differ") {
  std::vector<std::uint8_t> labels, fewer_labels;
  const Images many = draw_digits(50, 3, labels);
  const Images few = draw_digits(20, 3, fewer_labels);
  CHECK(std::equal(few.pixels.begin(), few.pixels.end(), many.pixels.begin()));
  CHECK(std::equal(fewer_labels.begin(), fewer_labels.end(), labels.begin()));
  CHECK(draw_digits(20, 4, labels).pixels != few.pixels);
}

TEST_CASE("all digits are about equally frequent, none is blank, none in both halves of a split") {
  const Split split = digits({.train = 2000, .test = 500});
  std::vector<int> counts(10);
  std::set<std::vector<float>> seen;
  for (const Dataset* dataset : {&split.train, &split.test}) {
    for (std::int64_t i = 0; i < dataset->size(); ++i) {
      ++counts[static_cast<std::size_t>(dataset->labels[static_cast<std::size_t>(i)])];
      const auto* const from = dataset->values.data() + i * 784;
      const std::vector<float> image(from, from + 784);
      double ink = 0;
      for (const float pixel : image) ink += pixel;
      CHECK(ink > 30);
      CHECK(ink < 300);
      CHECK(seen.insert(image).second);
    }
  }
  for (const int count : counts) CHECK(count == doctest::Approx(250).epsilon(.2));
}

TEST_CASE("an MLP's loss on them falls, and its parameters change") {
  const Split split = digits({.train = 512, .test = 1});
  Sequential model(mlp({.hidden = {64}}));
  const std::vector<float> before = to_host(model.parameters()[0]->value);
  Sgd sgd(model.parameters(), {.learning_rate = 0.05});
  DataLoader loader(split.train, {.batch = 32});
  std::vector<double> losses;
  for (std::int64_t epoch = 0; epoch < 5; ++epoch) {
    loader.set_epoch(epoch);
    double sum = 0;
    for (std::int64_t i = 0; i < loader.size(); ++i) {
      Batch batch = loader.batch(i);
      Saved saved(batch.pass(Mode::kTraining));
      const Loss loss = cross_entropy(model.forward(std::move(batch.x), saved), batch.labels);
      zero_gradients(model.parameters());
      model.backward(loss.gradient, saved);
      sgd.step();
      sum += loss.sum;
    }
    losses.push_back(sum / 512);
  }
  CHECK(losses.front() > 1.5);  // log 10 = 2.3 is a guess
  CHECK(losses.back() < losses.front() / 3);
  CHECK(to_host(model.parameters()[0]->value) != before);
}

}  // namespace
}  // namespace rankbox
