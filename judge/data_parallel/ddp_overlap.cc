// Judges ddp_overlap: gradients of the whole batch, correct buckets, and maximal overlap of
// communication with backward.
//
// Backward passes of the judged model take virtual time, so the virtual clock shows the overlap: it
// must stop at exactly max(backward, finish_last). Wall-clock time is not involved.
#include "parallel/ddp_overlap.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/checks.h"
#include "judge/data_parallel/buckets.h"
#include "judge/salt.h"
#include "judge/training/known_mistakes.h"
#include "judge/training/native_calls.h"
#include "judge/training/small_training.h"
#include "judge/training/watched_layer.h"
#include "judge/training_families.h"
#include "sim/clock/native_cost.h"
#include "training/cross_entropy.h"
#include "training/sequential.h"

namespace rankbox {

namespace {

using Function = decltype(&ddp_overlap);

constexpr std::int64_t kHidden = 9;
constexpr float kBound = 3e-6f;  // of a gradient: the order of additions differs

int rounds_in(const Case& example) { return std::max(1, *example.steps); }

/// The backward pass of one layer.
struct Work {
  double seconds = 0;
  std::vector<std::int64_t> sizes;  // elements of its parameters
};

/// An activation takes little time. A linear layer takes about as long as an all-reduce of its
/// gradients.
Work work_of(Layer& layer) {
  Work work{2e-7, {}};
  for (const Parameter* parameter : layer.parameters()) {
    work.sizes.push_back(parameter->value.size());
    work.seconds += 4e-7 + 4e-10 * static_cast<double>(parameter->value.bytes());
  }
  return work;
}

std::vector<Work> work_in(const Case& example) {
  std::vector<Work> all;
  for (const auto& recipe : deeper_model(*example.count)) all.push_back(work_of(*recipe.make()));
  return all;
}

/// Adds layers whose backward takes virtual time.
void add_timed_layers(Sequential& model, const Case& example, Comm& dist) {
  for (const auto& recipe : deeper_model(*example.count)) {
    std::unique_ptr<Layer> layer = recipe.make();
    const double seconds = work_of(*layer).seconds;
    const auto spend = [&dist, seconds](const Layer& /*layer*/, bool is_backward) {
      if (is_backward) dist.compute(seconds);
    };
    model.add(recipe.name, std::make_unique<WatchedLayer>(std::move(layer), spend));
  }
  model.omit_input_gradient();
}

std::vector<std::int64_t> sizes_in(const Case& example) {
  std::vector<std::int64_t> all;
  for (const Work& work : work_in(example))
    all.insert(all.end(), work.sizes.begin(), work.sizes.end());
  return all;
}

/// The times of one pass.
struct Schedule {
  double backward = 0;  // its end
  double finish = 0;    // the end of the last bucket, or of backward if that is later

  double exposed() const { return finish - backward; }
};

/// The moment at which a program starts a bucket.
enum class Start {
  kAsSoonAsReady,    // its last gradient is available
  kWhenNextIsReady,  // the first gradient of the next bucket is available
  kAfterBackward,
};

Schedule schedule_of(const Case& example, Start start) {
  const std::vector<Work> layers = work_in(example);
  Schedule schedule;
  std::vector<double> ready;  // of parameters, from the last to the first
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    schedule.backward += layer->seconds;
    ready.insert(ready.end(), layer->sizes.size(), schedule.backward);
  }
  for (const Bucket& bucket : packed(sizes_in(example), *example.bucket_bytes)) {
    std::size_t awaited = ready.size() - 1 - bucket.first;
    if (start == Start::kWhenNextIsReady) awaited = std::min(awaited + 1, ready.size() - 1);
    if (start == Start::kAfterBackward) awaited = ready.size() - 1;
    const auto bytes = static_cast<double>(bucket.elements * kElementBytes);
    schedule.finish =
        std::max(schedule.finish, ready[awaited]) +
        cost::native_seconds({CollectiveKind::kAllReduce, example.world_size, 1, bytes}, Cluster());
  }
  schedule.finish = std::max(schedule.finish, schedule.backward);
  return schedule;
}

bool is_same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(a); }

Hint hint_for(const Case& example, double seconds) {
  if (is_same(seconds, schedule_of(example, Start::kAfterBackward).finish)) {
    return {"nothing-overlaps",
            "nothing is hidden: start a bucket with all_reduce_async while backward goes on, and "
            "wait for none of them before the end"};
  }
  if (is_same(seconds, schedule_of(example, Start::kWhenNextIsReady).finish)) {
    return {"bucket-starts-late",
            "a bucket leaves only when the next gradient does not fit: sizes are known before, so "
            "plan which gradient is its last"};
  }
  return {"start-when-complete",
          "start a bucket as soon as its last gradient is there, and wait for none before the end"};
}

