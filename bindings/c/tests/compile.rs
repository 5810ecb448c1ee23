//! Compiles and merges sets through the C functions. Results equal the Rust library's, and mistakes are errors.

use std::ffi::{CStr, CString};
use std::path::Path;
use std::ptr::{null, null_mut};

use reptile::{Capture, Compiler, Dialect};
use reptile_c::*;

use crate::misuse::{alone, asked, decide, done, free_set, parsed, resolved};

const BODY: &str = "user-agent: *\ndisallow: /cart\n";
const URL: &CStr = c"https://shop.example/robots.txt";

fn no_options() -> ReptileCompilerOptions {
    let size = size_of::<ReptileCompilerOptions>();
    ReptileCompilerOptions { size, dialect: null(), profile: null(), at: 0, flags: 0, memory: 0, folder: null() }
}

/// Returns a capture of a body at this URL.
fn capture(url: &CStr, body: Option<&str>) -> ReptileCapture {
    ReptileCapture {
        size: size_of::<ReptileCapture>(),
        url: url.as_ptr(),
        url_len: url.count_bytes(),
        body: body.map_or(null(), str::as_ptr),
        body_len: body.map_or(0, str::len),
        time: 0,
        cache_control: null(),
        content_type: null(),
        truncated: null(),
        error: null(),
        status: 0,
        redirects: 0,
    }
}

fn compiler(options: Option<&ReptileCompilerOptions>) -> Result<*mut ReptileCompiler, (ReptileCode, String)> {
    let options = options.map_or(null(), |options| &raw const *options);
    let mut compiler = std::ptr::dangling_mut();
    // SAFETY: the options are null or valid, and `compiler` is writable.
    let (code, text) = asked(|message| unsafe { reptile_compiler_new(options, &raw mut compiler, message) });
    assert_eq!(code != ReptileCode::Ok, compiler.is_null());
    if code == ReptileCode::Ok { Ok(compiler) } else { Err((code, text)) }
}

fn add(compiler: *const ReptileCompiler, capture: &ReptileCapture) -> (ReptileCode, String) {
    // SAFETY: the compiler is checked, and the capture's pointers are valid or its lengths are checked.
    asked(|message| unsafe { reptile_compiler_add(compiler, capture, message) })
}

fn finish(compiler: *const ReptileCompiler) -> Result<*mut ReptileSet, (ReptileCode, String)> {
    let mut set = std::ptr::dangling_mut();
    // SAFETY: the compiler is checked, and `set` is writable.
    let (code, text) = asked(|message| unsafe { reptile_compiler_finish_set(compiler, &raw mut set, message) });
    assert_eq!(code != ReptileCode::Ok, set.is_null());
    if code == ReptileCode::Ok { Ok(set) } else { Err((code, text)) }
}

fn finish_file(compiler: *const ReptileCompiler, path: &Path, force: bool) -> (ReptileCode, String) {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the compiler is checked, and the path is NUL-terminated.
    asked(|message| unsafe { reptile_compiler_finish_file(compiler, path.as_ptr(), force, message) })
}

fn free(mut compiler: *mut ReptileCompiler) -> ReptileCode {
    // SAFETY: `compiler` is a variable, and its handle is checked before it is read.
    unsafe { reptile_compiler_free(&raw mut compiler) }
}

/// Returns the verdict of a set for any crawler.
fn verdict(set: *const ReptileSet, url: &str) -> ReptileVerdict {
    let (agents, code, text) = resolved(set, &["MyBot"]);
    assert_eq!(code, ReptileCode::Ok, "{text}");
    let mut verdicts = [0];
    assert_eq!(decide(agents, url, &mut verdicts).0, ReptileCode::Ok);
    done(agents);
    let all = [ReptileVerdict::Allow, ReptileVerdict::Disallow, ReptileVerdict::Unknown, ReptileVerdict::Invalid];
    all.into_iter().find(|&verdict| verdict as u8 == verdicts[0]).unwrap()
}

