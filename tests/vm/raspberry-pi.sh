#!/usr/bin/env bash
# Runs tests/gpio_rppal.rs in an emulated Raspberry Pi 3: the backend on the registers, without a Raspberry Pi, without
# root, and without installing anything.
#
#   tests/vm/raspberry-pi.sh          everything is kept in target/pi for the next time
#   tests/vm/raspberry-pi.sh DIR      or in DIR
#
# Needs Debian 12 on x86-64 with its own package sources and Rust's cargo. Downloads QEMU, a compiler for 64-bit ARM
# and a kernel as packages (400 MB) and unpacks them in DIR (1.3 GB). The lists of the packages are kept
# there, too, because this machine's own do not have those for ARM.
#
# Debian's kernel has no /dev/gpiomem, so the registers are reached through /dev/mem.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work=${1:-target/pi}
mkdir -p "$work"
work=$(cd "$work" && pwd)
root=$work/root arm=$work/arm

fail() {
    printf 'tests/vm/raspberry-pi.sh: %s\n' "$1" >&2
    exit 1
}

for tool in apt-get dpkg cargo; do
    command -v "$tool" >/dev/null || fail "$tool is missing"
done

fetch() {
    local version packages package
    rm -rf "$work/packages" "$root" "$arm"
    mkdir -p "$work"/{packages,lists/partial,cache/archives/partial} "$root" "$arm"
    cat >"$work/apt.conf" <<CONF
Dir::State::Lists "$work/lists";
Dir::Cache "$work/cache";
APT::Architectures { "amd64"; "arm64"; };
CONF
    export APT_CONFIG=$work/apt.conf
    apt-get update -qq
    version=$(apt-cache depends linux-image-arm64:arm64 | sed -n 's/.*Depends: linux-image-\(.*-arm64\).*/\1/p')
    [[ -n $version ]] || fail 'the package sources have no kernel for 64-bit ARM'
    mapfile -t packages < <(
        apt-get install --simulate --no-install-recommends qemu-system-arm rustc-web \
            libstd-rust-web-dev:arm64 gcc-aarch64-linux-gnu libc6-dev-arm64-cross cpio 2>/dev/null |
            awk '$1 == "Inst" { print $2 }'
    )
    (
        cd "$work/packages"
        apt-get download -qq "${packages[@]}"
        mkdir arm
        cd arm
        apt-get download -qq "linux-image-$version:arm64" busybox-static:arm64
    )
    for package in "$work"/packages/*.deb; do
        dpkg -x "$package" "$root"
    done
    for package in "$work"/packages/arm/*.deb; do
        dpkg -x "$package" "$arm"
    done
    rm -rf "$work/packages" "$work/cache"
    printf '%s\n' "$version" >"$work/version"
}

[[ -f $work/version ]] || fetch
kernel=$(<"$work/version")

# The compiler expects its C library where the package would have put it.
cross=$root/usr/aarch64-linux-gnu
cat >"$work/linker" <<LINKER
#!/bin/sh
exec $root/usr/bin/aarch64-linux-gnu-gcc -B$cross/lib -B$cross/bin -L$cross/lib "\$@"
LINKER
chmod +x "$work/linker"

export LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu
target=aarch64-unknown-linux-gnu
RUSTC=$root/usr/bin/rustc CARGO_INCREMENTAL=0 \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$work/linker \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS='-C target-feature=+crt-static' \
    cargo test --quiet --locked --target $target --target-dir "$work/target" --test gpio_rppal --no-run
tests=''
for file in "$work/target/$target/debug/deps/"gpio_rppal-*; do
    [[ -x $file && ( -z $tests || $file -nt $tests ) ]] && tests=$file
done

tree=$work/tree
rm -rf "$tree"
mkdir -p "$tree"/{bin,dev,proc,sys,tmp}
cp "$arm/bin/busybox" "$tree/bin/busybox"
ln -s busybox "$tree/bin/sh"
"$root/usr/bin/aarch64-linux-gnu-strip" -o "$tree/bin/gpio_rppal" "$tests"
cat >"$tree/init" <<'INIT'
#!/bin/sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
gpio_rppal --ignored --test-threads=1 && echo "$verdict: passed" || echo "$verdict: failed"
echo "$verdict: over"
reboot -f
INIT
chmod +x "$tree/init"
cpio=$root/bin/cpio
[[ -x $cpio ]] || cpio=$(command -v cpio) || fail "cpio is missing"
(cd "$tree" && find . | "$cpio" -o -H newc --quiet | gzip -1) >"$work/initrd.gz"

# A name of its own for each run, so that nothing of the guest can look like the verdict.
verdict=gpio-rppal-$RANDOM$RANDOM
"$root/usr/bin/qemu-system-aarch64" -L "$root/usr/share/qemu" \
    -M raspi3b -m 1G -smp 4 -no-reboot -display none -serial stdio -monitor none \
    -kernel "$arm/boot/vmlinuz-$kernel" -initrd "$work/initrd.gz" \
    -dtb "$arm/usr/lib/linux-image-$kernel/broadcom/bcm2837-rpi-3-b.dtb" \
    -append "console=ttyAMA0,115200 rdinit=/init panic=-1 quiet loglevel=3 iomem=relaxed verdict=$verdict TOUCHMOVED_GPIO_BASE=0x3f200000" \
    </dev/null >"$work/said" 2>&1 &
qemu=$!
# The emulated machine does not end by itself.
for ((n = 0; n < 600; n++)); do
    sleep 0.5
    grep -q "^$verdict: over\|Kernel panic" "$work/said" && break
    kill -0 $qemu 2>/dev/null || break
done
kill $qemu 2>/dev/null || true
wait $qemu || true
cat "$work/said"
grep -q "^$verdict: passed" "$work/said" || fail 'the tests do not pass in the emulated Raspberry Pi'
printf 'tests/vm/raspberry-pi.sh: everything holds\n'
