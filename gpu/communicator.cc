#include "gpu/communicator.h"

#include "comm/communicator_impl.h"
#include "gpu/device_here.h"

namespace rankbox::gpu {

void SharedBackend::run(const Caller& caller, const CollectiveCall& call) {
  // As with NCCL, whose barrier is enqueued on the streams: the ranks' earlier work is done.
  if (call.kind == CollectiveKind::kBarrier) synchronize(caller);
  sim::Backend::run(caller, call);
}

SharedBackend SharedBackend::split(const Caller& caller, const CollectiveCall& call) {
  return SharedBackend(sim::Backend::split(caller, call));
}

void SharedBackend::synchronize(const Caller& caller) {
  device_here().synchronize(0, {.op = caller.operation, .place = caller.place});
}

void SharedBackend::set_timed(bool timed) { device_here().set_spins(timed); }

// ---- One of the two ----------------------------------------------------------------------------

int Backend::rank() const {
  return std::visit([](const auto& backend) { return backend.rank(); }, which_);
}

int Backend::size() const {
  return std::visit([](const auto& backend) { return backend.size(); }, which_);
}

int Backend::node() const {
  return std::visit([](const auto& backend) { return backend.node(); }, which_);
}

int Backend::local_rank() const {
  return std::visit([](const auto& backend) { return backend.local_rank(); }, which_);
}

Caller Backend::caller(const char* operation, Place place) const {
  return std::visit([&](const auto& backend) { return backend.caller(operation, place); }, which_);
}

void Backend::begin(const Caller& caller) {
  std::visit([&](auto& backend) { backend.begin(caller); }, which_);
}

void Backend::send(const Caller& caller, Slice slice, int dst) {
  std::visit([&](auto& backend) { backend.send(caller, slice, dst); }, which_);
}

void Backend::recv(const Caller& caller, Slice slice, int src) {
  std::visit([&](auto& backend) { backend.recv(caller, slice, src); }, which_);
}

void Backend::sendrecv(const Caller& caller, Slice out, int dst, Slice in, int src) {
  std::visit([&](auto& backend) { backend.sendrecv(caller, out, dst, in, src); }, which_);
}

Backend::Pending Backend::isend(const Caller& caller, Slice slice, int dst) {
  return std::visit([&](auto& backend) -> Pending { return backend.isend(caller, slice, dst); },
                    which_);
}

Backend::Pending Backend::irecv(const Caller& caller, Slice slice, int src) {
  return std::visit([&](auto& backend) -> Pending { return backend.irecv(caller, slice, src); },
                    which_);
}

void Backend::run(const Caller& caller, const CollectiveCall& call) {
  std::visit([&](auto& backend) { backend.run(caller, call); }, which_);
}

Backend::Pending Backend::start(const Caller& caller, const CollectiveCall& call) {
  return std::visit([&](auto& backend) -> Pending { return backend.start(caller, call); }, which_);
}

Backend Backend::split(const Caller& caller, const CollectiveCall& call) {
  return std::visit([&](auto& backend) { return Backend(backend.split(caller, call)); }, which_);
}

void Backend::wait(const Caller& caller, const Pending& pending) {
  const auto wait_in = [&]<class Either>(Either& backend) {
    backend.wait(caller, std::get<typename Either::Pending>(pending));
  };
  std::visit(wait_in, which_);
}

const Caller* Backend::starter(const Pending& pending) {
  if (const auto* const shared = std::get_if<SharedBackend::Pending>(&pending))
    return SharedBackend::starter(*shared);
  return NcclBackend::starter(std::get<NcclBackend::Pending>(pending));
}

void Backend::compute(const Caller& caller, double seconds, Label label) {
  std::visit([&](auto& backend) { backend.compute(caller, seconds, label); }, which_);
}

void Backend::set_timed(bool timed) {
  std::visit([&](auto& backend) { backend.set_timed(timed); }, which_);
}

void Backend::call_in_group(const std::function<void()>& calls) {
  std::visit([&](auto& backend) { backend.call_in_group(calls); }, which_);
}

void Backend::synchronize(const Caller& caller) {
  std::visit([&](auto& backend) { backend.synchronize(caller); }, which_);
}

}  // namespace rankbox::gpu

template class rankbox::BasicCommunicator<rankbox::gpu::Backend>;