#[test]
fn files_are_identical_to_those_of_the_library() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dialect = Dialect::rfc9309();
    let (url, time) = ("https://shop.example/robots.txt", Some(1_767_225_600));
    for (flags, memory) in [(0, 0), (1, 0), (2, 0), (4, 0), (7, 0), (0, 1), (1, u64::MAX)] {
        let mut expected = Compiler::new(dialect).by_time(flags & 1 != 0).line_numbers(flags & 2 == 0);
        expected = expected.other_directives(flags & 4 == 0);
        let mut first = Capture::new(url, BODY).unwrap();
        (first.time, first.cache_control) = (time, Some("max-age=60".to_owned()));
        let mut second = Capture::without_body(url).unwrap();
        (second.status, second.time, second.redirects) = (Some(503), time.map(|time| time + 9), 2);
        let mut third = Capture::without_body("http://other.example/robots.txt").unwrap();
        (third.has_failed, third.time) = (true, time);
        for capture in [first, second, third] {
            expected.add(capture).unwrap();
        }

        let parts = CString::new(folder.path().to_str().unwrap()).unwrap();
        let options = ReptileCompilerOptions {
            dialect: c"rfc9309".as_ptr(),
            flags,
            memory,
            folder: parts.as_ptr(),
            ..no_options()
        };
        let made = compiler(Some(&options)).unwrap();
        let time = time.unwrap();
        for capture in [
            ReptileCapture { error: c"no address".as_ptr(), time, ..capture(c"http://other.example/robots.txt", None) },
            ReptileCapture { status: 503, time: time + 9, redirects: 2, error: c"".as_ptr(), ..capture(URL, None) },
            ReptileCapture { time, cache_control: c"max-age=60".as_ptr(), ..capture(URL, Some(BODY)) },
        ] {
            assert_eq!(add(made, &capture), (ReptileCode::Ok, String::new()));
        }
        let path = folder.path().join(format!("{flags}-{memory}.reptile"));
        assert_eq!(finish_file(made, &path, false), (ReptileCode::Ok, String::new()));
        assert!(std::fs::read(&path).unwrap() == expected.finish().unwrap().to_bytes(), "{flags} {memory}");
        assert_eq!(free(made), ReptileCode::Ok);
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 7, "temporary files remain");
}

#[test]
fn options_with_mistakes_are_errors() {
    let _alone = alone();
    let none = no_options();
    for (options, expected) in [
        (ReptileCompilerOptions { dialect: c"gogle".as_ptr(), ..none }, "unknown dialect \"gogle\", expected one of"),
        (ReptileCompilerOptions { dialect: c"\xff".as_ptr(), ..none }, "the dialect is not UTF-8"),
        (ReptileCompilerOptions { profile: c"none".as_ptr(), ..none }, "unknown fetch profile \"none\""),
        (ReptileCompilerOptions { flags: 8, ..none }, "unknown flags 0x8, expected only 0x7"),
        (ReptileCompilerOptions { flags: u64::MAX, ..none }, "unknown flags"),
        (ReptileCompilerOptions { memory: 1, ..none }, "the folder for data over the memory limit is a null pointer"),
        (ReptileCompilerOptions { size: 0, ..none }, "the field `size` is 0, expected 56"),
        (ReptileCompilerOptions { size: none.size - 1, ..none }, "the field `size` is 55, expected 56"),
    ] {
        let (code, text) = compiler(Some(&options)).unwrap_err();
        assert!(code == ReptileCode::Argument && text.contains(expected), "{text}");
    }
    // SAFETY: the null variable is checked first.
    let (code, _) = asked(|message| unsafe { reptile_compiler_new(null(), null_mut(), message) });
    assert_eq!(code, ReptileCode::Argument);
}

