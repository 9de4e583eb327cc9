#!/usr/bin/env bash
# Two hosts, made of network namespaces and a cable between them: a rank on each finds the other by
# address, and notices when the cable is pulled. Skipped where namespaces cannot be made.
# usage: hosts_test.sh RANK_PROGRAM
set -euo pipefail
program=$1

if [[ ${INSIDE-} != yes ]]; then
  # As root of our own, in a network of our own, which both end with us.
  alone=(unshare --user --map-root-user --net --mount --pid --fork --kill-child --mount-proc)
  if ! why=$("${alone[@]}" ip link add plug type veth peer name socket 2>&1) || ! why=$(command -v nsenter); then
    printf 'SKIPPED: no network namespaces here: %s\n' "${why:-nsenter is missing}"
    exit 0
  fi
  INSIDE=yes exec "${alone[@]}" "$0" "$@"
fi

# This shell is on the first host; a process that sleeps holds the second one's network.
unshare --net sleep 100 &
other=$!
# While it becomes unshare, its namespaces cannot be read.
here=$(readlink /proc/self/ns/net)
until its=$(readlink "/proc/$other/ns/net") && [[ $its != "$here" ]]; do sleep 0.05; done
ip link add cable type veth peer name cable netns "$other"
ip address add 10.9.0.1/24 dev cable
ip link set cable up
ip link set lo up
nsenter --target "$other" --net ip address add 10.9.0.2/24 dev cable
nsenter --target "$other" --net ip link set cable up

export WORLD_SIZE=2 LOCAL_WORLD_SIZE=1 LOCAL_RANK=0 MASTER_ADDR=10.9.0.1 RANKBOX_PORT=4711
# Hosts are told apart by name.
first() { RANK=0 unshare --uts bash -c 'hostname first; exec "$@"' - "$program" "$@"; }
second() { RANK=1 nsenter --target "$other" --net unshare --uts bash -c 'hostname second; exec "$@"' - "$program" "$@"; }
fail() { echo "FAILED: $*"; exit 1; }

second sum & pid=$!
[[ $(first sum) == "sum 1" ]] || fail "two hosts did not find each other"
wait "$pid" || fail "the second host"
echo "found each other"

# Both wait for a failure; nobody dies, but nobody can be heard any more.
first wait >"$TEST_TMPDIR/first" & one=$!
second wait >"$TEST_TMPDIR/second" & two=$!
until grep -q waiting "$TEST_TMPDIR/first" && grep -q waiting "$TEST_TMPDIR/second"; do
  kill -0 "$one" "$two" || fail "they ended too early"
  sleep 0.1
done
ip link set cable down
started=$SECONDS
! wait "$one" || fail "rank 0 noticed nothing"
! wait "$two" || fail "rank 1 noticed nothing"
cat "$TEST_TMPDIR/first" "$TEST_TMPDIR/second"
((SECONDS - started <= 20)) || fail "it took $((SECONDS - started)) s"
grep -q "rank 1 (pid .* on second from 10.9.0.2:.*) went silent" "$TEST_TMPDIR/first" || fail "rank 0's words"
grep -q "rank 0 went silent" "$TEST_TMPDIR/second" || fail "rank 1's words"
echo "noticed the silence after $((SECONDS - started)) s"
