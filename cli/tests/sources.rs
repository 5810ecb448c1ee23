//! Where inputs come from: lists of file names, patterns, and URL tables of many shapes.
#![allow(clippy::unwrap_used, reason = "a test may")]

use crate::support::Folder;

/// Each command with many inputs, with `INPUTS` in place of them, and its inputs as a recursive pattern.
const MANY: [(&str, &str); 6] = [
    ("compile -o OUT INPUTS", "in/**/*.jsonl"),
    ("update set -o OUT INPUTS", "in/**/*.jsonl"),
    ("merge -o OUT INPUTS", "in/**/*.set"),
    ("classify set --agent bot-a --output-folder OUT INPUTS", "in/**/*.txt"),
    ("filter --set set --agent bot-a -o OUT INPUTS", "in/**/*.warc"),
    ("lint INPUTS", "in/**/*.robots"),
];

/// Writes two inputs for each command, one of them with a blank in its name and in a subfolder.
fn write_inputs(folder: &Folder) {
    for (host, path) in [("one.example", "in/a b/c/1"), ("two.example", "in/2")] {
        let capture = format!("{{\"url\":\"https://{host}/robots.txt\",\"status\":200,\"body\":\"disallow: /\"}}\n");
        folder.write(&format!("{path}.jsonl"), capture);
        folder.run(&["compile", "-o", &format!("{path}.set"), &format!("{path}.jsonl")]).says(0, &[]);
        folder.write(&format!("{path}.txt"), format!("https://{host}/\nhttps://a.example/private\n"));
        let warc = format!("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/{}", host.len());
        folder.write(&format!("{path}.warc"), warc + "\r\nContent-Length: 0\r\n\r\n\r\n\r\n");
        folder.write(&format!("{path}.robots"), "user-agent: *\ndissallow: /\n");
    }
}

#[test]
fn listed_files_and_patterns_equal_arguments_in_every_command() {
    let folder = Folder::with_set();
    write_inputs(&folder);
    for (number, (command, pattern)) in MANY.into_iter().enumerate() {
        let end = pattern.rsplit('.').next().unwrap();
        let paths = [format!("in/2.{end}"), format!("in/a b/c/1.{end}")];
        let run = |way: usize, inputs: &[&str], stdin: &str| {
            let out = format!("out-{number}-{way}");
            let mut args: Vec<&str> = command.split(' ').filter(|word| *word != "INPUTS").collect();
            args.iter_mut().filter(|word| **word == "OUT").for_each(|word| *word = &out);
            args.extend(inputs);
            let run = folder.run_with(&args, stdin.as_bytes());
            let mut files = vec![run.stdout.clone()];
            let out = folder.path(&out);
            match out.is_dir() {
                // A pattern's outputs keep their paths.
                true => files.extend(["1.txt.tsv", "2.txt.tsv"].map(|name| {
                    let paths = [out.join(name), out.join("a b/c").join(name)];
                    paths.iter().find_map(|path| std::fs::read(path).ok()).unwrap()
                })),
                false if command.contains("OUT") => files.push(std::fs::read(&out).unwrap()),
                false => {}
            }
            assert!(files.iter().any(|bytes| !bytes.is_empty()), "{command}: {run:?}");
            (run.code, files)
        };
        let lines = paths.join("\n") + "\n";
        folder.write("list", &lines);
        let expected = run(0, &[&paths[0], &paths[1]], "");
        assert_eq!(run(1, &["--files-from", "list"], ""), expected, "{command}");
        assert_eq!(run(2, &["--files-from", "-"], &lines), expected, "{command}");
        assert_eq!(run(3, &["--files-from", "-"], &paths.join("\0")), expected, "{command}");
        assert_eq!(run(4, &[pattern], ""), expected, "{command}");
        folder.write("list", format!("{}\r\n", paths[1]));
        assert_eq!(run(5, &[&paths[0], "--files-from", "list"], ""), expected, "{command}");

        // The list, the argument and the message.
        for (list, argument, message) in [
            ("", None, "list: names no file; expected a file name on each line"),
            ("in\nno such file\n", None, "list: line 2: no such file: "),
            ("in/*\n", None, "list: line 1: in/*: "),
            ("in", Some("no/**/file"), "no/**/file: no such file, and no file matches this pattern"),
        ] {
            folder.write("list", list);
            let mut args: Vec<&str> = command.split(' ').filter(|word| *word != "INPUTS").collect();
            args.extend(argument);
            folder.run(&[&args[..], &["--files-from", "list"]].concat()).says(2, &[message]);
        }
    }
    let message = "--files-from -: standard input is an input too";
    folder.run(&["classify", "set", "-", "--agent", "bot-a", "--files-from", "-"]).says(2, &[message]);
}
