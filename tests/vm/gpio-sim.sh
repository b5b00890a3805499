#!/usr/bin/env bash
# Runs tests/gpio_sim.rs in a small virtual machine whose kernel simulates GPIO chips: the real character
# device under the real backend, without a Raspberry Pi, without root and without touching this machine's kernel.
#
#   tests/vm/gpio-sim.sh                      everything is kept in target/vm for the next time
#   tests/vm/gpio-sim.sh [--prepare] [DIR]    or in DIR; what that and the exit status mean: tests/vm/common.sh
#
# Needs Debian 12 on x86-64 with its package sources, Rust and gcc-12. QEMU, a kernel and its source are downloaded
# as packages (230 MB) and unpacked in DIR (240 MB, before that 700 MB); nothing is installed.
# Debian's kernel comes without gpio-sim, so that module is built from its source.
# A kernel that has gpio-sim needs none of this: see tests/gpio_sim.rs.
default_work=$(dirname "$0")/../../target/vm
# shellcheck source=tests/vm/common.sh
source "$(dirname "$0")/common.sh"
cd "$(dirname "$0")/../.."

# Packages that stand in for installed ones.
fetch() {
    local version packages image
    need_room 1500
    read_package_lists amd64
    version=$(kernel_of linux-image-amd64)
    [[ $version == 6.1.* ]] || why_not 'the package sources have no kernel of Debian 12'
    packages=$(needed_for qemu-system-x86 seabios busybox-static cpio make xz-utils)
    # shellcheck disable=SC2086
    download $packages linux-kbuild-6.1 linux-source-6.1 \
        "linux-image-$version" "linux-headers-$version" "linux-headers-${version/%-amd64/-common}"
    part packages
    local package
    for package in "$work"/packages/*.deb; do
        case $package in
        */linux-source-*) ;;
        */linux-image-*)
            dpkg --fsys-tarfile "$package" |
                tar -x -C "$root" --wildcards './boot/vmlinuz-*' './lib/modules/*/kernel/fs/configfs/*' || true
            ;;
        *) dpkg -x "$package" "$root" ;;
        esac
    done
    build_module "$version"
    rm -rf "$work"/{packages,cache}
    printf '%s\n' "$version" >"$work/version"
    part module
}

# gpio-sim as a module of its own. It needs irq_sim, which Debian's kernel does not have either; of that,
# one call is not open to modules, and another one does the same.
build_module() {
    local kernel=$1 headers=$root/usr/src/linux-headers-$1 source=$work/source module=$work/module make xz
    make=$(program make)
    xz=$(program xz)
    mkdir -p "$source" "$module"
    dpkg --fsys-tarfile "$work"/packages/linux-source-6.1_*.deb |
        tar -xO ./usr/src/linux-source-6.1.tar.xz | "$xz" -dc |
        tar -x -C "$source" --strip-components=1 linux-source-6.1/drivers/gpio linux-source-6.1/kernel/irq
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
    unpacked "$make" --silent -C "$headers" M="$module" modules >"$work/module.log" 2>&1 || {
        tail -n 20 "$work/module.log"
        cannot "the kernel's module gpio-sim cannot be built for $kernel"
    }
    cp "$module/gpio-sim.ko" "$work/gpio-sim.ko"
    rm -rf "$source" "$module"
}

# A fault in the code shows before anything is downloaded.
need_tools cargo
tests=$(build_test gpio_sim)
[[ -x $tests ]] || fail 'cargo does not say where the tests are'
part build
program=$(dirname "$(dirname "$tests")")/touchmoved
if [[ ! -f $work/version ]]; then
    need_tools apt-get dpkg tar gcc-12
    [[ $(uname -m) == x86_64 ]] || cannot 'this machine is no x86-64'
    fetch
fi
kernel=$(<"$work/version")
qemu=$(program qemu-system-x86_64)
busybox=$(program busybox)
prepared
need_memory 1000

plant_tree "$busybox"
mkdir -p "$tree/$(dirname "$program")"
strip -o "$tree/bin/gpio_sim" "$tests" 2>/dev/null || cp "$tests" "$tree/bin/gpio_sim"
# Where the tests were told that it is.
strip -o "$tree/$program" "$program" 2>/dev/null || cp "$program" "$tree/$program"
# Nothing but the kernel is in the machine: the libraries come along.
ldd "$tests" "$program" | grep -o '/[^ ]*\.so[^ ]*' | sort -u | while read -r library; do
    mkdir -p "$tree/$(dirname "$library")"
    cp -L "$library" "$tree/$library"
done
cp "$root/lib/modules/$kernel/kernel/fs/configfs/configfs.ko" "$tree/modules/" 2>/dev/null || true
cp "$work/gpio-sim.ko" "$tree/modules/gpio-sim.ko"
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
echo "$verdict: begins"
gpio_sim --ignored --test-threads=1 && echo "$verdict: passed" || echo "$verdict: failed"
reboot -f
INIT
chmod +x "$tree/init"
pack_tree
part 'its disk'

# A name of its own for each run, so that nothing of the guest can look like the verdict.
verdict=gpio-sim-$RANDOM$RANDOM
mapfile -t data < <(data_of_qemu)
# In plain emulation: a /dev/kvm that is there and does not work would hang, and it is fast enough without.
unpacked timeout --foreground --kill-after=10 180 "$qemu" "${data[@]}" \
    -M q35 -accel tcg -cpu max -m 512 -smp 2 -nodefaults -no-reboot -display none -serial stdio -monitor none \
    -kernel "$root/boot/vmlinuz-$kernel" -initrd "$work/initrd.gz" \
    -append "console=ttyS0 quiet loglevel=4 panic=-1 rdinit=/init verdict=$verdict" \
    </dev/null >"$work/said" 2>&1 || true
judge
