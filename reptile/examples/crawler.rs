//! A crawler that uses a set compiled from last month's captures, a cache of copies that it fetches itself, several
//! crawler names, and a set that is replaced at run time.
//!
//! `cargo run -p reptile --example crawler`

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, RwLock};

use reptile::{Agents, Capture, Compiler, Dialect, Origin, Profile, Robots, Set, Verdict};

const NAMES: [&str; 2] = ["ExampleBot", "ExampleBot-News"];

/// Decides by the freshest copy available: its own, or else the set's.
struct Gate {
    base: RwLock<Arc<Agents>>,
    fetched: RwLock<HashMap<Origin, Arc<Agents>>>,
}

impl Gate {
    fn new(set: &Set) -> Result<Gate, Box<dyn Error>> {
        Ok(Gate { base: RwLock::new(Arc::new(set.agents(NAMES)?)), fetched: RwLock::default() })
    }

    /// Switches to a newer set. Decisions already in progress use the old one.
    fn reload(&self, set: &Set) -> Result<(), Box<dyn Error>> {
        *self.base.write().map_err(|_| "poisoned")? = Arc::new(set.agents(NAMES)?);
        Ok(())
    }

    /// Adds a newly fetched copy, regardless of its outcome.
    fn fetched(&self, capture: &Capture) -> Result<(), Box<dyn Error>> {
        let robots = Robots::from_capture(capture, Dialect::google(), Profile::of_dialect(Dialect::google()))?;
        let agents = Arc::new(robots.agents(NAMES)?);
        self.fetched.write().map_err(|_| "poisoned")?.insert(capture.origin.clone(), agents);
        Ok(())
    }

    fn decide(&self, url: &str) -> Result<[Verdict; NAMES.len()], Box<dyn Error>> {
        let own = match Origin::of_url(url) {
            Ok(origin) => self.fetched.read().map_err(|_| "poisoned")?.get(&origin).cloned(),
            Err(_) => None,
        };
        let agents = match own {
            Some(agents) => agents,
            None => Arc::clone(&*self.base.read().map_err(|_| "poisoned")?),
        };
        let mut verdicts = [Verdict::Invalid; NAMES.len()];
        agents.decide(url, &mut verdicts)?;
        Ok(verdicts)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let compile = |body: &str| -> Result<Set, Box<dyn Error>> {
        let mut compiler = Compiler::new(Dialect::google());
        compiler.add(Capture::new("https://example.com/robots.txt", body)?)?;
        Ok(compiler.finish()?.into_set()?)
    };
    let gate = Gate::new(&compile("user-agent: *\ndisallow: /old\n")?)?;
    assert_eq!(gate.decide("https://example.com/old")?, [Verdict::Disallow; 2]);
    assert_eq!(gate.decide("https://example.org/")?, [Verdict::Unknown; 2]);

    gate.fetched(&Capture::new("https://example.org/robots.txt", "user-agent: examplebot-news\ndisallow: /\n")?)?;
    assert_eq!(gate.decide("https://example.org/")?, [Verdict::Allow, Verdict::Disallow]);
    let mut failed = Capture::without_body("https://example.net/robots.txt")?;
    failed.status = Some(503);
    gate.fetched(&failed)?;
    assert_eq!(gate.decide("https://example.net/")?, [Verdict::Disallow; 2]);

    gate.reload(&compile("user-agent: *\ndisallow: /new\n")?)?;
    assert_eq!(gate.decide("https://example.com/old")?, [Verdict::Allow; 2]);
    println!("every verdict is as expected");
    Ok(())
}
