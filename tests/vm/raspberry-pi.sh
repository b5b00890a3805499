#!/usr/bin/env bash
# Runs tests/gpio_rppal.rs in an emulated Raspberry Pi 3: the backend on the registers, without a Raspberry Pi, without
# root, and without installing anything.
#
#   tests/vm/raspberry-pi.sh                      everything is kept in target/pi for the next time
#   tests/vm/raspberry-pi.sh [--prepare] [DIR]    or in DIR; what that and the exit status mean: tests/vm/common.sh
#
# Needs Debian 12 on x86-64 with its own package sources and Rust's cargo. Downloads QEMU, a compiler for 64-bit ARM
# and a kernel as packages (320 MB) and unpacks them in DIR (1.6 GB with what is built). The lists of the packages are
# kept there, too, because this machine's own do not have those for ARM.
#
# Debian's kernel has no /dev/gpiomem, so the registers are reached through /dev/mem.
default_work=$(dirname "$0")/../../target/pi
# shellcheck source=tests/vm/common.sh
source "$(dirname "$0")/common.sh"
cd "$(dirname "$0")/../.."
arm=$work/arm

fetch() {
    local version packages package
    need_room 3000
    rm -rf "$arm"
    mkdir -p "$arm"
    read_package_lists amd64 arm64
    version=$(kernel_of linux-image-arm64:arm64)
    [[ $version == *-arm64 ]] || why_not 'the package sources have no kernel for 64-bit ARM'
    packages=$(needed_for qemu-system-arm rustc-web \
        libstd-rust-web-dev:arm64 gcc-aarch64-linux-gnu libc6-dev-arm64-cross cpio)
    # shellcheck disable=SC2086
    download $packages
    mv "$work/packages" "$work/packages-here"
    download "linux-image-$version:arm64" busybox-static:arm64
    part packages
    for package in "$work"/packages-here/*.deb; do
        dpkg -x "$package" "$root"
    done
    dpkg -x "$work"/packages/busybox-static_*.deb "$arm"
    dpkg --fsys-tarfile "$work"/packages/linux-image-*.deb |
        tar -x -C "$arm" --wildcards './boot/vmlinuz-*' './usr/lib/linux-image-*/broadcom/bcm2837-rpi-3-b.dtb'
    rm -rf "$work"/{packages,packages-here,cache}
    printf '%s\n' "$version" >"$work/version"
    part unpacking
}

need_tools cargo
if [[ ! -f $work/version ]]; then
    need_tools apt-get dpkg tar
    [[ $(uname -m) == x86_64 ]] || cannot 'this machine is no x86-64'
    fetch
fi
kernel=$(<"$work/version")
qemu=$(program qemu-system-aarch64)

# The linker expects its C library where the package would have put it.
cross=$root/usr/aarch64-linux-gnu
cat >"$work/linker" <<LINKER
#!/bin/sh
exec $root/usr/bin/aarch64-linux-gnu-gcc -B$cross/lib -B$cross/bin -L$cross/lib "\$@"
LINKER
chmod +x "$work/linker"

# The compiler is Debian's. Two positions need no optimising, and no debugger follows them.
export RUSTC=$root/usr/bin/rustc CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
rust_flags='-C target-feature=+crt-static'
built=$(
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$work/linker \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS=$rust_flags
    unpacked cargo build --quiet --locked --lib --no-default-features --features gpio \
        --target aarch64-unknown-linux-gnu --target-dir "$work/target" --message-format=json-render-diagnostics \
        --config profile.dev.package.shakmaty.opt-level=0 --config profile.dev.package.sha2.opt-level=0 \
        --config profile.dev.package.serde_json.opt-level=0
) || fail 'the library cannot be built'

# The file of a library that cargo has built.
library() {
    grep -o "\"[^\"]*/lib$1\(-[^\"]*\)\?\.rlib\"" <<<"$built" | tail -n 1 | tr -d '"'
}

# By hand, because cargo would build everything that any test needs.
tests=$work/gpio_rppal
# shellcheck disable=SC2086
unpacked "$RUSTC" --edition 2024 --crate-name gpio_rppal --test tests/gpio_rppal.rs -o "$tests" \
    --target aarch64-unknown-linux-gnu -C linker="$work/linker" $rust_flags --cfg 'feature="gpio"' \
    -L dependency="$work/target/aarch64-unknown-linux-gnu/debug/deps" -L dependency="$work/target/debug/deps" \
    --extern touchmoved="$(library touchmoved)" --extern shakmaty="$(library shakmaty)" ||
    fail 'the test gpio_rppal cannot be built'
part build
prepared
need_memory 1500

plant_tree "$arm/bin/busybox"
unpacked "$root/usr/bin/aarch64-linux-gnu-strip" -o "$tree/bin/gpio_rppal" "$tests"
cat >"$tree/init" <<'INIT'
#!/bin/sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
echo "$verdict: begins"
gpio_rppal --ignored --test-threads=1 && echo "$verdict: passed" || echo "$verdict: failed"
echo "$verdict: over"
reboot -f
INIT
chmod +x "$tree/init"
pack_tree

# A name of its own for each run, so that nothing of the guest can look like the verdict.
verdict=gpio-rppal-$RANDOM$RANDOM
mapfile -t data < <(data_of_qemu)
machine=''
trap '[[ -z $machine ]] || kill "$machine" 2>/dev/null || true' EXIT
LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu "$qemu" "${data[@]}" \
    -M raspi3b -m 1G -smp 4 -no-reboot -display none -serial stdio -monitor none \
    -kernel "$arm/boot/vmlinuz-$kernel" -initrd "$work/initrd.gz" \
    -dtb "$arm/usr/lib/linux-image-$kernel/broadcom/bcm2837-rpi-3-b.dtb" \
    -append "console=ttyAMA0,115200 rdinit=/init panic=-1 quiet loglevel=3 iomem=relaxed verdict=$verdict TOUCHMOVED_GPIO_BASE=0x3f200000" \
    </dev/null >"$work/said" 2>"$work/qemu.log" &
machine=$!
# The emulated machine does not end by itself.
for ((n = 0; n < 240; n++)); do
    sleep 0.5
    grep -q "^$verdict: over\|Kernel panic" "$work/said" && break
    kill -0 $machine 2>/dev/null || break
done
kill $machine 2>/dev/null || true
wait $machine 2>/dev/null || true
machine=''
judge
