# This script runs a program in a process group of its own, and kills the group when its own stdin closes. The output of the
# program goes to stdout; readings of it and of its machine go to stderr, each a line that begins with @.
dir=$1
shift
cd "$dir" || exit 1
exec 3<&0 4>&2
# The pid is written down before the shell becomes the program, so that keep.sh can kill it.
setsid sh -c 'echo $$ >"$1/pids/$$"; shift; exec "$@"' run "$dir" "$@" </dev/null 2>&1 3<&- 4>&- &
pid=$!
(
  while read -r _; do :; done
  kill -KILL "-$pid" || kill -KILL "$pid"
) <&3 >/dev/null 2>&1 &
reader=$!
(
  while read -r uptime _ </proc/uptime && read -r host </proc/stat && read -r own <"/proc/$pid/stat"; do
    echo "@ $uptime|$host|$own" >&4
    sleep 0.2
  done
) </dev/null >/dev/null 2>&1 &
sampler=$!
wait $pid
status=$?
kill $reader $sampler 2>/dev/null
rm -f "$dir/pids/$pid"
exit $status
