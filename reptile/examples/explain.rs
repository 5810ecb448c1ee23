//! Explains why a crawler may or may not fetch a URL: the matching rules, the deciding rule, and its group.
//!
//! `cargo run -p reptile --example explain -- ROBOTS.TXT TOKEN URL`

use std::error::Error;

use reptile::{Dialect, Robots};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, token, url] = &arguments[..] else { return Err("usage: explain ROBOTS.TXT TOKEN URL".into()) };
    let robots = Robots::parse(std::fs::read(file)?, Dialect::google())?;
    let agent = robots.agent(token)?;

    let explanation = agent.explain(url)?;
    println!("{explanation}; group: {}", explanation.group);
    for rule in agent.matching_rules(url)? {
        let mark = if Some(&rule) == explanation.rule() { "decides" } else { "matches" };
        println!("{mark}  line {}: {rule}", rule.line);
    }
    let site = robots.site()?;
    if explanation.rule().is_some_and(|rule| site.is_in_managed_block(rule.line)) {
        println!("the line stands in a block that a vendor manages");
    }
    Ok(())
}
