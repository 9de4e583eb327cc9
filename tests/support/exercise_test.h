// The five tests that every exercise with messages has.
//
//   EXERCISE_TEST(Broadcast, broadcast_ring, "gives every rank the tensor of any src",
//                 "(p-1)(α + nβ)", "world_size=8,count=24", /*steps=*/7, /*bytes=*/672,
//                 /*reduced=*/0);
//
// makes test cases of the names
//
//   broadcast_ring gives every rank the tensor of any src
//   broadcast_ring receives every message as it was sent
//   broadcast_ring costs (p-1)(α + nβ)
//   broadcast_ring costs, where world_size=8,count=24: 7 steps, 672 bytes, 0 reduced
//   broadcast_ring depends neither on buffers nor on timing
//
// One judgement, over all world sizes, counts and the rest, answers all but the fourth. That one
// runs a single case and compares it with figures worked out by hand.
#pragma once

#include <doctest/doctest.h>

#include "tests/support/expect.h"
#include "verdict/judge.h"

/// The same for those whose family knows the costs itself: native collectives', on the sandbox's usual
/// cluster.
///
///   TRAINING_EXERCISE_TEST(ExactMetrics, exact_metrics, …)
///
/// @param Family   what judges it: a class of verdict/
/// @param function the exercise; its closed form is the function of that name in rankbox::cost
/// @param result   what it does, to follow its name
/// @param formula  the closed form in words
/// @param example  a case as verdict/case.h writes it, and what it costs
///
/// Once per file, in namespace rankbox.
#define EXERCISE_TEST(Family, function, result, formula, example, steps, bytes, reduced)      \
  RANKBOX_EXERCISE_TEST(Family(function, cost::function), function, result, formula, example, \
                        steps, bytes, reduced)
#define TRAINING_EXERCISE_TEST(Family, function, result, formula, example, steps, bytes, reduced) \
  RANKBOX_EXERCISE_TEST(Family(function), function, result, formula, example, steps, bytes, reduced)

#define RANKBOX_EXERCISE_TEST(made_subject, function, result, formula, example, steps, bytes,    \
                              reduced)                                                           \
  namespace {                                                                                    \
  const Subject& subject() {                                                                     \
    static const auto made = made_subject;                                                       \
    return made;                                                                                 \
  }                                                                                              \
  const Verdict& verdict() {                                                                     \
    static const Verdict judged = judge(#function, subject());                                   \
    return judged;                                                                               \
  }                                                                                              \
  TEST_CASE(#function " " result) { expect_pass(verdict(), "values"); }                          \
  TEST_CASE(#function " receives every message as it was sent") {                                \
    expect_pass(verdict(), "messages");                                                          \
  }                                                                                              \
  TEST_CASE(#function " costs " formula) { expect_pass(verdict(), "cost"); }                     \
  TEST_CASE(#function " costs, where " example ": " #steps " steps, " #bytes " bytes, " #reduced \
                      " reduced") {                                                              \
    expect_cost(subject(), example, {steps, bytes, reduced});                                    \
  }                                                                                              \
  TEST_CASE(#function " depends neither on buffers nor on timing") {                             \
    expect_pass(verdict(), "safety");                                                            \
  }                                                                                              \
  }                                                                                              \
  static_assert(true, "takes the semicolon")
