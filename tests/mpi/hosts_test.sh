#!/usr/bin/env bash
# Several hosts, made of network namespaces and a switch between them. The tests that every backend
# must pass run across them, and a rank that dies on one host ends the processes on all. Skipped
# where namespaces cannot be created.
#
# usage: hosts_test.sh FAILING_PROGRAM PROGRAM...
#        programs of tests/backends, each run on all hosts
set -euo pipefail
failing=$(realpath "$1")
shift

if [[ ${INSIDE-} != yes ]]; then
  # As root in separate user, network and process namespaces, which all end with this shell.
  alone=(unshare --user --map-root-user --net --mount --pid --fork --kill-child --mount-proc)
  if ! why=$("${alone[@]}" ip link add one type veth peer name other 2>&1) ||
    ! why=$(command -v nsenter); then
    printf 'SKIPPED: no network namespaces here: %s\n' "${why:-nsenter is missing}"
    [[ ${RANKBOX_REQUIRE_CONTAINER-} != 1 ]]  # where there must be some, this fails
    exit
  fi
  INSIDE=yes exec "${alone[@]}" "$0" "$failing" "$@"
fi
fail() { echo "FAILED: $*"; exit 1; }

# --- Three hosts: 10.8.0.1, which this shell is on, 10.8.0.2 and 10.8.0.3 ------------------------
work=$(mktemp -d /tmp/rankbox_hosts.XXXXXX)  # short names for Open MPI's sockets
trap 'rm -rf "$work"' EXIT
hosts=3
ip link add switch type bridge
ip link set lo up
ip address add 10.8.0.1/24 dev switch
ip link set switch up
here=$(readlink /proc/self/ns/net)
for ((host = 2; host <= hosts; ++host)); do
  # A sleeping process keeps the host's network and name alive.
  unshare --net --uts sleep 1000 &
  echo $! >"$work/host_10.8.0.$host"
  # Until it has become unshare, its namespaces cannot be read.
  until its=$(readlink "/proc/$!/ns/net") && [[ $its != "$here" ]]; do sleep 0.05; done
  at=(nsenter --target $! --net --uts)
  "${at[@]}" hostname "host$host"
  ip link add "cable$host" type veth peer name cable netns $!
  ip link set "cable$host" master switch up
  "${at[@]}" ip address add "10.8.0.$host/24" dev cable
  "${at[@]}" ip link set cable up
  "${at[@]}" ip link set lo up
done
for ((host = 2; host <= hosts; ++host)); do
  for _ in {1..600}; do
    # No process listens there; a refusal shows that the host is up.
    [[ $( (exec 3<>"/dev/tcp/10.8.0.$host/1") 2>&1) != *refused* ]] || continue 2
    sleep 0.1
  done
  fail "10.8.0.$host cannot be reached"
done

# --- mpirun calls this instead of ssh: AGENT [options] HOST COMMAND... ----------------------------
cat >"$work/agent" <<AGENT
#!/usr/bin/env bash
while [[ \$1 == -* ]]; do shift; done
pid=\$(cat "$work/host_\$1") || exit 1
shift
mkdir -p "$work/tmp_\$pid"
exec nsenter --target "\$pid" --net --uts env TMPDIR="$work/tmp_\$pid" bash -c "\$*"
AGENT
chmod +x "$work/agent"
mkdir "$work/tmp"
export TMPDIR=$work/tmp
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_plm_rsh_agent=$work/agent
export OMPI_MCA_oob_tcp_if_include=10.8.0.0/24 OMPI_MCA_btl_tcp_if_include=10.8.0.0/24

# $1 hosts, $2 processes on each; they run the remaining arguments, for two minutes at most
on_hosts() {
  local list=10.8.0.1:$2 host
  for ((host = 2; host <= $1; ++host)); do list+=,10.8.0.$host:$2; done
  local processes=$(($1 * $2))
  shift 2
  timeout --kill-after=5 120 mpirun --host "$list" -n "$processes" "$@" </dev/null
}

# --- The tests -----------------------------------------------------------------------------------
if ! on_hosts 2 1 "$failing" where >"$work/out" 2>&1; then
  cat "$work/out"
  fail "mpirun cannot start processes on two hosts"
fi

on_hosts 3 2 "$failing" where | tee "$work/out"
diff "$work/out" - <<'PLACES' || fail "ranks are elsewhere"
rank 0: node 0, local rank 0
rank 1: node 0, local rank 1
rank 2: node 1, local rank 0
rank 3: node 1, local rank 1
rank 4: node 2, local rank 0
rank 5: node 2, local rank 1
PLACES

for program in "$@"; do
  for layout in "2 1" "3 1" "2 2"; do
    echo "== $program on ${layout% *} hosts, ${layout#* } processes on each"
    # shellcheck disable=SC2086  # two numbers
    RANKBOX_STRESS_RUNS=25 on_hosts $layout -x RANKBOX_STRESS_RUNS "$(realpath "$program")" ||
      fail "$program"
  done
done

# Rank 1 dies on the second host.
for how in kill throw deadlock; do
  started=$SECONDS
  if on_hosts 3 1 "$failing" "$how" >"$work/out" 2>&1; then fail "$how: mpirun is pleased"; fi
  for _ in {1..600}; do
    pgrep -f "^$failing" >/dev/null || break
    sleep 0.1
  done
  ! pgrep -af "^$failing" || fail "$how: processes are left"
  echo "$how on the second host: all ended after $((SECONDS - started)) s"
done

# The second host's cable is pulled while its rank computes. Open MPI checks its hosts at the
# configured interval, by default every 5 minutes.
export OMPI_MCA_oob_tcp_keepalive_time=3 OMPI_MCA_oob_tcp_keepalive_intvl=1
export OMPI_MCA_oob_tcp_keepalive_probes=3
on_hosts 2 1 "$failing" compute >"$work/out" 2>&1 &
pid=$!
until pgrep -f "^$failing" >/dev/null; do sleep 0.1; done
started=$SECONDS
ip link set cable2 down
for _ in {1..400}; do
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.5
done
if kill -0 "$pid" 2>/dev/null; then
  cat "$work/out"
  fail "a pulled cable: mpirun goes on"
fi
echo "a pulled cable: all ended after $((SECONDS - started)) s"
