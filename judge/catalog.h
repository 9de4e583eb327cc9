// The registry's exercises as subjects of the judge.
#pragma once

#include <optional>
#include <string_view>

#include "exercises/registry.h"
#include "judge/judge.h"
#include "judge/subject.h"
#include "judge/verdict.h"

namespace rankbox {

/// Throws InvalidArgument with one line if an entry of the registry names a family, a cost or a
/// message rule that does not exist.
void check_registry();

/// Returns "(Comm& dist, Tensor& tensor, int src)".
const char* parameters_of(const Exercise& exercise);

/// Returns whether the promised cost is that of the reference solution. Judging then requires the
/// solution.
bool is_cost_of_solution(const Exercise& exercise);

/// Returns the function as its family judges it. With a null function the subject has cases and
/// costs, and must not be run. REQUIRES: the function has the exercise's parameters and returns
/// nothing.
/// @param solution the reference solution, used where is_cost_of_solution(). Without it there is no
/// promised cost
Subject subject_of(const Exercise& exercise, AnyFunction function = nullptr,
                   AnyFunction solution = nullptr);

/// Returns the smallest case that is judged.
Case first_case_of(const Exercise& exercise);

/// Returns a case of medium size: 8 ranks if the exercise allows it.
Case typical_case_of(const Exercise& exercise);

/// Returns the case that a replay line names ("… --replay world_size=3,count=4"); nothing if
/// there is none, or it is no case of the exercise.
std::optional<Case> case_of_replay(const Exercise& exercise, std::string_view line);

/// Returns whether the exercise sends messages that can be counted and drawn.
bool sends_messages(const Exercise& exercise);

/// Judges a function as this exercise: see judge.h for the checks, subject_of for the arguments.
Verdict judge_exercise(const Exercise& exercise, AnyFunction function,
                       const JudgeOptions& options = {}, AnyFunction solution = nullptr);

}  // namespace rankbox
