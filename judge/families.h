// Families of exercises by name: the same arguments and the same result.
//
// //judge:collectives has the families of chapters 1 to 5; //judge adds the others.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/registry.h"
#include "judge/subject.h"

namespace rankbox {

struct Family {
  std::string_view name;
  const char* parameters;  // "(Comm& dist, Tensor& tensor, int src)"
  /// Returns the subject of a function. With a null function the subject has cases and costs, and
  /// must not be run. `cost` is one of `costs`; without it, the subject has no closed form.
  std::function<Subject(AnyFunction function, std::string_view cost)> subject;
  /// The values that Exercise::cost may have. Empty if the family itself determines the cost.
  std::vector<std::string> costs = {};
  /// Whether the cost may also be that of the reference solution.
  bool takes_solution = false;
};

/// Prepares a rank's arguments, calls the function and compares.
template <class Function>
using RunFunction = std::optional<Difference> (*)(Function function, Comm& dist,
                                                  const Case& example);

template <class Function>
Subject with_function(Subject subject, RunFunction<Function> run, AnyFunction function) {
  subject.run = [=](Comm& dist, const Case& example) {
    return run(reinterpret_cast<Function>(function), dist, example);
  };
  return subject;
}

/// Returns a family whose subjects all match this one, which defines the cost.
template <class Function>
Family make_family(std::string_view name, const char* parameters, const Subject& subject,
                   RunFunction<Function> run) {
  return {name, parameters, [=](AnyFunction function, std::string_view /*cost*/) {
            return with_function(subject, run, function);
          }};
}

/// Returns null if there is no such family.
const Family* find_family(std::string_view name);

/// Returns all families, in no particular order.
const std::vector<Family>& families();

/// Adds families. Libraries call it before main() starts. Returns true.
bool add_families(const std::vector<Family>& rows);

/// Returns the subject of a function of this family. REQUIRES: the family exists.
template <class... Parameters>
Subject subject_in(std::string_view family, void (*function)(Parameters...),
                   std::string_view cost = "") {
  return find_family(family)->subject(reinterpret_cast<AnyFunction>(function), cost);
}

}  // namespace rankbox
