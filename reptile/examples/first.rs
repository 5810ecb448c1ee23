//! Decides two URLs for GPTBot by a set, with the rule: `cargo run -p reptile --example first -- SET`.

use reptile::Set;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let set = Set::read(std::env::args().nth(1).ok_or("usage: first SET")?)?;
    let agent = set.agent("GPTBot")?;
    for url in ["https://shop.example.com/cart?item=17", "https://shop.example.com/search/help"] {
        let why = agent.explain(url)?;
        println!("{} {} {url}", why.verdict, why.rule().map_or(String::new(), ToString::to_string));
    }
    Ok(())
}
