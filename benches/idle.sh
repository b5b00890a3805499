#!/usr/bin/env bash
# What the daemon costs while it has little to do: size of the program, time from the start to
# "ready", memory, processor time and wake-ups. Needs Linux (/proc) and bash 5.
#
#   benches/idle.sh            builds the release program and measures it
#   benches/idle.sh PROGRAM    measures a program that is there
#
# SECONDS_EACH=20 and STARTS=20 can be set in the environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds_each=${SECONDS_EACH:-20}
starts=${STARTS:-20}
program=${1:-}
if [[ -z $program ]]; then
    cargo build --release --locked --quiet
    program=${CARGO_TARGET_DIR:-target}/release/touchmoved
fi

work=$(mktemp -d)
pid=''
finish() {
    [[ -z $pid ]] || kill "$pid" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

# Starts the program with "$@"; sets pid, and ready_us to the time until it says that it is ready.
start() {
    local begin line
    begin=${EPOCHREALTIME/./}
    coproc daemon { exec "$program" "$@" 2>&1; }
    pid=$daemon_PID
    exec 3<&"${daemon[0]}"
    while read -r line <&3; do
        if [[ $line == *'Ctrl-C ends it.'* || $line == *'ready, '* ]]; then
            ready_us=$((${EPOCHREALTIME/./} - begin))
            # What it says from now on is read away.
            cat <&3 >/dev/null &
            return
        fi
        printf '%s\n' "$line" >>"$work/said"
    done
    printf 'the program ended:\n%s\n' "$(<"$work/said")" >&2
    exit 1
}

stop() {
    kill "$pid"
    wait "$pid" || true
    pid=''
    exec 3<&-
}

# Processor time of all threads in nanoseconds.
processor_ns() {
    cat /proc/"$pid"/task/*/schedstat | awk '{ sum += $1 } END { printf "%d", sum }'
}

# How often its threads went to sleep and were woken.
wakes() {
    cat /proc/"$pid"/task/*/status | awk '/^voluntary_ctxt_switches/ { sum += $2 } END { printf "%d", sum }'
}

field() {
    awk -v name="$1:" '$1 == name { print $2 }' /proc/"$pid"/status
}

measure() {
    local name=$1
    shift
    start "$@"
    sleep 2
    local cpu_before wakes_before
    cpu_before=$(processor_ns) wakes_before=$(wakes)
    sleep "$seconds_each"
    local cpu=$(($(processor_ns) - cpu_before)) woken=$(($(wakes) - wakes_before))
    printf '%-34s resident %5d KiB (highest %5d, its own %5d)  cpu %d.%02d %% of a core  %d wake-ups a second\n' \
        "$name" "$(field VmRSS)" "$(field VmHWM)" "$(field RssAnon)" \
        $((cpu / seconds_each / 10000000)) $((cpu / seconds_each / 100000 % 100)) $((woken / seconds_each))
    stop
}

free_ports=(--http 127.0.0.1:0 --livechess 127.0.0.1:0)

printf 'size of the program: %d KiB\n' $(($(stat -c %s "$program") / 1024))

times=()
for ((n = 0; n < starts; n++)); do
    start demo "${free_ports[@]}" --data "$work/start-$n"
    times+=("$ready_us")
    stop
done
mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -n)
printf 'start to ready: median %d us, slowest of %d: %d us\n' "${times[starts / 2]}" "$starts" "${times[-1]}"

measure 'demo, one board, speed 1' demo --speed 1 "${free_ports[@]}" --data "$work/one"
measure 'demo, one board, speed 20' demo --speed 20 "${free_ports[@]}" --data "$work/fast"
measure 'demo, sixteen boards, speed 1' demo --speed 1 --boards 16 "${free_ports[@]}" --data "$work/many"

sed "s|^dir = .*|dir = \"$work/run\"|" config/simulated.toml >"$work/run.toml"
printf '\n[http]\nlisten = "127.0.0.1:0"\n\n[livechess]\nlisten = "127.0.0.1:0"\n' >>"$work/run.toml"
measure 'run, config/simulated.toml' run --config "$work/run.toml"
