//! Prints the lines in a robots.txt that are not rules: sitemaps, the crawler's delay, and all other lines.
//!
//! `cargo run -p reptile --example directives -- ROBOTS.TXT TOKEN`

use std::error::Error;

use reptile::{Dialect, Robots};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, token] = &arguments[..] else { return Err("usage: directives ROBOTS.TXT TOKEN".into()) };
    let robots = Robots::parse(std::fs::read(file)?, Dialect::bing())?;
    let agent = robots.agent(token)?;

    let site = robots.site()?;
    for sitemap in site.sitemaps() {
        println!("sitemap {}", sitemap.escape_ascii());
    }
    match agent.crawl_delay("/")? {
        Some(delay) => println!("{token} is asked to wait {delay:?} between fetches"),
        None => println!("{token} is asked for no delay"),
    }
    for directive in agent.directives("/")? {
        println!("line {}: {directive} ({})", directive.line, directive.state);
    }
    for (line, diagnostic) in robots.diagnostics() {
        println!("line {line}: {diagnostic}");
    }
    Ok(())
}
