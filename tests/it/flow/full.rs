//! A full disk, at whatever moment it comes.

use std::process::Command;

use super::lab::{AS_STREAMED, Lab, native};

/// Runs the command again and again on a cache that has a little more room each time, until it
/// works; for each time a line with the room in KiB and the exit code. 77 says that nothing can be
/// mounted here.
const SCRIPT: &str = r#"
set -u
mount -t tmpfs -o size=16k none "$NSPATCH_CACHE" 2>/dev/null || exit 77
ln -s "$GUESTS" "$NSPATCH_CACHE/rootfs"
room=16
while [ $room -lt 4096 ]; do
    mount -o remount,size=${room}k none "$NSPATCH_CACHE" 2>/dev/null || exit 77
    "$@" --out "../room-$room" >"../$room.out" 2>"../$room.err"
    code=$?
    echo "$room $code"
    [ $code -eq 8 ] || break
    room=$((room + 20))
done
"#;

/// A command in a mount namespace of its own: what it mounts goes with it. As root that needs
/// nothing more; others may become root in a user namespace, on some systems.
fn unshared(lab: &Lab, args: &[&str]) -> Command {
    let own = if rustix::process::geteuid().is_root() { vec!["--mount"] } else { vec!["--mount", "--map-root-user"] };
    let nspatch = lab.command(args);
    let mut command = Command::new("unshare");
    command.args(own).args(["sh", "-c", SCRIPT, "sh"]).arg(nspatch.get_program()).args(nspatch.get_args());
    command.current_dir(nspatch.get_current_dir().unwrap()).env_clear();
    command.envs(nspatch.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("GUESTS", fs_err::read_link(lab.root.join("cache/rootfs")).unwrap());
    command
}

fn args(patch: &str) -> Vec<&str> {
    let fixed = ["test", "--tree", "../linux", "--bench", "unshare-ipc,setns-net", "--format", "json"];
    [&fixed[..], &AS_STREAMED, &["--arch", native().name, "--patch", patch]].concat()
}

#[test]
fn a_full_disk_is_told_with_the_way_out_and_nothing_half_made_is_used_when_there_is_room() {
    let (lab, elsewhere) = (Lab::new(), Lab::new());
    let patch = lab.patch("speed=slow", "speed=fast");
    let output = match unshared(&lab, &args(&patch)).output() {
        Ok(output) if output.status.success() => output,
        other => {
            eprintln!("skipped: no tmpfs can be mounted here ({other:?})");
            return;
        }
    };
    let told = String::from_utf8(output.stdout).unwrap();
    let times: Vec<(&str, &str)> = told.lines().map(|line| line.split_once(' ').unwrap()).collect();
    let read = |room: &str, kind: &str| fs_err::read_to_string(lab.root.join(format!("{room}.{kind}"))).unwrap();
    let (last, before) = times.split_last().unwrap();
    assert_eq!(last.1, "0", "{}", read(last.0, "err"));
    assert!(before.len() > 5, "there was room too soon: {told}");
    for (room, _) in before {
        let said = read(room, "err");
        assert!(said.contains("NSPATCH_CACHE") && said.contains("owner: this machine"), "{room}: {said}");
    }
    let run: serde_json::Value = serde_json::from_str(&read(last.0, "out")).unwrap();
    let patch = elsewhere.patch("speed=slow", "speed=fast");
    let whole = elsewhere.nspatch(&args(&patch));
    let whole: serde_json::Value = serde_json::from_str(&whole.stdout).unwrap();
    assert_eq!(run["rows"], whole["rows"]);
    for side in ["baseline", "candidate"] {
        let image = |run: &serde_json::Value| run["comparisons"][0][side]["image_sha256"].clone();
        assert_eq!(image(&run), image(&whole));
    }
}
