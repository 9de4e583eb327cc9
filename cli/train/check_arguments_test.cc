// Mistakes that need no program: options, whole numbers, names.
#include "cli/train/check_arguments.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "cli/train/help.h"
#include "comm/errors.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

std::string complaint(const std::vector<std::string>& arguments) {
  try {
    check_train_arguments(arguments, kTrainHelp);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("what the program takes is accepted") {
  const std::vector<std::vector<std::string>> rows = {
      {},
      {"--ranks", "4", "--strategy", "zero3", "--model=transformer", "--overlap", "--json"},
      {"--ranks", "4", "--ranks=5", "--learning-rate", "0.05", "--data", "folder"},
      {"--keep-best", "--save", "a.ckpt"},
      {"--keep-best", "f1", "--save", "a.ckpt"},
      {"--bucket-mb", "0.5", "--cluster", "laptop", "--nodes", "2", "--no-timeline"},
      {"--learning-rate", "1e-3", "--momentum", ".9", "--weight-decay", "0"},
      {"--ranks", "0", "--seed", "-1"},  // whole numbers, whose ranges only the program knows
      {"--log", "steps.jsonl", "--quiet", "--seed", "0"},
  };
  for (const auto& row : rows) CHECK(complaint(row) == "");
}

TEST_CASE("a mistake is found without the program, and named") {
  const struct {
    std::vector<std::string> arguments;
    std::vector<std::string> parts;
  } rows[] = {
      {{"--rank", "4"}, {"--rank"}},
      {{"--ranks"}, {"--ranks"}},
      {{"--ranks", "four"}, {"--ranks", "'four': expects a whole number"}},
      {{"--learning-rate", "fast"}, {"--learning-rate", "'fast': expects a number"}},
      {{"--weight-decay", "0,1"}, {"--weight-decay", "'0,1': expects a number"}},
      {{"--epochs", "1.5"}, {"1.5", "whole number"}},
      {{"--model", "mpl"}, {"--model mpl", "mlp, convnet, transformer, moe"}},
      {{"--strategy", "zero9"}, {"--strategy zero9", "single, dp, ddp", "pipeline"}},
      {{"--json", "figures.json"}, {"figures.json"}},
      {{"--data="}, {"--data="}},
      {{"convnet"}, {"convnet"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.arguments);
    CHECK(testing::lacks(complaint(row.arguments), row.parts) == "");
  }
}

}  // namespace
}  // namespace rankbox::cli
