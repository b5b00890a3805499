# shellcheck shell=bash
# What the tests in virtual machines have in common; the scripts beside this one read it.
#
#   tests/vm/NAME.sh [--prepare] [DIR]     --prepare: download and build, and leave the test to the next call
#
# Exit status: 0 everything holds; 1 it does not; 77 it could not be run here, and the last line,
# "not run: ...", says why.
set -euo pipefail

only_prepare=''
if [[ ${1:-} == --prepare ]]; then
    only_prepare=yes
    shift
fi
name=tests/vm/$(basename "$0")
# What is there need not be fetched again.
work=${1:-$default_work}
mkdir -p "$work"
work=$(cd "$work" && pwd)
root=$work/root

fail() {
    printf '%s: %s\n' "$name" "$1" >&2
    exit 1
}

# What is missing is no fault of what is tested.
cannot() {
    printf 'not run: %s: %s\n' "$name" "$1" >&2
    exit 77
}

need_tools() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || cannot "this machine has no $tool"
    done
}

# Megabytes on the disk.
need_room() {
    local free
    free=$(df --output=avail -m "$work" | tail -n 1 | tr -d ' ')
    ((free >= $1)) || cannot "it takes $1 MB on the disk, and $free MB are free"
}

# Megabytes of memory.
need_memory() {
    local free
    free=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
    ((free >= $1)) || cannot "it takes $1 MB of memory, and $free MB are free"
}

# Says how long a part took.
took=''
since=$SECONDS
part() {
    took+="${took:+, }$1 $((SECONDS - since)) s"
    since=$SECONDS
}

# Reads the lists of the machine's own package sources, for the architectures that are named, into $work:
# neither root nor a list of the machine is needed, and nothing of it changes.
read_package_lists() {
    rm -rf "$work/packages" "$root"
    mkdir -p "$work"/{lists/partial,cache/archives/partial,packages} "$root"
    {
        printf 'Dir::State::Lists "%s";\nDir::Cache "%s";\n' "$work/lists" "$work/cache"
        printf 'APT::Architectures { %s };\n' "$(printf '"%s"; ' "$@")"
        printf 'APT::Sandbox::User "root";\nAcquire::Languages "none";\nAcquire::Retries "2";\n'
        printf 'Acquire::http::Timeout "20";\nAcquire::https::Timeout "20";\n'
    } >"$work/apt.conf"
    export APT_CONFIG=$work/apt.conf
    # A source that does not answer may be one that is not needed.
    apt-get update -qq >"$work/apt.log" 2>&1 || true
}

why_not() {
    local last
    last=$(grep 'Failed to fetch' "$work/apt.log" | head -n 1 || true)
    [[ -n $last ]] || last=$(grep '^[EW]:' "$work/apt.log" | tail -n 1 || true)
    cannot "$1${last:+ ($last)}"
}

# The version of the kernel that this package stands for.
kernel_of() {
    apt-cache depends "$1" 2>>"$work/apt.log" | sed -n 's/.*Depends: linux-image-\([^ :]*\).*/\1/p' || true
}

# The packages that installing these would bring to this machine.
needed_for() {
    apt-get install --simulate --no-install-recommends "$@" 2>>"$work/apt.log" |
        awk '$1 == "Inst" { print $2 }' || why_not 'the packages are not to be had'
}

download() {
    mkdir -p "$work/packages"
    (cd "$work/packages" && apt-get download -qq "$@") >>"$work/apt.log" 2>&1 ||
        why_not 'packages cannot be downloaded'
}

# A program of a package that was unpacked, or this machine's own where it had that package.
program() {
    local directory
    for directory in usr/bin bin usr/sbin sbin; do
        if [[ -x $root/$directory/$1 ]]; then
            printf '%s' "$root/$directory/$1"
            return
        fi
    done
    command -v "$1" || cannot "there is no $1"
}

# Files that a program reads from its package.
data_of_qemu() {
    local directory
    for directory in "$root"/usr/share/{qemu,seabios}; do
        [[ ! -d $directory ]] || printf '%s\n' -L "$directory"
    done
}

# Programs that were unpacked, with the libraries that were unpacked with them.
unpacked() {
    LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu "$@"
}

# Builds a test and prints the path of its program; further arguments go to cargo.
build_test() {
    local test=$1 built
    shift
    built=$(cargo test --quiet --locked --test "$test" --no-run --message-format=json-render-diagnostics "$@") ||
        fail "the test $test cannot be built"
    sed -n "s#.*\"executable\":\"\([^\"]*/deps/$test-[^\"]*\)\".*#\1#p" <<<"$built" | tail -n 1
}

# Begins the tree of the machine's only file system, with the program that is its shell.
plant_tree() {
    tree=$work/tree
    rm -rf "$tree"
    mkdir -p "$tree"/{bin,dev,proc,sys,tmp,modules}
    cp "$1" "$tree/bin/busybox"
    ln -s busybox "$tree/bin/sh"
}

pack_tree() {
    local cpio
    cpio=$(program cpio)
    (cd "$tree" && find . | unpacked "$cpio" -o -H newc --quiet | gzip -1) >"$work/initrd.gz"
}

# Everything is there.
prepared() {
    [[ -n $only_prepare ]] || return 0
    printf '%s: ready (%s)\n' "$name" "$took"
    exit 0
}

# What the machine said, and what follows from it. A machine that never comes to the test says nothing about it.
judge() {
    tr -d '\r' <"$work/said"
    if grep -q "^$verdict: passed" "$work/said"; then
        part 'in the machine'
        printf '%s: everything holds (%s)\n' "$name" "$took"
    elif grep -q "^$verdict: begins" "$work/said"; then
        fail 'the tests do not pass in the virtual machine'
    else
        cannot 'the virtual machine does not come up'
    fi
}
