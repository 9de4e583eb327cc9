// The families of judgement by name: exercises with the same arguments and the same result.
//
// //verdict:families has those of the chapters about collectives; //verdict:training_families adds
// the others.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/cost_forms.h"
#include "exercises/registry.h"
#include "verdict/subject.h"

namespace rankbox {

struct Family {
  std::string_view name;
  const char* parameters;  // "(Comm& dist, Tensor& tensor, int src)"
  /// What Exercise::cost may be; empty: nothing, since the family knows the cost itself.
  std::vector<std::string> costs;
  /// Whether the cost may also be that of the reference solution.
  bool takes_solution;
  /// How a function is called and compared. With a null function it knows its cases and their cost,
  /// and must not be run. `cost` is one of `costs`. Where it is the solution's, the subject's own
  /// cost() must not be called.
  std::unique_ptr<Subject> (*subject)(AnyFunction function, std::string_view cost);
};

/// Returns null if there is none.
const Family* find_family(std::string_view name);

/// In no order that matters.
const std::vector<Family>& families();

/// Adds rows. Libraries call it before main() starts. Returns true.
bool add_families(const std::vector<Family>& rows);

/// The row of a class that knows the cost itself.
template <class Class>
Family family(std::string_view name) {
  return {name, Class::kParameters, {}, false, [](AnyFunction function, std::string_view /*cost*/) {
            using Function = typename Class::Function;
            return std::unique_ptr<Subject>(new Class(reinterpret_cast<Function>(function)));
          }};
}

/// The row of a class that takes a closed form.
template <class Class>
Family family_with_form(std::string_view name) {
  using Form = typename Class::Form;
  return {name, Class::kParameters, cost::form_names<Form>(), true,
          [](AnyFunction function, std::string_view cost) {
            using Function = typename Class::Function;
            return std::unique_ptr<Subject>(
                new Class(reinterpret_cast<Function>(function), cost::find_form<Form>(cost)));
          }};
}

}  // namespace rankbox
