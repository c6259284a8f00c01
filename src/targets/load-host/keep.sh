# This program keeps a folder on the machine of the load. It kills every generator whose pid is in the folder, removes the
# folder and ends itself when its stdin closes (the run ended, or the connection broke) or no ping came for $1 seconds
# (the network is gone, and sshd has not noticed).
silent_seconds=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/sidecar-bench-XXXXXXXX") || exit 1
mkdir "$dir/pids" || exit 1
end() {
  trap - EXIT
  for file in "$dir"/pids/*; do
    read -r pid <"$file" && kill -KILL "-$pid"
  done 2>/dev/null
  rm -rf "$dir"
}
trap end EXIT
trap "exit 1" HUP INT TERM PIPE
beats=0
echo $beats >"$dir/beat"
echo "sidecar-bench ready $dir"
(
  trap - EXIT
  last= silence=0
  while sleep 1 && read -r now <"$dir/beat"; do
    if [ "$now" = "$last" ]; then silence=$((silence + 1)); else silence=0; fi
    last=$now
    if [ "$silence" -ge "$silent_seconds" ]; then
      end
      kill -KILL $$
      exit
    fi
  done
) </dev/null >/dev/null 2>&1 &
while read -r word; do
  case $word in
    ping)
      beats=$((beats + 1))
      echo $beats >"$dir/beat"
      echo pong
      ;;
    time) date +%s%N ;;
  esac
done
