// What was saved is loaded, bit for bit; whatever else lies there is refused, and changes nothing.
#include "training/checkpoint.h"

#include <csignal>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/errors.h"
#include "compute/portable.h"
#include "files/temporary_folder.h"
#include "tests/support/run_tests.h"
#include "tests/support/thrown.h"
#include "training/adam.h"
#include "training/models/mlp.h"
#include "training/sequential.h"

namespace rankbox::testing {
namespace {

namespace fs = std::filesystem;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A little of everything. Not to be moved: the state points into it.
struct Run {
  std::int64_t step;
  NamedTensor weight{"weight", full({2, 3}, 0.0f)};
  TensorOf<double> wide = full<double>(2, 0.0);
  NamedTensor none{"none", Tensor()};
  TrainingState state;

  explicit Run(std::int64_t at) : step(at) {
    std::vector<float> values;
    for (int i = 0; i < 6; ++i)
      values.push_back(static_cast<float>(at) + 0.1f * static_cast<float>(i));
    copy(weight.value, from_host(values));
    copy(wide, from_host({0.0, static_cast<double>(at) / 3}));
    state.model = "tiny 2x3";
    state.numbers = {{"step", &step}};
    add_tensors(state, {&weight, &none});
    state.tensors.emplace_back("wide", wide);
  }
  Run(const Run&) = delete;

  bool operator==(const Run& other) const {
    return step == other.step && to_host(weight.value) == to_host(other.weight.value) &&
           to_host(wide) == to_host(other.wide);
  }
};

/// What an error says.
template <class Call>
std::string words_of(Call call) {
  try {
    call();
  } catch (...) {
    return what_of(std::current_exception());
  }
  return what_of(nullptr);
}

std::string refusal(const std::string& path, const TrainingState& state) {
  return words_of([&] { load_checkpoint(path, state); });
}

TEST_CASE("what was saved is loaded, bit for bit, over what was there before") {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.ckpt");
  for (std::int64_t step : {7, 1'000'000'007}) {
    const Run saved(step);
    save_checkpoint(path, saved.state);
    Run loaded(1);
    load_checkpoint(path, loaded.state);
    CHECK(loaded == saved);
    CHECK(!fs::exists(path + ".part"));
  }
}

TEST_CASE("a model and its optimizer go on as if nothing had happened") {
  const TemporaryFolder folder;
  struct Training {
    Sequential model{mlp({.inputs = 3, .hidden = {4}, .classes = 2})};
    Adam optimizer{model.parameters()};
    TrainingState state{.model = "mlp"};
    Training() {
      add_parameters(state, model.parameters());
      add_tensors(state, optimizer.state());
    }
    void step() {
      for (Parameter* p : model.parameters()) {
        std::vector<float> values = to_host(p->value);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] -= 0.5f * static_cast<float>(i);
        copy(gradient_of(*p), from_host(values));
      }
      optimizer.step();
    }
  };
  Training whole;
  for (int i = 0; i < 3; ++i) whole.step();
  save_checkpoint(folder.path("c"), whole.state);
  for (int i = 0; i < 3; ++i) whole.step();

  Training resumed;
  load_checkpoint(folder.path("c"), resumed.state);
  for (int i = 0; i < 3; ++i) resumed.step();
  for (std::size_t i = 0; i < whole.model.parameters().size(); ++i) {
    CHECK(to_host(resumed.model.parameters()[i]->value) ==
          to_host(whole.model.parameters()[i]->value));
  }
}

TEST_CASE(
    "cut at any byte, longer by one, or with any bit changed, it is refused, and changes nothing") {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.ckpt");
  const Run saved(7);
  save_checkpoint(path, saved.state);
  const std::string bytes = read(path);
  const Run before(1);
  const auto check_refused = [&](const std::string& broken) {
    write(path, broken);
    Run loaded(1);
    CHECK_THROWS_AS(load_checkpoint(path, loaded.state), InvalidArgument);
    CHECK(loaded == before);
  };
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    check_refused(bytes.substr(0, length));
  }
  check_refused(bytes + '\0');
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    CAPTURE(at);
    std::string broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ (1 << at % 8));
    check_refused(broken);
  }
  write(path, bytes.substr(0, bytes.size() - 3));
  Run loaded(1);
  CHECK(contains(refusal(path, loaded.state), path));
}

TEST_CASE("a checkpoint of something else is refused: the error names what differs") {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.ckpt");
  save_checkpoint(path, Run(7).state);

  Run other(1);
  other.state.model = "conv_net";
  CHECK(lacks(refusal(path, other.state), {"\"tiny 2x3\"", "\"conv_net\""}) == "");

  Run renamed(1);
  renamed.state.tensors[0].first = "bias";
  CHECK(lacks(refusal(path, renamed.state), {"\"bias\"", "\"weight\""}) == "");

  Run larger(1);
  const Tensor nine = zeros(9);
  larger.state.tensors[0].second = nine;
  CHECK(lacks(refusal(path, larger.state), {"\"elements\":9", "\"elements\":6"}) == "");

  Run fewer(1);
  fewer.state.tensors.pop_back();
  CHECK(contains(refusal(path, fewer.state), path));

  Run counted(1);
  std::int64_t epoch = 3;
  counted.state.numbers.emplace_back("epoch", &epoch);
  CHECK(contains(refusal(path, counted.state), "epoch"));

  write(path, "PK\x03\x04 something else altogether");
  CHECK(contains(refusal(path, Run(1).state), path));
  CHECK(contains(refusal(folder.path("nowhere"), Run(1).state), "nowhere"));
}

TEST_CASE("what cannot be written leaves the old checkpoint, and says why") {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.ckpt");
  save_checkpoint(path, Run(7).state);
  fs::create_directory(path + ".part");  // in the way
  const std::string why = words_of([&] { save_checkpoint(path, Run(8).state); });
  CHECK(contains(why, path));
  CHECK(contains(why, "Is a directory"));
  Run loaded(1);
  load_checkpoint(path, loaded.state);
  CHECK(loaded.step == 7);
  CHECK_THROWS_AS(save_checkpoint(folder.path("no/such/folder"), Run(8).state), Error);
}

TEST_CASE("killed 100 times at random moments: all that was saved is there") {
  if (kOnGpu) return pass_over("a forked process cannot use its parent's GPU");
  const TemporaryFolder folder;
  const std::string path = folder.path("run.ckpt");
  std::uint32_t random = 1;
  std::int64_t step = 0;
  save_checkpoint(path, Run(step).state);
  for (int round = 0; round < 100; ++round) {
    int told[2];
    REQUIRE(pipe(told) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      // Nothing that would run the parent's ends of things, should it fail.
      for (std::int64_t next = step + 1;; ++next) {
        save_checkpoint(path, Run(next).state);
        if (::write(told[1], &next, sizeof next) != sizeof next) _exit(1);
      }
    }
    close(told[1]);
    random = random * 1664525 + 1013904223;
    std::int64_t confirmed = step;
    REQUIRE(::read(told[0], &confirmed, sizeof confirmed) == sizeof confirmed);
    usleep(random >> 20);  // up to 4 ms: a few times saved, and the middle of another
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (std::int64_t next = 0; ::read(told[0], &next, sizeof next) == sizeof next;)
      confirmed = next;
    close(told[0]);

    Run loaded(-1);
    load_checkpoint(path, loaded.state);
    CHECK(loaded.step >= confirmed);
    CHECK(loaded.step <= confirmed + 1);
    CHECK(loaded == Run(loaded.step));
    step = loaded.step;
  }
  CHECK(step >= 100);
}

}  // namespace
}  // namespace rankbox::testing
