//! Decides the URLs of a table by the robots.txt files in WARC files: `crawl_verdicts AGENT URLS OUT.parquet WARC...`.

use std::{error::Error, fs::File, io::BufWriter};

use reptile::{Compiler, Dialect};
use reptile_columns::{
    AnswerFormat, AnswerRows, Column, ColumnFormat, ColumnWriter, Decider, Layout, TableDecider, columns_of,
};
use reptile_records::tables::{open::Opening, source::Source};
use reptile_records::{Error as ReadError, Item, ReadOptions, Reading, open::Input, spill::Scratch, warc::InputPlace};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [agent, urls, out, warcs @ ..] = &arguments[..] else { return Err("expected AGENT URLS OUT WARC...".into()) };
    let mut compiler = Compiler::new(Dialect::google());
    let (parser, options) = (compiler.parser(), ReadOptions::default());
    let reading = Reading::new(&options, Scratch::default());
    let mut invalid = 0;
    let mut add = |item: Item| {
        item.read(&mut |item| {
            if let Item::Bad { name, reason, detail } = item {
                invalid += 1;
                eprintln!("{name}: {reason}: {detail}");
                return Ok(());
            }
            let Some(response) = item.into_response()? else { return Ok(()) };
            compiler.add_parsed(parser.parse(response.captures, response.body.as_deref())).map_err(ReadError::sink)
        })
    };
    for (place, warc) in warcs.iter().enumerate() {
        reading.read(Input::open(warc.as_str())?, InputPlace { input: place, rank: place as u32 }, &mut add)?;
    }
    reading.resolve(&mut add)?; // Redirects and revisits are resolved across all files.
    let set = compiler.finish()?.into_set()?;

    let decider = Decider::new(set.agents([&agent[..]])?, Layout::new(&Column::from_list("url,verdict,line,rule")?)?)?;
    let columns = columns_of(decider.layout(), decider.crawlers());
    let mut file = ColumnWriter::new(BufWriter::new(File::create(out)?), ColumnFormat::Parquet, columns);
    let decider = TableDecider::new(decider, AnswerFormat::Parquet)?;
    let mut answers = decider.answers();
    let (table, mut rows) = Source::open(urls.as_str())?.open_rows(&Opening::of(urls.as_str()))?;
    while let Some(part) = rows.next(Vec::new(), &|| true)? {
        for block in part.blocks() {
            decider.decide(&table, block, &mut answers)?;
            if let AnswerRows::Columns(columns) = &answers.rows {
                file.push(columns)?;
            }
        }
    }
    file.finish()?;
    if invalid == 0 { Ok(()) } else { Err(format!("{invalid} captures are invalid and were left out").into()) }
}
