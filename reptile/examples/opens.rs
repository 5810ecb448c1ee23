//! Prints a path that a crawler may fetch, but others may not: `cargo run -p reptile --example opens -- ROBOTS CRAWLER`

use std::error::Error;
use std::process::ExitCode;
use std::{env, fs};

use reptile::reason::Witness;
use reptile::{Crawler, Dialect, Robots};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [file, name] = &arguments[..] else { return Err("usage: opens ROBOTS CRAWLER".into()) };
    let robots = Robots::parse(fs::read(file)?, Dialect::google())?;
    let crawler = robots.agent(name.as_str())?;
    match crawler.permits_no_more_than(&robots.agent(Crawler::anyone())?, "/")? {
        Witness::None => {
            println!("proved: {name} may fetch nothing that others may not");
            return Ok(ExitCode::SUCCESS);
        }
        Witness::Path(path) => println!("{name} may fetch {}, and others may not", path.escape_ascii()),
        Witness::Unproved => println!("unproved: the rules are too complex"),
    }
    Ok(ExitCode::FAILURE)
}
