#include "parallel/shard.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox {

namespace {

std::int64_t elements_in(const std::vector<Shape>& shapes) {
  std::int64_t elements = 0;
  for (const Shape& shape : shapes) elements += shape.elements();
  return elements;
}

void check_fit(const std::vector<Parameter*>& parameters, const Shard& shard, const Tensor& flat) {
  if (shard.shapes.size() != parameters.size()) {
    throw InvalidArgument(fmt::format("shard: it is one of {} parameters, and {} were given",
                                      shard.shapes.size(), parameters.size()));
  }
  const std::int64_t elements = elements_in(shard.shapes);
  if (elements <= flat.size()) return;
  throw InvalidArgument(fmt::format(
      "shard: {} elements of the parameters do not fit into a flat tensor of {}: it needs "
      "world_size times the shard's",
      elements, flat.size()));
}

}  // namespace

std::int64_t shard_size(std::int64_t elements, int world_size) {
  return (elements + world_size - 1) / world_size;
}

Shard make_shard(const std::vector<Parameter*>& parameters, int rank, int world_size) {
  const std::int64_t size = shard_size(count_elements(parameters), world_size);
  Shard shard;
  shard.mine.name = "shard";
  Tensor flat = zeros(size * world_size);
  float* to = flat.data();
  for (const Parameter* parameter : parameters) {
    shard.shapes.push_back(parameter->value.shape());
    to = std::copy_n(parameter->value.data(), parameter->value.size(), to);
  }
  shard.mine.value = Tensor(Shape(size));
  copy(shard.mine.value, chunk(flat, rank, world_size));
  return shard;
}

std::vector<Parameter*> mine_of(std::vector<Shard>& shards) {
  std::vector<Parameter*> all;
  for (Shard& shard : shards) {
    if (!shard.mine.value.empty()) all.push_back(&shard.mine);
  }
  return all;
}

Tensor flat_for(const Shard& shard, int world_size) {
  return Tensor(Shape(shard.mine.value.size() * world_size));
}

void pack_gradients(const std::vector<Parameter*>& parameters, const Shard& shard, Tensor& flat) {
  check_fit(parameters, shard, flat);
  float* to = flat.data();
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const Tensor& gradient = parameters[k]->gradient;
    to = gradient.empty() ? std::fill_n(to, shard.shapes[k].elements(), 0.0f)
                          : std::copy_n(gradient.data(), gradient.size(), to);
  }
  std::fill(to, flat.data() + flat.size(), 0.0f);
}

void unpack_values(const Tensor& flat, const Shard& shard,
                   const std::vector<Parameter*>& parameters) {
  check_fit(parameters, shard, flat);
  const float* from = flat.data();
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Tensor& value = parameters[k]->value;
    if (value.empty()) value = Tensor(shard.shapes[k]);
    std::copy_n(from, value.size(), value.data());
    from += value.size();
  }
}

void drop_gradients(const std::vector<Parameter*>& parameters) {
  for (Parameter* parameter : parameters) parameter->gradient = {};
}

void drop_values(const std::vector<Parameter*>& parameters) {
  for (Parameter* parameter : parameters) parameter->value = {};
}

}  // namespace rankbox