std::vector<Case> cases() {
  std::vector<Case> some;
  for (const std::int64_t count : {std::int64_t{2}, kHidden, std::int64_t{97}}) {
    // Each gradient alone; some together; all together.
    for (const std::int64_t bytes :
         {std::int64_t{1}, 8 * count * kElementBytes, std::int64_t{1} << 40})
      some.push_back({.count = count, .steps = 0, .bucket_bytes = bytes});
  }
  if (salt() != 0)
    some.push_back({.count = kHidden, .steps = 0, .bucket_bytes = drawn("bucket", 0, 5, 1500)});
  some.push_back({.count = kHidden, .steps = 20, .bucket_bytes = 8 * kHidden * kElementBytes});
  return cases_with_each(some);
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size();
  std::int64_t left_over = 0;
  const auto add_averaged = [&](Sequential& model, const Batch& mine) {
    Saved saved(mine.pass(Mode::kTraining));
    Loss loss = cross_entropy(model.forward(mine.x, saved), mine.labels);
    function(dist, model, std::move(loss.gradient), saved, *example.bucket_bytes);
    left_over = saved.bytes();
  };
  Sequential model;
  add_timed_layers(model, example, dist);
  Sequential alone(deeper_model(*example.count));
  if (*example.steps > 0) {
    train_together(model, dist.rank(), p, *example.steps, add_averaged);
    train_alone(alone, p, *example.steps);
    return compare_tensors(
        values_of(model.parameters()), values_of(alone.parameters()), kTrainingBound, {},
        {"trains-as-one-rank", "one rank with the whole batch gets there in 20 steps"});
  }

  const Batch whole = small_batch(p, 0);
  add_averaged(model, part_of(whole, dist.rank(), p));
  if (left_over > 0) {
    return Difference{"what forward has saved",
                      -1,
                      "all of it popped by backward",
                      fmt::format("{} bytes left over", left_over),
                      {"pop-from-saved", "pop it from `saved` itself"}};
  }
  add_gradients(alone, whole);
  const auto made = [&](int first, int last, double weight) {
    return [=, &whole, &example] {
      std::vector<Weighted> parts;
      for (int rank = first; rank < last; ++rank)
        parts.push_back({part_of(whole, rank, p), weight});
      Sequential other(deeper_model(*example.count));
      add_weighted_gradients(other, parts);
      return gradients_of(other);
    };
  };
  return compare_tensors(
      gradients_of(model), gradients_of(alone), kBound,
      {{{"own-gradient-alone", "that is this rank's own gradient: the others' are missing"},
        made(dist.rank(), dist.rank() + 1, 1)},
       {{"sum-not-mean", "that is the sum of all ranks' gradients: their mean is wanted"},
        made(0, p, 1)}},
      {"is-bucket-complete",
       "the mean of all ranks' gradients: is every bucket complete when it is sent, and is "
       "it copied back after it has come?"});
}

NativeCalls calls(const Case& example) {
  const auto buckets = sizes_of(packed(sizes_in(example), *example.bucket_bytes));
  return repeated(rounds_in(example), calls_of(CollectiveKind::kAllReduce, buckets));
}

std::optional<Difference> compare_schedule(const RunReport& report, const Case& example) {
  const int rounds = rounds_in(example);
  if (auto wrong = compare_buckets(report.trace, sizes_in(example), *example.bucket_bytes, rounds))
    return wrong;

  const Schedule best = schedule_of(example, Start::kAsSoonAsReady);
  const double seconds = report.virtual_seconds / rounds;
  if (is_same(best.finish, seconds)) return std::nullopt;
  Hint hint = hint_for(example, seconds);
  hint.text = fmt::format("backward takes {:.4g} µs; {}", best.backward * 1e6, hint.text);
  return Difference{"exposed communication",
                    -1,
                    fmt::format("{:.4g} µs", best.exposed() * 1e6),
                    fmt::format("{:.4g} µs", (seconds - best.backward) * 1e6),
                    hint,
                    0};
}

/// Says how much of the communication backward hides, in the case that was chosen for it.
std::string remark_on_overlap(const std::function<double(const Case&)>& seconds_of) {
  const Case example = {
      .world_size = 8, .count = kHidden, .steps = 0, .bucket_bytes = 8 * kHidden * kElementBytes};
  const double backward = schedule_of(example, Start::kAsSoonAsReady).backward;
  const double exposed = seconds_of(example) - backward;
  const double without = schedule_of(example, Start::kAfterBackward).exposed();
  return fmt::format(
      "exposed communication: {:.4g} µs after a backward of {:.4g} µs; without overlap {:.4g} µs "
      "({})",
      exposed * 1e6, backward * 1e6, without * 1e6, to_string(example));
}

}  // namespace

Family family::ddp_overlap() {
  Subject subject =
      subject_with_calls(cases, calls, {check_of(FailureKind::kCost, compare_schedule)});
  subject.remark = remark_on_overlap;
  return make_family<Function>(
      "ddp_overlap",
      "(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::int64_t bucket_bytes)",
      subject, run);
}

}  // namespace rankbox
