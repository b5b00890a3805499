#!/usr/bin/env bash
# Runs tests/gpio_sim.rs in a small virtual machine whose kernel simulates GPIO chips: the real character
# device under the real backend, without a Raspberry Pi, without root and without touching this machine's kernel.
#
#   tests/vm/gpio-sim.sh          everything is kept in target/vm for the next time
#   tests/vm/gpio-sim.sh DIR      or in DIR
#
# Needs Debian 12 on x86-64 with its own package sources (`apt-get update` was run), Rust, gcc, gcc-12 and make.
# QEMU, a kernel and its source are downloaded as packages (300 MB) and unpacked in DIR; nothing is installed.
# Debian's kernel comes without gpio-sim, so that module is built from its source.
# A kernel that has gpio-sim needs none of this: see tests/gpio_sim.rs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work=${1:-target/vm}
mkdir -p "$work"
work=$(cd "$work" && pwd)
root=$work/root

fail() {
    printf 'tests/vm/gpio-sim.sh: %s\n' "$1" >&2
    exit 1
}

for tool in apt-get dpkg cargo make gcc-12 xz; do
    command -v "$tool" >/dev/null || fail "$tool is missing"
done

# Packages that stand in for installed ones; qemu's libraries come with it.
fetch() {
    local version packages
    version=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: linux-image-\(.*\)-amd64$/\1/p')
    [[ -n $version ]] || fail 'apt-get knows no kernel; run apt-get update, on Debian 12'
    mapfile -t packages < <(
        apt-get install --simulate --no-install-recommends \
            qemu-system-x86 seabios busybox-static cpio kmod 2>/dev/null | awk '$1 == "Inst" { print $2 }'
    )
    rm -rf "$work/packages" "$root"
    mkdir -p "$work/packages" "$root"
    (
        cd "$work/packages"
        apt-get download -qq "${packages[@]}" linux-kbuild-6.1 linux-source-6.1 \
            "linux-image-$version-amd64" "linux-headers-$version-amd64" "linux-headers-$version-common"
    )
    local package
    for package in "$work"/packages/*.deb; do
        [[ $package == */linux-source-* ]] || dpkg -x "$package" "$root"
    done
    printf '%s\n' "$version-amd64" >"$work/version"
}

# gpio-sim as a module of its own. It needs irq_sim, which Debian's kernel does not have either; of that,
# one call is not open to modules, and another one does the same.
build_module() {
    local kernel=$1 headers=$root/usr/src/linux-headers-$1 source=$work/source module=$work/module
    mkdir -p "$source" "$module"
    dpkg --fsys-tarfile "$work"/packages/linux-source-6.1_*.deb |
        tar -xO ./usr/src/linux-source-6.1.tar.xz |
        tar -xJ -C "$source" --strip-components=1 linux-source-6.1/drivers/gpio linux-source-6.1/kernel/irq
    cp "$source/drivers/gpio/gpiolib.h" "$module/"
    cp "$source/drivers/gpio/gpio-sim.c" "$module/sim_main.c"
    sed 's/handle_simple_irq(irq_to_desc(\(.*\)));/generic_handle_irq(\1);/' \
        "$source/kernel/irq/irq_sim.c" >"$module/irq_sim_main.c"
    cat >"$module/Makefile" <<'MAKEFILE'
obj-m := gpio-sim.o
gpio-sim-y := sim_main.o irq_sim_main.o
ccflags-y := -DCONFIG_IRQ_SIM -I$(src)
MAKEFILE
    # The headers expect to be installed.
    sed -i "s#^\(include \)\?/usr/src/#\1$root/usr/src/#" "$headers/Makefile"
    make --silent -C "$headers" M="$module" modules
    cp "$module/gpio-sim.ko" "$work/$kernel-gpio-sim.ko"
    rm -rf "$source" "$module"
}

[[ -f $work/version ]] || fetch
kernel=$(<"$work/version")
[[ -f $work/$kernel-gpio-sim.ko ]] || build_module "$kernel"

# Nothing but the kernel is in the machine: the programs have no shared libraries.
target=x86_64-unknown-linux-gnu
export CARGO_INCREMENTAL=0
RUSTFLAGS='-C target-feature=+crt-static' \
    cargo test --quiet --locked --target $target --target-dir "$work/target" --test gpio_sim --no-run
newest() {
    local file found=''
    for file in "$@"; do
        [[ -x $file && ! -d $file && ( -z $found || $file -nt $found ) ]] && found=$file
    done
    printf '%s' "$found"
}
program=$work/target/$target/debug/touchmoved
tests=$(newest "$work/target/$target/debug/deps/"gpio_sim-*)

tree=$work/tree
rm -rf "$tree"
mkdir -p "$tree"/{bin,dev,proc,sys,tmp,modules,"$(dirname "$program")"}
cp "$root/bin/busybox" "$tree/bin/busybox"
ln -s busybox "$tree/bin/sh"
cp "$tests" "$tree/bin/gpio_sim"
# Where the tests were told that it is.
strip -o "$tree/$program" "$program" 2>/dev/null || cp "$program" "$tree/$program"
cp "$root/lib/modules/$kernel/kernel/fs/configfs/configfs.ko" "$tree/modules/" 2>/dev/null || true
cp "$work/$kernel-gpio-sim.ko" "$tree/modules/gpio-sim.ko"
cat >"$tree/init" <<'INIT'
#!/bin/sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
ip link set lo up
[ -f /modules/configfs.ko ] && insmod /modules/configfs.ko
mount -t configfs configfs /sys/kernel/config
insmod /modules/gpio-sim.ko || echo 'gpio-sim cannot be loaded'
# A name of its own for each run, so that nothing of the guest can look like the verdict.
gpio_sim --ignored --test-threads=1 && echo "$verdict: passed" || echo "$verdict: failed"
reboot -f
INIT
chmod +x "$tree/init"
export LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu
(cd "$tree" && find . | "$root/bin/cpio" -o -H newc --quiet | gzip -1) >"$work/initrd.gz"

verdict=gpio-sim-$RANDOM$RANDOM
timeout --kill-after=10 300 "$root/usr/bin/qemu-system-x86_64" -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" \
    -M q35 -accel tcg -cpu max -m 512 -smp 2 -nodefaults -no-reboot -display none -serial stdio -monitor none \
    -kernel "$root/boot/vmlinuz-$kernel" -initrd "$work/initrd.gz" \
    -append "console=ttyS0 quiet loglevel=4 panic=-1 rdinit=/init verdict=$verdict" </dev/null |
    tee "$work/said" || true
grep -q "^$verdict: passed" "$work/said" || fail 'the tests do not pass in the virtual machine'
printf 'tests/vm/gpio-sim.sh: everything holds\n'
