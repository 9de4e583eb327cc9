// The command line: meanings of options, and rejected options.
#include "cli/train/options.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/train/backend.h"
#include "comm/errors.h"
#include "files/temporary_folder.h"
#include "tests/support/text.h"
#include "training/data/digits.h"
#include "training/data/idx.h"
#include "training/run/session.h"

namespace rankbox::train {
namespace {

using Words = std::vector<std::string>;

Request parse(Words options) {
  options.insert(options.begin(), "rankbox-train");
  return parse_options(options);
}

/// Returns the error before ranks are started.
std::string complaint(const Words& options) {
  try {
    const Plan plan = parse(options).plan;
    check_plan(plan, model_kind(plan.model).make(plan).data.train.size());
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("defaults are the model's, for one rank") {
  const Request request = parse({});
  const Plan& plan = request.plan;
  CHECK(plan.model == "mlp");
  CHECK(plan.strategy == "single");
  CHECK(plan.ranks == 1);
  CHECK(plan.nodes == 1);
  CHECK(plan.epochs == 3);
  CHECK(plan.batch == 64);
  CHECK(plan.optimizer == OptimizerKind::kSgd);
  CHECK(plan.learning_rate == 0.05);
  CHECK(plan.accumulate == 1);
  CHECK(plan.momentum == 0.9);
  CHECK(plan.weight_decay == 0);
  CHECK(plan.warmup_steps == 0);
  CHECK(plan.decay == Decay::kConstant);
  CHECK(plan.eval_every == 0);
  CHECK(plan.keep_best == BestBy::kNothing);
  CHECK(plan.seed == 1);
  CHECK(plan.samples == 0);
  CHECK(plan.data.empty());
  CHECK(plan.save.empty());
  CHECK_FALSE(plan.resume);
  CHECK_FALSE(request.json);
  CHECK_FALSE(request.quiet);
  CHECK_FALSE(request.timeline);
  CHECK(parse({"--model", "transformer"}).plan.optimizer == OptimizerKind::kAdam);
  CHECK(parse({"--model", "convnet"}).plan.learning_rate == 0.01);
  CHECK(parse({"--model", "convnet", "--optimizer", "adam"}).plan.learning_rate == 0.001);
}

TEST_CASE("several ranks train with ddp unless something else is said, and are drawn") {
  const Request request = parse({"--ranks", "4", "--nodes", "2", "--cluster", "h100-efa"});
  CHECK(request.plan.strategy == "ddp");
  CHECK(request.plan.ranks == 4);
  CHECK(request.plan.nodes == 2);
  CHECK(request.plan.cluster.name == "h100-efa");
  CHECK(request.timeline);
  CHECK(parse({"--strategy", "ddp"}).plan.strategy == "ddp");
  for (const char* without : {"--json", "--quiet", "--no-timeline"})
    CHECK_FALSE(parse({"--ranks", "4", without}).timeline);
  CHECK(parse({"--timeline"}).timeline);
}

TEST_CASE("every option arrives") {
  const Request request =
      parse({"--model", "convnet",     "--epochs=7", "--batch", "96",       "--learning-rate",
             "1e-3",    "--optimizer", "adam",       "--seed",  "5",        "--samples",
             "123",     "--data",      "folder",     "--save",  "run.ckpt", "--save-every",
             "9",       "--resume",    "--json",     "--quiet"});
  const Plan& plan = request.plan;
  CHECK(plan.model == "convnet");
  CHECK(plan.epochs == 7);
  CHECK(plan.batch == 96);
  CHECK(plan.learning_rate == 0.001);
  CHECK(plan.optimizer == OptimizerKind::kAdam);
  CHECK(plan.seed == 5);
  CHECK(plan.samples == 123);
  CHECK(plan.data == "folder");
  CHECK(plan.save == "run.ckpt");
  CHECK(plan.save_every == 9);
  CHECK(plan.resume);
  CHECK(request.json);
  CHECK(request.quiet);
  CHECK(parse({"--epochs", "2", "--epochs", "3"}).plan.epochs == 3);  // the last one wins

  const Request more = parse({"--accumulate", "3", "--momentum", "0.5", "--weight-decay", "1e-2",
                              "--decay", "cosine", "--eval-every", "7", "--keep-best", "f1",
                              "--save", "run.ckpt", "--log", "log", "--warmup-steps", "9"});
  CHECK(more.plan.accumulate == 3);
  CHECK(more.plan.momentum == 0.5);
  CHECK(more.plan.weight_decay == 0.01);
  CHECK(more.plan.decay == Decay::kCosine);
  CHECK(more.plan.warmup_steps == 9);
  CHECK(more.plan.eval_every == 7);
  CHECK(more.plan.keep_best == BestBy::kF1);
  CHECK(more.log == "log");
  CHECK(parse({"--save", "run.ckpt", "--keep-best"}).plan.keep_best == BestBy::kAccuracy);
  CHECK(parse({"--keep-best", "--save", "run.ckpt"}).plan.keep_best == BestBy::kAccuracy);
}

TEST_CASE("a mistake is one line that names it, and the fix") {
  const struct {
    Words options;
    const char* named;
    const char* fix;
  } table[] = {
      {{"--ranks", "2", "--strategy", "single"}, "--ranks 2", "--strategy ddp"},
      {{"--strategy", "dpp"}, "--strategy dpp", "single, dp, ddp"},
      {{"--strategy", "zero9", "--ranks", "2"}, "--strategy zero9", "single, dp, ddp"},
      {{"--model", "resnet"}, "--model resnet", "mlp, convnet, transformer, moe"},
      {{"--optimizer", "lion"}, "--optimizer lion", "sgd, adam"},
      {{"--strategy", "dp", "--model", "transformer"}, "--model transformer", "ddp"},
      {{"--precision", "fp8"}, "--precision fp8", "fp32, mixed, bf16"},
      {{"--ranks", "4", "--batch", "2", "--samples", "50"}, "--batch 2", "--batch 4"},
      {{"--ranks", "4", "--batch", "10", "--samples", "50"}, "--batch 10", "8 or 12"},
      {{"--ranks", "8", "--samples", "5"}, "--ranks 8", "5"},
      {{"--batch", "64", "--samples", "50"}, "--batch 64", "--batch 50"},
      {{"--epochs", "0"}, "--epochs", "1 to"},
      {{"--epochs", "some"}, "--epochs", "1 to"},
      {{"--batch", "0"}, "--batch", "1 to"},
      {{"--batch", "-4"}, "--batch", "1 to"},
      {{"--ranks", "0"}, "--ranks", "1 to"},
      {{"--samples", "0"}, "--samples", "1 to"},
      {{"--seed", "-1"}, "--seed", "0 to"},
      {{"--learning-rate", "-0.1"}, "--learning-rate -0.1", "--learning-rate"},
      {{"--learning-rate", "0"}, "--learning-rate 0", "--learning-rate"},
      {{"--learning-rate", "nan"}, "--learning-rate nan", "--learning-rate"},
      {{"--learning-rate", "inf"}, "--learning-rate inf", "--learning-rate"},
      {{"--learning-rate", "fast"}, "--learning-rate fast", "--learning-rate"},
      {{"--accumulate", "0"}, "--accumulate", "1 to"},
      {{"--accumulate", "4", "--samples", "130"}, "--accumulate 4", "--accumulate 2"},
      // Their product, or the next multiple of the ranks, does not fit in 64 bits.
      {{"--batch", "9223372036854775807", "--accumulate", "1000000"}, "--batch 922", "--batch 2"},
      {{"--batch", "9223372036854775807", "--ranks", "4"}, "--batch 922", "samples to train with"},
      {{"--momentum", "1"}, "--momentum 1", "below 1"},
      {{"--momentum", "0.5", "--optimizer", "adam"}, "--momentum 0.5", "--optimizer sgd"},
      {{"--weight-decay", "-1"}, "--weight-decay -1", "from 0"},
      {{"--weight-decay", "nan"}, "--weight-decay nan", "from 0"},
      {{"--clip-norm", "0"}, "--clip-norm 0", "from 1e-6 to 1e30"},
      {{"--clip-norm", "inf"}, "--clip-norm inf", "from 1e-6 to 1e30"},
      {{"--decay", "step"}, "--decay step", "constant, linear, cosine"},
      {{"--warmup-steps", "7", "--samples", "130"}, "--warmup-steps 7", "6 steps"},
      {{"--warmup-steps", "-1"}, "--warmup-steps", "0 to"},
      {{"--eval-every", "0"}, "--eval-every", "1 to"},
      {{"--keep-best", "f1"}, "--keep-best", "--save FILE"},
      {{"--keep-best", "loss", "--save", "x"}, "--keep-best loss", "accuracy, f1"},
      {{"--keep-best", "", "--save", "x"}, "--keep-best", "empty"},
      {{"--keep-best=", "--save", "x"}, "--keep-best", "empty"},
      {{"--log", ""}, "--log", "empty"},
      {{"--resume"}, "--resume", "--save FILE"},
      {{"--save-every", "5"}, "--save-every", "--save FILE"},
      {{"--data", "/no/such/folder"}, "--data /no/such/folder", "--data"},
      {{"--data", "/"}, "/train-", "/train-"},
      {{"--model", "transformer", "--data", "/"}, "/train.csv", "/train.csv"},
      {{"--nodes", "3", "--ranks", "2"}, "--nodes 3", "1 to 2"},
      {{"--mine", "zero1=zero1.cc"}, "--mine zero1=zero1.cc", "./rankbox train"},
      {{"--all-reduce", "star"}, "--all-reduce star", "native, naive, tree"},
      {{"--bucket-mb", "0"}, "--bucket-mb 0", "above 0"},
      {{"--bucket-mb", "1", "--strategy", "zero1"}, "--bucket-mb", "--strategy ddp"},
      {{"--overlap"}, "--overlap", "--strategy ddp"},
      {{"--overlap", "--strategy", "ddp", "--all-reduce", "ring"}, "--overlap", "leave one"},
      {{"--overlap", "--strategy", "ddp", "--accumulate", "2"}, "--accumulate 2", "--bucket-mb"},
      {{"--nodes", "0"}, "--nodes 0", "1 to 1"},
      {{"--cluster", "abacus"}, "abacus", "laptop"},
      {{"--timeline", "--no-timeline"}, "--timeline", "--timeline"},
      {{"--timeline", "--json"}, "--timeline", "--timeline"},
      {{"--save", ""}, "--save", "empty"},
      {{"--data="}, "--data=", "empty"},
      {{"--what"}, "--what", "--help"},
      {{"8"}, "8", "--help"},
  };
  for (const auto& row : table) {
    CAPTURE(fmt::format("{}", fmt::join(row.options, " ")));
    const std::string line = complaint(row.options);
    CAPTURE(line);
    CHECK(testing::lacks(line, {row.named, row.fix}) == "");
    CHECK(line.find('\n') == std::string::npos);
  }
}

TEST_CASE("what is possible is not refused") {
  for (const Words& options :
       {Words{"--ranks", "4", "--batch", "8", "--samples", "8"},
        Words{"--ranks", "3", "--batch", "3", "--samples", "3"},
        Words{"--batch", "1", "--samples", "1"},
        Words{"--model", "transformer", "--ranks", "2", "--samples", "40"}}) {
    CAPTURE(fmt::format("{}", fmt::join(options, " ")));
    CHECK(complaint(options).empty());
  }
}

TEST_CASE("MNIST's files are read, cut to --samples, and refused if they hold fewer") {
  const TemporaryFolder folder;
  for (const char* part : {"train", "t10k"}) {
    std::vector<std::uint8_t> labels;
    write_idx_images(folder.path(std::string(part) + "-images-idx3-ubyte"),
                     draw_digits(40, 3, labels));
    write_idx_labels(folder.path(std::string(part) + "-labels-idx1-ubyte"), labels);
  }
  Plan plan;
  plan.data = folder.path("");
  CHECK(model_kind("mlp").make(plan).data.train.size() == 40);
  plan.samples = 30;
  const Task task = model_kind("convnet").make(plan);
  CHECK(task.data.train.size() == 30);
  CHECK(task.data.train.values.size() == 30 * 28 * 28);
  CHECK(task.data.test.size() == 40);
  CHECK(complaint({"--data", plan.data, "--samples", "41"}).find("--samples 41: ") == 0);

  // Images that the ConvNet rejects.
  write_idx_images(folder.path("train-images-idx3-ubyte"),
                   {6, 10, std::vector<std::uint8_t>(40 * 60)});
  CHECK_FALSE(complaint({"--data", plan.data}).empty());
  write_idx_images(folder.path("t10k-images-idx3-ubyte"),
                   {6, 10, std::vector<std::uint8_t>(40 * 60)});
  CHECK(complaint({"--data", plan.data, "--batch", "8"}).empty());
  CHECK(complaint({"--data", plan.data, "--model", "convnet"}).find("6 x 10") != std::string::npos);
}

TEST_CASE("texts are read from CSV files, and what is wrong with them is one line") {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder.path(name)) << text;
  };
  write("train.csv", "id,text,label\n1,very good,yes\n2,very bad,no\n3,rather good,yes\n");
  write("test.csv", "text,label\n\"good, new\",yes\nunheard of,perhaps\n");
  Plan plan = parse({"--model", "transformer", "--data", folder.path("")}).plan;
  const Task task = model_kind("transformer").make(plan);
  CHECK(task.data.train.size() == 3);
  CHECK(task.data.train.labels == std::vector<std::int32_t>{1, 0, 1});  // "no" is class 0
  CHECK(task.data.test.size() == 1);  // of a known class; the description names the other
  CHECK(testing::lacks(task.data_name, {"1 test samples", "1 more", "perhaps"}) == "");
  CHECK(task.data.train.classes == 2);

  plan.samples = 4;
  CHECK(complaint({"--model", "transformer", "--data", plan.data, "--samples", "4"})
            .find("--samples 4: ") == 0);
  write("train.csv", "text,label\nall the same,yes\n");
  CHECK(testing::contains(complaint({"--model", "transformer", "--data", plan.data}), "label"));
  write("train.csv", "words,label\na,yes\nb,no\n");
  CHECK(complaint({"--model", "transformer", "--data", plan.data}).find("\"text\"") !=
        std::string::npos);
}

TEST_CASE("the help lists models and strategies that exist, and no others") {
  const Request request = parse({"--help"});
  CHECK(request.shows_help);
  for (const char* part : {"mlp ", "convnet ", "transformer ", "\n  single ", "\n  ddp ",
                           "\n  zero3 ", "--save-every", "mpirun --host one:4,two:4 ", "Ctrl-C"}) {
    CAPTURE(part);
    CHECK(request.help.find(part) != std::string::npos);
  }
  for (const char* other : {"zero9", "zero4"}) {
    CAPTURE(other);
    CHECK(request.help.find(other) == std::string::npos);
  }
  // What ./rankbox train prints. To renew it: rankbox-train-sim --help > cli/train/help.txt
  std::ifstream file("cli/train/help.txt");
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == request.help);
}

}  // namespace
}  // namespace rankbox::train
