// Points, times, and text that others wrote.
#include "cli/grade/scheme.h"

#include <cstdlib>
#include <fstream>

#include <doctest/doctest.h>

#include "cli/grade/due_time.h"
#include "comm/errors.h"
#include "files/temporary_folder.h"

namespace rankbox::cli {
namespace {

Scheme scheme_from(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("points.toml")) << text;
  return read_scheme(folder.path("points.toml"));
}

/// Returns a verdict whose checks are "pass", "fail" or "skipped": p, f, s.
Verdict verdict_with(const std::string& checks, Status status = Status::kFail) {
  Verdict verdict;
  verdict.status = status;
  const char* names[] = {"values", "messages", "cost", "safety", "memory"};
  for (std::size_t i = 0; i < checks.size(); ++i) {
    Check check;
    check.name = names[i];
    if (checks[i] != 's') check.status = checks[i] == 'p' ? CheckStatus::kPass : CheckStatus::kFail;
    verdict.checks.push_back(check);
  }
  return verdict;
}

}  // namespace

TEST_CASE("the checks that pass decide about partial credit") {
  const Scheme usual;
  Scheme none;
  none.weights.clear();
  const Scheme one_weight = scheme_from("[weights]\nvalues = 1\n");
  const Scheme all_zero =
      scheme_from("[weights]\nvalues = 0\nmessages = 0\ncost = 0\nsafety = 0\nmemory = 0\n");
  struct Row {
    const Scheme* scheme;
    Verdict verdict;
    double share;
  };
  const Row rows[] = {
      {&usual, verdict_with("pppp", Status::kPass), 1},
      {&usual, verdict_with("pppss", Status::kPass), 1},
      {&usual, verdict_with("ppfs"), 0.6},
      {&usual, verdict_with("pfss"), 0.4},
      {&usual, verdict_with("fsss"), 0},
      {&usual, verdict_with("pfpp"), 0.4},  // right values by the messages of another algorithm
      {&usual, verdict_with("ppfpp"), 60.0 / 120},
      {&usual, verdict_with("ppppf"), 100.0 / 120},
      {&usual, verdict_with("ssss", Status::kNotImplemented), 0},
      {&usual, verdict_with("pppp", Status::kError), 0},
      {&none, verdict_with("ppfs"), 0},
      {&none, verdict_with("pppp", Status::kPass), 1},
      {&one_weight, verdict_with("pfss"), 1.0 / 61},
      {&one_weight, verdict_with("fsss"), 0},
      {&all_zero, verdict_with("pfss"), 0},
      {&all_zero, verdict_with("pppp", Status::kPass), 1},
      {&one_weight, verdict_with("pppp", Status::kPass), 1},
  };
  for (const Row& row : rows)
    CHECK(share_of(*row.scheme, row.verdict) == doctest::Approx(row.share));
}

TEST_CASE("points are the importance, or those of the file") {
  const Exercise& exercise = *find_exercise("broadcast_tree");
  CHECK(points_of({}, exercise) == exercise.importance);
  const Scheme scheme = scheme_from("partial = false\n[points]\nbroadcast_tree = 2.5\n");
  CHECK(points_of(scheme, exercise) == 2.5);
  CHECK(points_of(scheme, *find_exercise("race")) == 0);
  CHECK(scheme.weights.empty());
}

TEST_CASE("a mistake in the file of points names it") {
  for (const char* text :
       {"[points]\nbroadcast_tere = 1\n", "[points]\nrace = -1\n", "[points]\nrace = inf\n",
        "[points]\nrace = nan\n", "[points]\nrace = \"many\"\n", "points = 3\n",
        "[weights]\nstyle = 1\n", "partial = 1\n", "[grades]\n", "[points\n"}) {
    INFO(text);
    CHECK_THROWS_AS(scheme_from(text), InvalidArgument);
  }
  CHECK_THROWS_AS(read_scheme("/nowhere/points.toml"), InvalidArgument);
}

TEST_CASE("each day that has begun after the due time costs") {
  Scheme scheme;
  CHECK(days_late(scheme, 1'000'000) == 0);
  scheme.due = 1'000'000;
  scheme.penalty_percent = 30;
  struct Row {
    std::int64_t time;
    int days;
    double left;
  };
  for (const Row& row : {Row{999'999, 0, 1}, Row{1'000'000, 0, 1}, Row{1'000'001, 1, 0.7},
                         Row{1'086'400, 1, 0.7}, Row{1'086'401, 2, 0.4}, Row{1'300'000, 4, 0}}) {
    CHECK(days_late(scheme, row.time) == row.days);
    CHECK(share_after(scheme, row.days) == doctest::Approx(row.left));
  }
}

TEST_CASE("times are read as people write them") {
  setenv("TZ", "UTC", 1);
  struct Row {
    const char* text;
    std::int64_t seconds;
  };
  for (const Row& row :
       {Row{"2026-11-22T10:00:00Z", 1795341600}, Row{"2026-11-22T10:00:00+02:00", 1795334400},
        Row{"2026-11-22 10:00:00.123456 -0100", 1795345200}, Row{"2026-11-22T10:00", 1795341600},
        Row{"2026-11-22 10:00:00", 1795341600}, Row{"2026-11-22", 1795391999},
        Row{"2026-11-22 10:00 Z", 1795341600}}) {
    INFO(row.text);
    CHECK(parse_time(row.text).value_or(0) == row.seconds);
  }
  for (const char* text : {"", "tomorrow", "22.11.2026", "2026-13-01", "10:00:00", "20261122",
                           "2026-11-22T10:00:00Z\nx = 1"}) {
    INFO(text);
    CHECK(!parse_time(text));
  }
}

}  // namespace rankbox::cli
