#include "mpi/agreement.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "mpi/check.h"

namespace rankbox::mpi {
namespace {

constexpr int kTag = 0;  // messages of one pair keep their order

}  // namespace

Agreement::Agreement(Group& group, const Caller& caller, const CollectiveCall& call)
    : group_(group),
      statements_(group.members.size()),
      receives_(group.members.size(), MPI_REQUEST_NULL),
      sends_(group.members.size(), MPI_REQUEST_NULL),
      arrived_(group.members.size()),
      missing_(group.size() - 1) {
  const auto me = static_cast<std::size_t>(group.index);
  statements_[me] = statement_of(caller, call);
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    if (i == me) continue;
    check(MPI_Irecv(&statements_[i], sizeof(Statement), MPI_BYTE, static_cast<int>(i), kTag,
                    group.agreements, &receives_[i]),
          "MPI_Irecv", caller, group.members[i], sizeof(Statement));
  }
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    if (i == me) continue;
    check(MPI_Isend(&statements_[me], sizeof(Statement), MPI_BYTE, static_cast<int>(i), kTag,
                    group.agreements, &sends_[i]),
          "MPI_Isend", caller, group.members[i], sizeof(Statement));
  }
}

Agreement::Statement Agreement::statement_of(const Caller& caller, const CollectiveCall& call) {
  Statement made;
  made.kind = static_cast<std::int32_t>(call.kind);
  made.root = call.root;
  made.op = static_cast<std::int32_t>(call.op);
  made.dtype = static_cast<std::int32_t>(call.dtype);
  made.count = call.count;
  made.rank = caller.rank;
  made.line = caller.place.line();
  // The end of a long path says more than its beginning.
  const std::string_view file = caller.place.file_name();
  const std::size_t skipped = file.size() - std::min(file.size(), made.file.size() - 1);
  std::copy(file.begin() + static_cast<std::ptrdiff_t>(skipped), file.end(), made.file.begin());
  return made;
}

CollectiveCall Agreement::call_of(const Statement& from) {
  CollectiveCall call;
  call.kind = static_cast<CollectiveKind>(from.kind);
  call.root = from.root;
  call.op = static_cast<ReduceOp>(from.op);
  call.dtype = static_cast<DType>(from.dtype);
  call.count = from.count;
  call.reduces = call.kind == CollectiveKind::kReduce || call.kind == CollectiveKind::kAllReduce ||
                 call.kind == CollectiveKind::kReduceScatter;
  return call;
}

std::string Agreement::in_words(const Statement& of) const {
  const int root = of.root < 0 ? -1 : group_.world_rank(of.root);
  return rankbox::in_words(call_of(of), of.rank, root, of.file.data(), static_cast<int>(of.line));
}

void Agreement::compare_with(const Statement& other) {
  const Statement* first = &statements_[static_cast<std::size_t>(group_.index)];
  const Statement* second = &other;
  if (second->rank < first->rank) std::swap(first, second);
  const std::string fields = differences(call_of(*first), call_of(*second));
  if (fields.empty()) return;
  mismatch_ = fmt::format("collective mismatch in {}: {}, but {}", fields, in_words(*first),
                          in_words(*second));
}

bool Agreement::advance() {
  if (!mismatch_.empty()) return false;
  if (missing_ > 0) {
    int count = 0;
    check(MPI_Testsome(static_cast<int>(receives_.size()), receives_.data(), &count,
                       arrived_.data(), MPI_STATUSES_IGNORE),
          "MPI_Testsome");
    for (int i = 0; i < count && mismatch_.empty(); ++i)
      compare_with(statements_[static_cast<std::size_t>(arrived_[static_cast<std::size_t>(i)])]);
    missing_ -= std::max(count, 0);  // MPI_UNDEFINED, were there none under way, is negative
    if (missing_ > 0 || !mismatch_.empty()) return false;
  }
  int sent = 0;
  check(MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &sent, MPI_STATUSES_IGNORE),
        "MPI_Testall");
  return sent != 0;
}

}  // namespace rankbox::mpi
