#!/usr/bin/env bash
# Two hosts, made of network namespaces and a cable between them. A rank on each finds the other by
# its address, and rank 0 reports the other when the cable is pulled. Skipped without network
# namespaces. usage: hosts_test.sh RANK_PROGRAM
set -euo pipefail
program=$1

if [[ ${INSIDE-} != yes ]]; then
  # As root in a separate user namespace and network, which end with this shell.
  alone=(unshare --user --map-root-user --net --mount --pid --fork --kill-child --mount-proc)
  if ! why=$("${alone[@]}" ip link add plug type veth peer name socket 2>&1) ||
    ! why=$(command -v nsenter); then
    printf 'SKIPPED: no network namespaces here: %s\n' "${why:-nsenter is missing}"
    [[ ${RANKBOX_REQUIRE_CONTAINER-} != 1 ]]  # where there must be some, this fails
    exit
  fi
  INSIDE=yes exec "${alone[@]}" "$0" "$@"
fi

# This shell is on the first host; a sleeping process keeps the second host's network alive.
unshare --net sleep 1000 &
other=$!
# Until it has become unshare, its namespaces cannot be read.
here=$(readlink /proc/self/ns/net)
until its=$(readlink "/proc/$other/ns/net") && [[ $its != "$here" ]]; do sleep 0.05; done
ip link add cable type veth peer name cable netns "$other"
ip address add 10.9.0.1/24 dev cable
ip link set cable up
ip link set lo up
nsenter --target "$other" --net ip address add 10.9.0.2/24 dev cable
nsenter --target "$other" --net ip link set cable up

export WORLD_SIZE=2 MASTER_ADDR=10.9.0.1 RANKBOX_PORT=4711
first() { RANK=0 exec "$program" "$@"; }
second() { RANK=1 exec nsenter --target "$other" --net "$program" "$@"; }
fail() { echo "FAILED: $*"; exit 1; }

(second sum) & pid=$!
[[ $(first sum) == "sum 1" ]] || fail "two hosts did not find each other"
wait "$pid" || fail "the second host"
echo "found each other"

# Rank 1 does not end, but its host becomes unreachable.
(first wait) >"$TEST_TMPDIR/first" & one=$!
(second wait) >"$TEST_TMPDIR/second" & two=$!
until grep -q waiting "$TEST_TMPDIR/first" && grep -q waiting "$TEST_TMPDIR/second"; do
  kill -0 "$one" "$two" || fail "they ended too early"
  sleep 0.1
done
ip link set cable down
started=$SECONDS
! wait "$one" || fail "rank 0 noticed nothing"
kill "$two"
cat "$TEST_TMPDIR/first"
grep -q "rank 1 (pid " "$TEST_TMPDIR/first" || fail "rank 1 is not named"
echo "noticed the silence after $((SECONDS - started)) s"
