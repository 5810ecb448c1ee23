//! Commands that make a set, killed at any moment. The set is the old one or the new one, never a partial one. The next
//! run succeeds and removes leftover files.
//!
//! By default, each command is killed 10 times. `REPTILE_KILLS=100 cargo test -p reptile-cli --test all killed` kills
//! it 100 times.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use std::collections::HashSet;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Instant;

use support::Folder;

/// Default number of kills per command.
const KILLS: u32 = 10;

/// Number of origins in the set: enough for a run of some tenths of a second.
const ORIGINS: usize = 20_000;

fn web(folder: &Folder, name: &str, rule: &str) {
    let line = |number: usize| {
        format!(
            "{{\"url\":\"http://h{number}.example/robots.txt\",\"time\":{},\
             \"body\":\"user-agent: *\\ndisallow: /{rule}{}\\n\"}}\n",
            1_700_000_000 + number,
            number % 1000
        )
    };
    folder.write(name, (0..ORIGINS).map(line).collect::<String>());
}

/// Repeatedly kills a command that replaces the file `set`, at moments spread over its run.
fn kill(folder: &Folder, args: &[&str], moment: &mut u64) {
    let old = folder.read("set");
    let start = Instant::now();
    folder.run(args).says(0, &[]);
    let whole = start.elapsed();
    let new = folder.read("set");
    assert!(old != new);
    let kills = std::env::var("REPTILE_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let mut left = 0;
    for _ in 0..kills {
        folder.write("set", &old);
        let mut child = folder.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        *moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        sleep(whole / 1000 * ((*moment >> 33) % 1000) as u32);
        let _ = child.kill();
        child.wait().unwrap();
        let found = folder.read("set");
        assert!(found == old || found == new, "{args:?}: a set of {} bytes", found.len());
        left += folder.names().iter().filter(|name| name.starts_with('.')).count();
    }
    println!("{args:?}: {left} hidden files seen after {kills} kills");
    folder.run(args).says(0, &[]);
    assert!(folder.read("set") == new);
    let hidden: HashSet<String> = folder.names().into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
    folder.write("set", &old);
}

#[test]
fn a_killed_command_leaves_the_old_set_or_the_new_one() {
    let folder = Folder::new();
    web(&folder, "old.jsonl", "a");
    web(&folder, "new.jsonl", "b");
    folder.run(&["compile", "-o", "set", "old.jsonl"]).says(0, &[]);
    folder.run(&["compile", "-o", "part", "new.jsonl"]).says(0, &[]);
    let mut moment = 5;
    kill(&folder, &["compile", "--force", "-o", "set", "new.jsonl"], &mut moment);
    // With little memory, in three parts.
    kill(&folder, &["compile", "--memory", "16M", "--force", "-o", "set", "new.jsonl"], &mut moment);
    kill(&folder, &["merge", "--force", "-o", "set", "part"], &mut moment);
}
