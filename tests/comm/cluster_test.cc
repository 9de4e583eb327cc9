// The machines known by name.
#include "comm/cluster.h"

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "comm/errors.h"

namespace rankbox {
namespace {

TEST_CASE("every preset is found by its name, and names are unique") {
  std::set<std::string> names;
  for (const Cluster& preset : cluster_presets()) {
    CAPTURE(preset.name);
    CHECK(names.insert(preset.name).second);
    CHECK(&cluster_named(preset.name) == &preset);
  }
  CHECK(names.size() >= 4);
}

TEST_CASE("the first preset is the default cluster") {
  const Cluster standard;
  const Cluster& first = cluster_presets().front();
  CHECK(first.name == standard.name);
  CHECK(first.within_node.alpha == standard.within_node.alpha);
  CHECK(first.within_node.beta == standard.within_node.beta);
  CHECK(first.between_nodes.alpha == standard.between_nodes.alpha);
  CHECK(first.between_nodes.beta == standard.between_nodes.beta);
  CHECK(first.gamma == standard.gamma);
}

TEST_CASE("every preset is a machine that could be: prices above zero, between nodes not cheaper") {
  for (const Cluster& preset : cluster_presets()) {
    CAPTURE(preset.name);
    CHECK(preset.within_node.alpha > 0);
    CHECK(preset.within_node.beta > 0);
    CHECK(preset.gamma > 0);
    CHECK(preset.between_nodes.alpha >= preset.within_node.alpha);
    CHECK(preset.between_nodes.beta >= preset.within_node.beta);
    CHECK(preset.ranks_per_node >= 0);
    CHECK(&preset.link(true) == &preset.within_node);
    CHECK(&preset.link(false) == &preset.between_nodes);
  }
}

TEST_CASE("an unknown name is refused with the names there are") {
  std::string message;
  try {
    cluster_named("abacus");
  } catch (const InvalidArgument& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find("\"abacus\"") != std::string::npos);
  for (const Cluster& preset : cluster_presets()) {
    CHECK(message.find(preset.name) != std::string::npos);
  }
  CHECK(message.find('\n') == std::string::npos);
}

}  // namespace
}  // namespace rankbox
