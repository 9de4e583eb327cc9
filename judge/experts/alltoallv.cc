// Judges alltoallv: counts, rows in the order of their ranks, and two exchanges.
#include "parallel/alltoallv.h"

#include <algorithm>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/salt.h"
#include "judge/traffic.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&alltoallv);

constexpr std::int64_t kToOneRank = 3;    // the last rank gets all rows
constexpr std::int64_t kFirstIsIdle = 4;  // rank 0 has none for others

std::vector<Case> cases() {
  std::vector<Case> some;
  for (const std::int64_t most : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, kToOneRank,
                                  kFirstIsIdle, drawn("rows", 7, 5, 12)})
    some.push_back({.count = most});
  return cases_with_each(some);
}

/// Numbers of a row.
std::int64_t width_of(const Case& example) { return 1 + *example.count % 4; }

/// Rows for each rank: at most `count`, and none at all for some.
Traffic traffic_in(const Case& example) {
  const int p = example.world_size;
  const std::int64_t most = *example.count;
  return traffic_of(p, [&](int src, int dst) -> std::int64_t {
    if (most == kToOneRank) return dst == p - 1 ? most : 0;
    if (most == kFirstIsIdle && src == 0) return 0;
    return salted("rows of a pair")
        .stream(static_cast<std::uint64_t>(most))
        .stream(static_cast<std::uint64_t>(std::int64_t{src} * p + dst))
        .below(most + 1);
  });
}

std::optional<Difference> compare_counts(const std::vector<std::int64_t>& actual,
                                         const std::vector<std::int64_t>& expected,
                                         const std::vector<std::int64_t>& sent,
                                         std::int64_t width) {
  const auto number = static_cast<std::int64_t>(expected.size());
  if (auto wrong = compare_size("receive_counts", std::ssize(actual), number)) return wrong;
  std::vector<std::int64_t> in_elements = expected;
  for (std::int64_t& count : in_elements) count *= width;
  Hint hint = {"counts-of-senders",
               "receive_counts[r] is what rank r has for this rank: send_counts of rank r says so"};
  if (actual == sent) {
    hint = {"own-counts",
            "that is what this rank sends: what others have for it, they alone know, so numbers "
            "must travel before the rows"};
  } else if (actual == in_elements) {
    hint = {"counts-in-elements", "that is elements: receive_counts are rows, of h elements each"};
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    return Difference{"receive_counts", static_cast<std::int64_t>(i), std::to_string(expected[i]),
                      std::to_string(actual[i]), hint};
  }
  return std::nullopt;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size(), rank = dist.rank();
  const Traffic traffic = traffic_in(example);
  const std::int64_t width = width_of(example);
  const std::vector<std::int64_t> sent = traffic.sent_by(rank);
  const Shape shape = {total(sent), width};
  const Tensor rows = from_host(to_host(elements_of(rank, shape.elements())), shape);
  Tensor received = poison(2);
  std::vector<std::int64_t> receive_counts = {-1};
  function(dist, rows, sent, received, receive_counts);

  const std::vector<std::int64_t> arrived = traffic.received_by(rank);
  if (auto wrong = compare_counts(receive_counts, arrived, sent, width)) return wrong;
  std::vector<float> expected;
  for (int src = 0; src < p; ++src) {
    const std::vector<std::int64_t> all = traffic.sent_by(src);
    std::int64_t at = width * total({all.begin(), all.begin() + rank});
    const std::int64_t end = at + width * all[static_cast<std::size_t>(rank)];
    for (; at < end; ++at) expected.push_back(element(src, at));
  }
  const std::int64_t size = std::ssize(expected);
  if (auto wrong = compare_moved("received", received, size, p, [&](std::int64_t i) {
        return expected[static_cast<std::size_t>(i)];
      }))
    return wrong;
  return compare_shape("received", received.shape(), {total(arrived), width});
}

NativeCalls calls(const Case& example, int rank) {
  // Numbers of 8 bytes are twice as many elements.
  return {{CollectiveKind::kAllToAll, 2 * example.world_size},
          {CollectiveKind::kAllToAllV, width_of(example) * traffic_in(example).busiest(rank)}};
}

}  // namespace

Family family::alltoallv() {
  Subject subject = subject_with_calls(cases, calls, {check_of_calls(calls)});
  subject.count_to_show = 16;
  return make_family<Function>(
      "alltoallv",
      "(Comm& dist, const Tensor& rows, const std::vector<std::int64_t>& send_counts, Tensor& "
      "received, std::vector<std::int64_t>& receive_counts)",
      subject, run);
}

}  // namespace rankbox
