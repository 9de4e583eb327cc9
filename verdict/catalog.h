// How the exercises of the registry are judged.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "exercises/registry.h"
#include "verdict/attempt.h"
#include "verdict/judge.h"
#include "verdict/message_graph.h"
#include "verdict/subject.h"
#include "verdict/verdict.h"

namespace rankbox {

/// Throws InvalidArgument with one line if an entry of the registry names a family, a cost or a
/// message rule that does not exist.
void check_registry();

/// "(Comm& dist, Tensor& tensor, int src)"
const char* parameters_of(const Exercise& exercise);

/// Whether the promised cost is that of the reference solution: then judging needs the solution.
bool is_cost_of_solution(const Exercise& exercise);

/// The function as its family judges it. With a null function it knows its cases and their cost, and
/// must not be run.
/// @param solution the reference solution; used where is_cost_of_solution()
std::unique_ptr<Subject> subject_of(const Exercise& exercise, AnyFunction function,
                                    AnyFunction solution = nullptr);

/// The smallest case that is judged.
Case first_case_of(const Exercise& exercise);

/// Of those that are judged, one of middling size: 8 ranks, if it can have as many.
Case typical_case_of(const Exercise& exercise);

/// Of elements, where nobody says how many.
std::int64_t count_to_show(const Exercise& exercise);

/// Whether there are messages to count, and to draw.
bool sends_messages(const Exercise& exercise);

/// Whether what it costs is a formula, known without the solution.
bool has_cost_form(const Exercise& exercise);

/// Of exercises whose ranks say what they compute: see Subject::idle_share.
std::optional<IdleShare> idle_share_of(const Exercise& exercise, const Case& example);

/// What the contract promises. REQUIRES: has_cost_form().
Cost cost_of(const Exercise& exercise, const Case& example);

/// Throws InvalidArgument unless `text` is a case of this exercise; see case.h.
void check_replay(const Exercise& exercise, const std::string& text);

/// Runs one case of a function as this exercise, once. See attempt.h.
/// REQUIRES: the function has the exercise's parameters and returns nothing.
Attempt attempt_exercise(const Exercise& exercise, AnyFunction function, const Case& example,
                         const RunOptions& how, const std::function<void()>& entering);

/// Judges a function as this exercise. See judge.h for what is checked.
/// REQUIRES: the function has the exercise's parameters and returns nothing.
/// @param solution as in subject_of(); without it a cost that is the solution's is not compared
Verdict judge_exercise(const Exercise& exercise, AnyFunction function,
                       const JudgeOptions& options = {}, AnyFunction solution = nullptr);

}  // namespace rankbox