#[test]
fn captures_with_mistakes_are_left_out() {
    let _alone = alone();
    let made = compiler(None).unwrap();
    let good = capture(URL, Some(BODY));
    let large = " ".repeat((16 << 20) + 1);
    for (capture, code, expected) in [
        (ReptileCapture { size: 0, ..good }, ReptileCode::Argument, "the field `size` is 0, expected 88"),
        (ReptileCapture { url: null(), ..good }, ReptileCode::Argument, "a null pointer with a length of"),
        (ReptileCapture { url_len: usize::MAX, ..good }, ReptileCode::Argument, "too large"),
        (ReptileCapture { body: null(), ..good }, ReptileCode::Argument, "the body: a null pointer with a length of"),
        (ReptileCapture { body_len: usize::MAX, ..good }, ReptileCode::Argument, "the body: length"),
        (ReptileCapture { status: 65_536, ..good }, ReptileCode::Argument, "the status is 65536, expected"),
        (ReptileCapture { truncated: c"cut".as_ptr(), ..good }, ReptileCode::Argument, "expected one of length, time"),
        (ReptileCapture { content_type: c"\xff".as_ptr(), ..good }, ReptileCode::Argument, "content_type is not UTF-8"),
        (capture(c"https://shop.example/", Some(BODY)), ReptileCode::Capture, "https://shop.example/: "),
        (capture(c"", Some(BODY)), ReptileCode::Capture, ""),
        (capture(URL, None), ReptileCode::Capture, "has no body"),
        (capture(URL, Some(&large)), ReptileCode::Limit, "16777216"),
    ] {
        let (found, text) = add(made, &capture);
        assert!(found == code && text.contains(expected), "{found:?}: {text}");
    }
    // SAFETY: null is checked first.
    let (code, _) = asked(|message| unsafe { reptile_compiler_add(made, null(), message) });
    assert_eq!(code, ReptileCode::Argument);
    assert_eq!(add(null(), &good).0, ReptileCode::Argument);
    assert_eq!(add(made, &capture(URL, Some(&large[1..]))).0, ReptileCode::Ok, "at the limit");
    assert_eq!(add(made, &capture(c"https://other.example/robots.txt", Some(BODY))).0, ReptileCode::Ok);
    let mut set = finish(made).unwrap();
    // SAFETY: the set is live.
    assert_eq!(unsafe { reptile_set_len(set) }, 2);
    assert_eq!(verdict(set, "https://other.example/cart"), ReptileVerdict::Disallow);
    assert_eq!(verdict(set, "https://shop.example/cart"), ReptileVerdict::Allow);
    assert_eq!((free_set(&mut set), free(made), free(made)), (ReptileCode::Ok, ReptileCode::Ok, ReptileCode::Argument));
    assert_eq!(add(made, &good).0, ReptileCode::Argument);
    assert_eq!(finish(made).unwrap_err().0, ReptileCode::Argument);
}

#[test]
fn files_are_never_overwritten_by_accident() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = (folder.path().join("web.reptile"), b"old");
    std::fs::write(&path, old).unwrap();
    let made = compiler(None).unwrap();
    assert_eq!(add(made, &capture(URL, Some(BODY))).0, ReptileCode::Ok);
    let (code, text) = finish_file(made, &path, false);
    assert!(code == ReptileCode::Exists && text.contains("web.reptile: exists already"), "{text}");
    let (code, text) = finish_file(made, &folder.path().join("no/web.reptile"), false);
    assert!(code == ReptileCode::Io && text.contains("no/web.reptile"), "{text}");
    // SAFETY: null is checked first.
    let (code, _) = asked(|message| unsafe { reptile_compiler_finish_file(made, null(), true, message) });
    assert_eq!(code, ReptileCode::Argument);
    assert_eq!(std::fs::read(&path).unwrap(), old);
    // Nothing was compiled until now, so a capture can still be added.
    assert_eq!(add(made, &capture(c"http://shop.example/robots.txt", Some(BODY))).0, ReptileCode::Ok);
    assert_eq!(finish_file(made, &path, true), (ReptileCode::Ok, String::new()));
    let (code, text) = add(made, &capture(URL, Some(BODY)));
    assert!(code == ReptileCode::Argument && text.contains("finished"), "{text}");
    // The set can be written and opened again.
    assert_eq!(finish_file(made, &folder.path().join("again"), false).0, ReptileCode::Ok);
    let mut set = finish(made).unwrap();
    assert_eq!(verdict(set, "http://shop.example/cart"), ReptileVerdict::Disallow);
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(folder.path().join("again")).unwrap());
    assert_eq!(folder.path().read_dir().unwrap().count(), 2, "hidden files remain");
    assert_eq!((free_set(&mut set), free(made)), (ReptileCode::Ok, ReptileCode::Ok));
}

