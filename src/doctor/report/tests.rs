use super::*;

fn report(verdicts: &[Verdict]) -> Report {
    let checks = verdicts.iter().map(|verdict| Check::new(Topic::Disk, *verdict, "x")).collect();
    Report::new("0.1.0", "hall-7", "a.toml", checks, Vec::new())
}

#[test]
fn the_worst_verdict_counts_and_what_was_not_run_does_not() {
    use Verdict::{Failed, NotRun, Ok, Warning};
    for (verdicts, code, last) in [
        (&[Ok, NotRun][..], 0, "ready: 1 not-run, 1 ok"),
        (&[Ok, Warning, NotRun], 1, "ready, with warnings: 1 warning, 1 not-run, 1 ok"),
        (&[Failed, Warning, Ok, Ok], 2, "not ready: 1 failed, 1 warning, 2 ok"),
        (&[NotRun], 0, "ready: 1 not-run, 0 ok"),
    ] {
        let report = report(verdicts);
        assert_eq!(report.exit_code(), code);
        assert_eq!(report.text().lines().last(), Some(last));
    }
}

#[test]
fn a_check_is_one_line() {
    let check = Check::failed(Topic::Device, "no such device\nat all")
        .of("7")
        .at("/dev/ttyUSB0")
        .remedy("plug it in")
        .command("ls -l /dev/serial/by-id");
    assert_eq!(
        check.line(),
        "failed   board 7, device: /dev/ttyUSB0: no such device at all; plug it in: `ls -l /dev/serial/by-id`"
    );
}

#[test]
fn the_words_of_a_driver_are_taken_apart() {
    let said = "/dev/x: permission denied; `sudo usermod -aG dialout me` lets you read it";
    let check = Check::told(Topic::Device, "/dev/x", said);
    assert_eq!((check.place.as_deref(), check.what.as_str()), (Some("/dev/x"), "permission denied"));
    assert_eq!(check.command.as_deref(), Some("sudo usermod -aG dialout me"));
    assert_eq!(check.line(), format!("failed   device: {said}"));
    let bare = Check::told(Topic::Device, "/dev/x", "no answer");
    assert_eq!((bare.what.as_str(), bare.remedy, bare.command), ("no answer", None, None));
}

#[test]
fn what_was_not_run_for_one_reason_shares_a_line() {
    let not_run = |topic, board| Check::not_run(topic, "see device").of(board);
    let checks = vec![
        not_run(Topic::Squares, "1"),
        not_run(Topic::Bounce, "1"),
        not_run(Topic::Squares, "2"),
        Check::ok(Topic::Clock, "see device").of("2"),
    ];
    let text = Report::new("0.1.0", "hall-7", "a.toml", checks, Vec::new()).text();
    assert_eq!(
        text,
        "not-run  board 1, squares, bounce: see device\nnot-run  board 2, squares: see device\n\
         ok       board 2, clock: see device\nready: 3 not-run, 1 ok\n"
    );
}

#[test]
fn topics_and_verdicts_have_one_name() {
    for topic in Topic::ALL {
        assert_eq!(serde_json::to_value(topic).unwrap(), topic.as_str());
    }
    for verdict in [Verdict::Ok, Verdict::NotRun, Verdict::Warning, Verdict::Failed] {
        assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
    }
}
