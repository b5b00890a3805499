use super::super::report::Verdict;
use super::*;

#[test]
fn the_file_system_of_a_path_is_the_deepest_one() {
    let mounts = "overlayroot / overlay rw,upperdir=/x 0 0\n/dev/sda1 /var ext4 rw,noatime 0 0\n\
                  tmpfs /var/lib\\040x tmpfs ro 0 0\nbroken\n";
    let mount = |path| mount_of(path, mounts).unwrap();
    assert_eq!(mount("/var/lib/touchmoved").source, "/dev/sda1");
    assert_eq!(mount("/variety").kind, "overlay");
    assert_eq!(
        mount("/var/lib x/a"),
        Mount { source: "tmpfs".into(), kind: "tmpfs".into(), read_only: true }
    );
    assert!(forgets(&mount("/")) && !forgets(&mount("/var")));
    assert_eq!(mount_of("/", ""), None);
}

#[test]
fn a_disk_is_full_forgetful_low_slow_or_good() {
    let ext4 = Mount { source: "/dev/sda1".into(), kind: "ext4".into(), read_only: false };
    let tmpfs = Mount { source: "tmpfs".into(), kind: "tmpfs".into(), read_only: false };
    let look = |free_bytes, syncs: &[u64], mount: &Mount| {
        let found =
            Disk { free_bytes, free_files: Some(1000), syncs_us: syncs.to_vec(), mount: Some(mount.clone()) };
        disk("/data", &found)
    };
    let big = 4_000_000_000;
    assert_eq!(look(1_000_000, &[900], &ext4).verdict, Verdict::Failed);
    assert!(look(big, &[900], &tmpfs).what.contains("forgets everything when the power goes"));
    assert!(look(100_000_000, &[900], &ext4).what.contains("room for about 500 games"));
    assert!(look(big, &[900, 300_000], &ext4).what.contains("up to 300 ms"));
    assert_eq!(look(big, &[], &ext4).verdict, Verdict::NotRun);
    let good = look(big, &[900, 4_210], &ext4);
    assert_eq!(good.verdict, Verdict::Ok);
    assert!(good.what.contains("2 writes with fsync took up to 4.2 ms"), "{}", good.what);
    let no_files = Disk { free_bytes: big, free_files: Some(3), syncs_us: vec![1], mount: None };
    assert_eq!(disk("/data", &no_files).verdict, Verdict::Failed);
}

#[test]
fn the_time_says_what_it_means_for_the_record() {
    assert_eq!(time(&TimeSource::Synchronised("timedatectl"), 2026).verdict, Verdict::Ok);
    assert!(
        time(&TimeSource::Free("timedatectl"), 2026)
            .what
            .contains("times of the game are right all the same")
    );
    assert_eq!(time(&TimeSource::Synchronised("x"), 1970).verdict, Verdict::Failed);
    assert_eq!(time(&TimeSource::Unknown("no timedatectl".to_owned()), 2026).verdict, Verdict::NotRun);
}

#[test]
fn a_pi_tells_of_heat_and_power() {
    assert_eq!(temperature(Some("48686\n")).what, "48 degrees Celsius");
    assert_eq!(temperature(Some("71000")).verdict, Verdict::Warning);
    assert_eq!(temperature(Some("85000")).verdict, Verdict::Failed);
    assert_eq!(temperature(None).verdict, Verdict::NotRun);
    assert_eq!(power(Some("0\n")).verdict, Verdict::Ok);
    assert!(power(Some("0x50005")).what.starts_with("under-voltage, throttling now"));
    assert!(power(Some("50000")).what.starts_with("under-voltage, throttling since"));
    assert_eq!(power(Some("what")).verdict, Verdict::NotRun);
}
