//! Decides a list of URLs by a compiled set, for several crawlers at once, on all threads.
//!
//! `cargo run -p reptile --example batch -- SET URLS TOKEN...`

use std::error::Error;

use reptile::{Set, Verdict};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(set), Some(urls)) = (arguments.next(), arguments.next()) else {
        return Err("usage: batch SET URLS TOKEN...".into());
    };
    let agents = Set::read(set)?.agents(arguments)?;
    let text = std::fs::read(urls)?;
    let urls: Vec<&[u8]> = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();

    let mut verdicts = vec![Verdict::Invalid; urls.len() * agents.len()];
    agents.par_decide_all(&urls, &mut verdicts)?;

    for (column, agent) in agents.iter().enumerate() {
        let of_agent = verdicts.iter().skip(column).step_by(agents.len());
        let count = |wanted: Verdict| of_agent.clone().filter(|&&verdict| verdict == wanted).count();
        println!(
            "{}: {} allowed, {} disallowed, {} unknown, {} invalid",
            agent.crawler(),
            count(Verdict::Allow),
            count(Verdict::Disallow),
            count(Verdict::Unknown),
            count(Verdict::Invalid)
        );
    }
    Ok(())
}