#[test]
fn merged_sets_equal_compiled_ones() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let other = capture(c"https://other.example/robots.txt", Some("user-agent: *\ndisallow: /a"));
    let shop = capture(URL, Some(BODY));
    let path = |name: &str| folder.path().join(name);
    let (all, one) = (compiler(None).unwrap(), compiler(None).unwrap());
    for capture in [&shop, &other] {
        assert_eq!(add(all, capture).0, ReptileCode::Ok);
    }
    assert_eq!(add(one, &shop).0, ReptileCode::Ok);
    let mut set = finish(one).unwrap();

    let merging = compiler(None).unwrap();
    // SAFETY: both are live.
    let add_set = |compiler, set| asked(|message| unsafe { reptile_compiler_add_set(compiler, set, message) });
    assert_eq!(add_set(merging, set), (ReptileCode::Ok, String::new()));
    assert_eq!(free_set(&mut set), ReptileCode::Ok);
    assert_eq!(add(merging, &other).0, ReptileCode::Ok);
    for (compiler, name) in [(all, "all"), (merging, "merged")] {
        assert_eq!(finish_file(compiler, &path(name), false), (ReptileCode::Ok, String::new()));
    }
    assert_eq!(std::fs::read(path("all")).unwrap(), std::fs::read(path("merged")).unwrap());

    // A single robots.txt cannot be merged, nor can sets with other settings.
    let mut robots = parsed();
    assert_eq!(add_set(all, null()).0, ReptileCode::Argument);
    let failing = compiler(Some(&ReptileCompilerOptions { dialect: c"yandex".as_ptr(), ..no_options() })).unwrap();
    let (code, text) = add_set(failing, robots);
    assert!(code == ReptileCode::Merge && text.contains("single robots.txt"), "{text}");
    let mut set = finish(one).unwrap();
    assert_eq!(add_set(failing, set).0, ReptileCode::Ok);
    let (code, text) = finish(failing).unwrap_err();
    assert!(code == ReptileCode::Merge && text.contains("dialect"), "{text}");
    let (code, text) = finish_file(failing, &path("failed"), false);
    assert!(code == ReptileCode::Argument && text.contains("failed before") && !path("failed").exists(), "{text}");
    assert_eq!((free_set(&mut robots), free_set(&mut set)), (ReptileCode::Ok, ReptileCode::Ok));
    for compiler in [all, one, merging, failing] {
        assert_eq!(free(compiler), ReptileCode::Ok);
    }
}

#[test]
fn threads_may_add_captures_at_the_same_time() {
    let _alone = alone();
    let made = compiler(None).unwrap();
    let shared = made.expose_provenance();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for site in 0..50 {
                    let url = CString::new(format!("https://{site}.{thread}.example/robots.txt")).unwrap();
                    let capture = capture(&url, Some(BODY));
                    assert_eq!(add(std::ptr::with_exposed_provenance(shared), &capture).0, ReptileCode::Ok);
                }
            });
        }
    });
    let mut set = finish(made).unwrap();
    // SAFETY: the set is live.
    assert_eq!(unsafe { reptile_set_len(set) }, 200);
    assert_eq!((free_set(&mut set), free(made)), (ReptileCode::Ok, ReptileCode::Ok));
}
