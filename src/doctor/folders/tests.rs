use super::super::report::Verdict;
use super::*;

const PASSWD: &str =
    "root:x:0:0:root:/root:/bin/bash\ntouchmoved:x:997:996::/var/lib/touchmoved:/usr/sbin/nologin\n";
const GROUP: &str = "root:x:0:\ndialout:x:20:someone,touchmoved\ntouchmoved:x:996:\nbroken\n";

fn service() -> User {
    User::find(SERVICE_USER, PASSWD, GROUP).unwrap()
}

#[test]
fn a_user_has_the_rights_of_himself_his_groups_and_everybody() {
    let user = service();
    assert_eq!(user, User { name: "touchmoved".to_owned(), uid: 997, gids: vec![996, 20] });
    assert_eq!(User::find("nobody", PASSWD, GROUP), None);
    let on = |uid, gid, mode| Rights { uid, gid, mode };
    assert!(user.may(7, on(997, 0, 0o700)));
    assert!(!user.may(2, on(997, 20, 0o077)), "the owner has the owner's rights only");
    assert!(user.may(6, on(0, 20, 0o660)) && !user.may(2, on(0, 20, 0o642)));
    assert!(user.may(4, on(0, 0, 0o644)) && !user.may(2, on(0, 0, 0o755)));
}

#[test]
fn somebody_else_is_told_to_run_it_as_the_service_does() {
    assert_eq!(tester(&service(), 997), None);
    assert_eq!(tester(&service(), 0), None);
    let line = tester(&service(), 1000).unwrap().line();
    assert!(line.ends_with("`sudo -u touchmoved touchmoved doctor`"), "{line}");
}

#[test]
fn a_folder_is_written_made_or_given_to_the_service() {
    let check = |written, foreign: &[&str], user: Option<&User>| {
        let foreign = foreign.iter().map(|text| (*text).to_owned()).collect();
        folder(Topic::Journals, &Folder { path: "/data".to_owned(), written, foreign }, user)
    };
    assert_eq!(check(Some(Ok(())), &[], None).verdict, Verdict::Ok);
    assert_eq!(check(None, &[], None).verdict, Verdict::Ok);
    let user = service();
    let refused = check(Some(Err("Read-only file system".to_owned())), &[], Some(&user)).line();
    assert!(refused.contains("journals: /data: cannot be written: Read-only file system"), "{refused}");
    assert!(refused.ends_with("`sudo chown -R touchmoved:touchmoved /data`"), "{refused}");
    let foreign = check(Some(Ok(())), &["/data/1"], Some(&user));
    assert_eq!(foreign.verdict, Verdict::Failed);
    assert!(foreign.what.ends_with("may not write /data/1"));
}

#[test]
fn a_token_is_kept_from_others_and_readable_for_the_service() {
    let rights = |mode| Some(Rights { uid: 0, gid: 996, mode });
    let user = service();
    let key = ("arbiter.token-file", Issuer::Organizer);
    let look = |read, mode| token(key, "/t", read, rights(mode), Some(&user));
    assert_eq!(look(Ok(()), 0o640).verdict, Verdict::Ok);
    assert_eq!(look(Ok(()), 0o644).verdict, Verdict::Warning);
    assert_eq!(look(Ok(()), 0o600).verdict, Verdict::Failed);
    assert!(look(Err("too short".to_owned()), 0o640).line().contains("openssl rand -hex 16"));
    let lichess = token(
        ("lichess.token-file", Issuer::Lichess),
        "/t",
        Err("gone".to_owned()),
        rights(0o640),
        Some(&user),
    );
    assert!(
        lichess.line().contains("study:write") && !lichess.line().contains("openssl"),
        "{}",
        lichess.line()
    );
}

#[test]
fn the_service_opens_devices_of_the_groups_that_its_unit_names() {
    let unit = include_str!("../../../systemd/touchmoved.service");
    assert!(unit.contains(&format!("SupplementaryGroups={}\n", SERVICE_GROUPS.join(" "))), "{unit}");
    let user = User::of_service(PASSWD, "touchmoved:x:996:\ndialout:x:20:\ngpio:x:993:\ntty:x:5:\n").unwrap();
    assert_eq!(user.gids, [996, 20, 993]);
    let check = |gid, mode| permissions("/dev/ttyUSB0", Rights { uid: 0, gid, mode }, &user);
    assert_eq!(check(20, 0o660).verdict, Verdict::Ok);
    assert_eq!(check(5, 0o666).verdict, Verdict::Ok);
    assert_eq!(check(20, 0o640).verdict, Verdict::Failed);
    let line = check(5, 0o660).line();
    assert!(
        line.starts_with("failed   permissions: /dev/ttyUSB0: the user touchmoved of the service may not"),
        "{line}"
    );
}
