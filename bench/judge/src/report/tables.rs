//! The sections of a report: text, tables and plots made from a run's records.

use std::collections::BTreeSet;

use reptile_compiler::dialect;

use super::document::{Bar, Block, Table, bars, text_bars};
use super::figures::{Figure, Mean, Records, SHARE, fastest, figures, means, percent, time};
use crate::corpus::COMMON;
use crate::engine::MODELS;
use crate::letters;
use crate::records::{EngineRecord, Failure, Score};

/// Maximum number of differences shown per engine.
const EXAMPLES: usize = 4;

/// Maximum number of distinct failures listed.
const FAILURES: usize = 60;

/// Models whose speed the summary shows, with a column heading. The chart shows the first one that was measured.
const SUMMARY_MODELS: [(&str, &str); 2] = [("fresh", "time for new URLs"), ("one-shot", "time for one question")];

/// Returns the report of a run: a summary, then the details.
#[must_use]
pub fn page(title: &str, records: &Records) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(1, title.to_owned())];
    summary(records, &mut blocks);
    about(records, &mut blocks);
    engines(records, &mut blocks);
    verdicts(records, &mut blocks);
    traced(records, &mut blocks);
    differences(records, &mut blocks);
    speed(records, &mut blocks);
    hostile(records, &mut blocks);
    memory(records, &mut blocks);
    failures(records, &mut blocks);
    blocks
}

fn text(blocks: &mut Vec<Block>, text: impl Into<String>) {
    blocks.push(Block::Text(text.into()));
}

fn heading(blocks: &mut Vec<Block>, level: usize, text: impl Into<String>) {
    blocks.push(Block::Heading(level, text.into()));
}

/// Adds a summary: a table with each engine's verdict differences and relative times, and a chart.
fn summary(records: &Records, blocks: &mut Vec<Block>) {
    let all = figures(&records.speeds);
    let measured = SUMMARY_MODELS.map(|(model, head)| (model, head, means(&all, model)));
    let models: Vec<_> = measured.iter().filter(|(_, _, means)| means.len() > 1).collect();
    let has_verdicts = !records.scores.is_empty();
    if !has_verdicts && models.is_empty() {
        return;
    }
    let mut head = vec!["engine"];
    if has_verdicts {
        head.extend(["dialect", "verdict differences", "rows compared", "unanswered"]);
    }
    head.extend(models.iter().map(|(_, head, _)| *head));
    let mut table = Table::new(head);
    table.text = if has_verdicts { vec![1] } else { Vec::new() };
    for engine in by_speed(records, &models) {
        let mut row = vec![engine.engine.clone()];
        if has_verdicts {
            let dialect = expected_dialect(engine);
            let is_mine = |score: &&Score| score.engine == engine.engine && score.dialect == dialect;
            let score = total(records.scores.iter().filter(is_mine));
            row.push(dialect.to_owned());
            let counts = [score.wrong, score.right + score.wrong, score.unsupported + score.failed];
            row.extend(counts.map(|count| if score.rows == 0 { "-".to_owned() } else { count.to_string() }));
        }
        for (_, _, means) in &models {
            let mean = means.iter().find(|mean| mean.engine == engine.engine);
            row.push(mean.map_or_else(|| "-".to_owned(), |mean| mean_text(mean, means)));
        }
        table.rows.push(row);
    }
    blocks.push(Block::Table(table));
    text(blocks, summary_text(records, has_verdicts, !models.is_empty()));
    if let Some((model, _, means)) = models.first() {
        text(
            blocks,
            format!("{model}: time relative to the fastest engine, on a logarithmic scale. Shorter is better."),
        );
        blocks.push(Block::Code(text_bars(&mean_bars(means))));
    }
}

/// Explains the summary's table.
fn summary_text(records: &Records, has_verdicts: bool, has_speed: bool) -> String {
    let ran = records.present().count();
    let absent = records.engines.len() - records.present().count();
    let mut explanation = format!("{ran} engine{} ran", if ran == 1 { "" } else { "s" });
    explanation.push_str(&match absent {
        0 => ".".to_owned(),
        1 => "; 1 more is absent.".to_owned(),
        _ => format!("; {absent} more are absent."),
    });
    if has_verdicts {
        explanation.push_str(&format!(
            " A verdict difference is a row in any corpus on which an engine differs from the dialect that it claims, \
             or from {} if it claims none. Slow engines are asked about fewer rows.",
            COMMON.as_str()
        ));
    }
    if has_speed {
        explanation.push_str(
            " Times are relative to the fastest engine, as geometric means over the inputs: 2.0 x means twice as long. \
             Engines marked \"other verdicts\" are often wrong on the timed rows; their times, and means over fewer \
             inputs, are not comparable.",
        );
    }
    explanation
}

/// Returns the engines that ran, fastest first in the first model. Engines without a figure there are sorted by the
/// next model, and those without any figure come last.
fn by_speed<'r>(records: &'r Records, models: &[&(&str, &str, Vec<Mean>)]) -> Vec<&'r EngineRecord> {
    let mut engines: Vec<&EngineRecord> = records.present().collect();
    let key = |engine: &EngineRecord| {
        let place = |(_, _, means): &&(&str, &str, Vec<Mean>)| {
            means.iter().position(|mean| mean.engine == engine.engine).unwrap_or(usize::MAX)
        };
        models.iter().map(place).collect::<Vec<_>>()
    };
    engines.sort_by_cached_key(|engine| key(engine));
    engines
}

/// Formats a mean, and marks it if it is not comparable with the others.
fn mean_text(mean: &Mean, all: &[Mean]) -> String {
    format!("{:.1} x", mean.ratio) + &mark(mean, all).map_or_else(String::new, |mark| format!(", {mark}"))
}

/// Returns why a mean is not comparable with the others, if it is not.
pub fn mark(mean: &Mean, all: &[Mean]) -> Option<String> {
    let inputs = all.iter().map(|mean| mean.inputs).max().unwrap_or_default();
    match (mean.inputs == inputs, mean.is_right) {
        (true, true) => None,
        (true, false) => Some("other verdicts".into()),
        (false, _) => Some(format!("{} of {inputs} inputs", mean.inputs)),
    }
}

/// Returns a bar for each engine's mean.
fn mean_bars(means: &[Mean]) -> Vec<Bar> {
    let bar = |mean: &Mean| Bar {
        label: mean.engine.clone(),
        value: mean.ratio,
        shown: mean_text(mean, means),
        is_marked: !mean.is_right,
    };
    means.iter().map(bar).collect()
}

/// Adds the machine, the command, and an explanation.
fn about(records: &Records, blocks: &mut Vec<Block>) {
    let run = &records.run;
    let mut table = Table::new(["", ""]);
    table.text = vec![1];
    let end = records
        .end
        .as_ref()
        .map_or("not reached: the run was stopped, and this report covers its results so far", |end| &end.ended);
    let facts = [
        ("command", run.command.join(" ")),
        ("started", run.started.clone()),
        ("ended", end.to_owned()),
        ("seed", run.seed.to_string()),
        ("measurements", format!("{} rounds of {} ms each", run.rounds, run.budget_ms)),
        ("made by", format!("reptile-judge {}", run.version)),
    ];
    table.rows.extend(facts.map(|(name, fact)| vec![name.to_owned(), fact]));
    table.rows.extend(run.machine.iter().map(|(name, value)| vec![name.clone(), value.clone()]));
    blocks.push(Block::Table(table));
    text(
        blocks,
        "Each implementation runs in its own process and answers questions, as PROTOCOL.md specifies. Crashes, hangs, \
         refusals and excessive memory use are recorded as results. The authors of Reptile wrote this program and some \
         of its inputs; BIAS.md lists reasons for distrust.",
    );
}

/// Adds the engines that were measured, and the reasons why others were not.
fn engines(records: &Records, blocks: &mut Vec<Block>) {
    heading(blocks, 2, "Engines");
    let mut table = Table::new(["engine", "implementation", "language", "claimed dialect"]);
    table.text = vec![1, 2, 3];
    for engine in records.present() {
        let (what, language) = match &engine.hello {
            Some(hello) => (format!("{} {}", hello.name, hello.version), hello.language.clone()),
            None => ("a command: verdicts only".to_owned(), engine.language.clone()),
        };
        table.rows.push(vec![engine.engine.clone(), what, language, engine.dialect.clone()]);
    }
    blocks.push(Block::Table(table));
    for engine in records.present() {
        for note in engine.hello.iter().flat_map(|hello| &hello.notes) {
            text(blocks, format!("{}: {note}", engine.engine));
        }
    }
    let absent: Vec<&EngineRecord> = records.engines.iter().filter(|engine| engine.absent.is_some()).collect();
    if !absent.is_empty() {
        heading(blocks, 3, "Absent");
        let mut table = Table::new(["engine", "language", "why"]);
        table.text = vec![1, 2];
        table.rows.extend(absent.iter().map(|engine| {
            vec![engine.engine.clone(), engine.language.clone(), engine.absent.clone().unwrap_or_default()]
        }));
        blocks.push(Block::Table(table));
    }
}

/// Returns the dialect that an engine is compared with.
fn expected_dialect(engine: &EngineRecord) -> &str {
    if engine.dialect == "own" { COMMON.as_str() } else { &engine.dialect }
}

fn total<'s>(scores: impl Iterator<Item = &'s Score>) -> Score {
    scores.fold(Score::default(), |mut sum, score| {
        sum.rows += score.rows;
        sum.right += score.right;
        sum.wrong += score.wrong;
        sum.unsupported += score.unsupported;
        sum.failed += score.failed;
        sum.lines += score.lines;
        sum.lines_right += score.lines_right;
        sum
    })
}

/// Adds comparisons of the engines' verdicts with the dialects, and with each other.
fn verdicts(records: &Records, blocks: &mut Vec<Block>) {
    if records.corpora.is_empty() {
        return;
    }
    heading(blocks, 2, "Verdicts");
    text(
        blocks,
        format!(
            "Each engine is compared with the dialect that it claims, or with {}, the common denominator, if it claims \
             none. A dialect follows its own documentation: differences from another dialect are not errors.",
            COMMON.as_str()
        ),
    );
    for corpus in &records.corpora {
        heading(blocks, 3, format!("Corpus {}", corpus.corpus));
        text(blocks, format!("{} ({} rows)", corpus.about, corpus.rows));
        claims(records, &corpus.corpus, blocks);
        dialects(records, &corpus.corpus, blocks);
        tags(records, &corpus.corpus, blocks);
    }
    pairs(records, blocks);
}

/// Adds each engine's results against the dialect that it claims.
fn claims(records: &Records, corpus: &str, blocks: &mut Vec<Block>) {
    let all_rows = records.corpora.iter().find(|known| known.corpus == corpus).map_or(0, |known| known.rows);
    let mut table =
        Table::new(["engine", "dialect", "rows", "right", "other verdict", "unsupported", "no verdict", "lines right"]);
    table.text = vec![1];
    for engine in records.present() {
        let dialect = expected_dialect(engine);
        let is_mine =
            |score: &&Score| score.engine == engine.engine && score.corpus == corpus && score.dialect == dialect;
        let score = total(records.scores.iter().filter(is_mine));
        if score.rows == 0 {
            continue;
        }
        table.rows.push(vec![
            engine.engine.clone(),
            dialect.to_owned(),
            if score.rows < all_rows { format!("{} of {all_rows}", score.rows) } else { score.rows.to_string() },
            percent(score.right, score.rows),
            score.wrong.to_string(),
            score.unsupported.to_string(),
            score.failed.to_string(),
            percent(score.lines_right, score.lines),
        ]);
    }
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
    }
}

/// Adds each engine's agreement with every dialect.
fn dialects(records: &Records, corpus: &str, blocks: &mut Vec<Block>) {
    let of_corpus = || records.scores.iter().filter(|score| score.corpus == corpus);
    let known: Vec<&str> = dialect::ALL
        .iter()
        .map(|dialect| dialect.as_str())
        .filter(|name| of_corpus().any(|score| score.dialect == *name))
        .collect();
    if known.len() < 2 {
        return;
    }
    text(blocks, "The share of rows on which the engine agrees with each dialect; * marks the largest.");
    let mut table = Table::new(std::iter::once("engine").chain(known.iter().copied()));
    for engine in records.present() {
        let score = |dialect: &&str| {
            let score = total(of_corpus().filter(|score| score.engine == engine.engine && score.dialect == **dialect));
            (score.right, score.rows)
        };
        let scores: Vec<(usize, usize)> = known.iter().map(score).collect();
        let most = scores.iter().map(|score| score.0).max().unwrap_or_default();
        if most == 0 {
            continue;
        }
        let cell = |&(right, rows): &(usize, usize)| {
            format!("{}{}", percent(right, rows), if right == most { " *" } else { "" })
        };
        table.rows.push(std::iter::once(engine.engine.clone()).chain(scores.iter().map(cell)).collect());
    }
    blocks.push(Block::Table(table));
}

/// Adds each engine's results by topic.
fn tags(records: &Records, corpus: &str, blocks: &mut Vec<Block>) {
    let of_corpus = || records.scores.iter().filter(|score| score.corpus == corpus && !score.tag.is_empty());
    let mut known: Vec<&str> = Vec::new();
    for score in of_corpus() {
        if !known.contains(&&*score.tag) {
            known.push(&score.tag);
        }
    }
    if known.is_empty() {
        return;
    }
    known.sort_unstable();
    text(blocks, "By topic, compared with the same dialect as above:");
    let mut table = Table::new(std::iter::once("engine").chain(known.iter().copied()));
    for engine in records.present() {
        let dialect = expected_dialect(engine);
        let cell = |tag: &&str| {
            let is_mine =
                |score: &&Score| score.engine == engine.engine && score.dialect == dialect && score.tag == **tag;
            let score = total(of_corpus().filter(is_mine));
            percent(score.right, score.rows)
        };
        if !of_corpus().any(|score| score.engine == engine.engine) {
            continue;
        }
        table.rows.push(std::iter::once(engine.engine.clone()).chain(known.iter().map(cell)).collect());
    }
    blocks.push(Block::Table(table));
}

/// Adds the difference rate for each pair of engines.
fn pairs(records: &Records, blocks: &mut Vec<Block>) {
    let names: Vec<&str> = records
        .present()
        .map(|engine| &*engine.engine)
        .filter(|name| records.pairs.iter().any(|pair| pair.a == *name || pair.b == *name))
        .collect();
    if names.len() < 2 {
        return;
    }
    heading(blocks, 3, "Engines compared with each other");
    text(blocks, "Rows with different verdicts per 1,000 rows on which both engines have a verdict, over all corpora.");
    let mut table = Table::new(std::iter::once("").chain(names.iter().copied()));
    for a in &names {
        let cell = |b: &&str| {
            let is_theirs = |x: &str, y: &str| x == *a && y == *b || x == *b && y == *a;
            let pairs = records.pairs.iter().filter(|pair| is_theirs(&pair.a, &pair.b));
            let (differ, rows) = pairs.fold((0, 0), |sum, pair| (sum.0 + pair.differ, sum.1 + pair.rows));
            match (differ, rows) {
                (_, 0) => "-".to_owned(),
                (0, _) => "0".to_owned(),
                _ => format!("{:.2}", differ as f64 * 1000.0 / rows as f64),
            }
        };
        table.rows.push(std::iter::once((*a).to_owned()).chain(names.iter().map(cell)).collect());
    }
    blocks.push(Block::Table(table));
}

/// Adds differences that were traced to the implementations' sources, and whether they persist.
fn traced(records: &Records, blocks: &mut Vec<Block>) {
    if records.traced.is_empty() {
        return;
    }
    heading(blocks, 2, "Differences traced to source code");
    text(
        blocks,
        "Each was traced to the lines that cause it. This run repeated the questions, and marks verdicts that have \
         changed since.",
    );
    for traced in &records.traced {
        heading(blocks, 3, &traced.name);
        blocks.push(Block::Code(traced.body.clone()));
        let cell = |(engine, written, now): &(String, char, Option<char>)| {
            let meaning = |letter: char| letters::meaning(letter as u8);
            let now = match now {
                None => "not asked: absent".to_owned(),
                Some(now) if now == written => meaning(*now).to_owned(),
                Some(now) => format!("CHANGED: {}", meaning(*now)),
            };
            vec![engine.clone(), meaning(*written).to_owned(), now]
        };
        let mut table = Table::new(["engine", "recorded", "in this run"]);
        table.text = vec![1, 2];
        table.rows.extend(traced.verdicts.iter().map(cell));
        text(blocks, format!("{} for {}.", traced.url, traced.agent));
        blocks.push(Block::Table(table));
        text(blocks, format!("{} ({})", traced.why, traced.r#where));
    }
}

/// Adds minimized differences of each engine from its dialect.
fn differences(records: &Records, blocks: &mut Vec<Block>) {
    if records.differences.is_empty() {
        return;
    }
    heading(blocks, 2, "Minimized differences");
    text(
        blocks,
        "Found in the corpora, and reduced to the lines and characters that are needed to reproduce the difference. \
         Non-text bytes are shown as \\xNN.",
    );
    for engine in records.present() {
        let mine = records.differences.iter().filter(|difference| difference.engine == engine.engine);
        let mut mine: Vec<_> = mine.collect();
        if mine.is_empty() {
            continue;
        }
        mine.sort_by_key(|difference| difference.body.iter().map(String::len).sum::<usize>());
        mine.dedup_by(|a, b| a.body == b.body && a.url == b.url);
        heading(blocks, 3, &engine.engine);
        for difference in mine.into_iter().take(EXAMPLES) {
            blocks.push(Block::Code(difference.body.clone()));
            let by = |letter: char| {
                let names = difference.dialects.iter().filter(|(_, found)| *found == letter).map(|(name, _)| &**name);
                names.collect::<Vec<_>>().join(", ")
            };
            let (ours, theirs) = (difference.verdict as u8, difference.other as u8);
            text(
                blocks,
                format!(
                    "{} for {}: {} says {}, like {}; {} says {}, like {}. Found in {}.",
                    difference.url,
                    difference.agent,
                    difference.engine,
                    letters::meaning(ours),
                    some(&by(difference.verdict)),
                    difference.against,
                    letters::meaning(theirs),
                    some(&by(difference.other)),
                    difference.found_in
                ),
            );
        }
    }
}

/// Returns the dialects' names, or "no dialect" if there are none.
fn some(names: &str) -> &str {
    if names.is_empty() { "no dialect" } else { names }
}

/// Describes a model.
fn model_text(model: &str) -> &'static str {
    match model {
        "one-shot" => "One shot: from the robots.txt bytes to one verdict. Time per URL.",
        "parse" => "Parse: from the robots.txt bytes to a reusable form, and one verdict. Time per file.",
        "decide" => "Decide, warm: the same URLs again and again. Time per URL.",
        "path" => "Path, warm: as decide, but with the path already extracted: matching alone. Time per path.",
        "fresh" => "Decide, fresh: URLs that the engine has never seen, each once. Time per URL.",
        "fresh-path" => "Path, fresh: as fresh, but with the path already extracted. Time per path.",
        "crawl" => "Crawl: whole URLs on many sites in random order; the engine finds the robots.txt. Time per URL.",
        "open" => "Open: a stored set with many sites, from the file to the first verdict. Time per file.",
        _ => "Time per row.",
    }
}

/// Adds the speed for each model.
fn speed(records: &Records, blocks: &mut Vec<Block>) {
    if records.speeds.is_empty() {
        return;
    }
    let all = figures(&records.speeds);
    heading(blocks, 2, "Speed");
    text(
        blocks,
        format!(
            "Engines take turns in each round. A round's figure is the median of its samples, and an engine's figure \
             is the median of its rounds, followed by its ratio to the fastest engine in parentheses. If some verdicts \
             differ from the dialect, the share of right ones follows; engines below {} % do not count as the fastest. \
             The judge checks an engine's times against its own clock, and the counts against the engine's verdicts. \
             Measurements that fail a check are void.",
            SHARE * 100.0
        ),
    );
    for model in MODELS {
        let of_model: Vec<&Figure> = all.iter().filter(|figure| figure.model == model).collect();
        if of_model.is_empty() {
            continue;
        }
        heading(blocks, 3, model);
        text(blocks, model_text(model));
        plot(&all, model, blocks);
        speed_table(&all, model, &of_model, blocks);
    }
    let voids: Vec<String> = all
        .iter()
        .filter_map(|figure| {
            let void = figure.void.as_ref()?;
            Some(format!(
                "{} {} {}: {} of {} rounds are void; the first: {void}",
                figure.engine,
                figure.model,
                figure.input,
                figure.void_rounds,
                figure.void_rounds + figure.rounds
            ))
        })
        .collect();
    if !voids.is_empty() {
        heading(blocks, 3, "Void measurements");
        blocks.push(Block::Code(voids));
    }
}

/// Adds a plot with a bar for each engine: its mean ratio to the fastest.
fn plot(all: &[Figure], model: &str, blocks: &mut Vec<Block>) {
    let means = means(all, model);
    if means.len() < 2 {
        return;
    }
    let about = format!("{model}: time relative to the fastest, geometric mean over the inputs, logarithmic");
    text(blocks, format!("{about}. Engines with other verdicts are marked."));
    blocks.push(Block::Plot(format!("{model}.svg"), about, bars(&mean_bars(&means))));
}

/// Adds a model's figures: a row per engine, a column per input.
fn speed_table(all: &[Figure], model: &str, of_model: &[&Figure], blocks: &mut Vec<Block>) {
    let mut inputs: Vec<&str> = Vec::new();
    for figure in of_model {
        if !inputs.contains(&&*figure.input) {
            inputs.push(&figure.input);
        }
    }
    let engines: BTreeSet<&str> = of_model.iter().map(|figure| &*figure.engine).collect();
    let mut table = Table::new(std::iter::once("engine").chain(inputs.iter().copied()));
    for engine in engines {
        let cell = |input: &&str| {
            let figure = of_model.iter().find(|figure| figure.engine == engine && figure.input == **input);
            figure.map_or_else(|| "-".to_owned(), |figure| speed_cell(all, model, figure))
        };
        table.rows.push(std::iter::once(engine.to_owned()).chain(inputs.iter().map(cell)).collect());
    }
    blocks.push(Block::Table(table));
}

fn speed_cell(all: &[Figure], model: &str, figure: &Figure) -> String {
    let Some(ns) = figure.ns else { return "void".into() };
    let mut cell = time(ns);
    if let Some(fastest) = fastest(all, model, &figure.input) {
        cell.push_str(&format!(" ({:.1})", ns / fastest));
    }
    if figure.right < 1.0 {
        cell.push_str(&format!(", {:.1} % right", (figure.right * 100.0).min(99.9)));
    }
    cell
}

/// Adds each engine's results and times for hostile files.
fn hostile(records: &Records, blocks: &mut Vec<Block>) {
    if records.hostile.is_empty() {
        return;
    }
    heading(blocks, 2, "Hostile files");
    text(
        blocks,
        "Files designed to slow an engine down, most of them 500 KiB long. The judge times how long it takes to load a \
         file and decide four URLs; the limit is 2 s.",
    );
    let mut table = Table::new([
        "engine",
        "files",
        "answered",
        "right rows",
        "refused",
        "too slow",
        "memory",
        "ended",
        "slowest answer",
    ]);
    let mut names: Vec<&str> = Vec::new();
    for record in &records.hostile {
        if !names.contains(&&*record.engine) {
            names.push(&record.engine);
        }
    }
    for name in &names {
        let mine: Vec<_> = records.hostile.iter().filter(|record| record.engine == *name).collect();
        let with = |letter: u8| {
            mine.iter()
                .filter(|record| record.why.is_some() && record.verdicts.as_bytes().first() == Some(&letter))
                .count()
        };
        let answered = || mine.iter().filter(|record| record.why.is_none());
        let slowest = answered().map(|record| record.ns).max();
        let (right, known) = answered().fold((0, 0), |sum, record| (sum.0 + record.right, sum.1 + record.known));
        table.rows.push(vec![
            (*name).to_owned(),
            mine.len().to_string(),
            answered().count().to_string(),
            percent(right, known),
            with(letters::REFUSED).to_string(),
            with(letters::TIME).to_string(),
            with(letters::MEMORY).to_string(),
            (with(letters::ENDED) + with(letters::GARBAGE)).to_string(),
            slowest.map_or_else(|| "-".into(), |ns| time(ns as f64)),
        ]);
    }
    blocks.push(Block::Table(table));
    hostile_files(records, &names, blocks);
}

/// Adds a row for each hostile file.
fn hostile_files(records: &Records, names: &[&str], blocks: &mut Vec<Block>) {
    let mut files: Vec<&str> = Vec::new();
    for record in &records.hostile {
        if !files.contains(&&*record.file) {
            files.push(&record.file);
        }
    }
    let mut table = Table::new(std::iter::once("file").chain(names.iter().copied()));
    for file in files {
        let cell = |name: &&str| {
            let record = records.hostile.iter().find(|record| record.engine == **name && record.file == file);
            record.map_or_else(String::new, |record| match record.why {
                None => time(record.ns as f64),
                Some(_) => letters::meaning(record.verdicts.bytes().next().unwrap_or_default()).to_owned(),
            })
        };
        table.rows.push(std::iter::once(file.to_owned()).chain(names.iter().map(cell)).collect());
    }
    blocks.push(Block::Table(table));
}

/// Adds the memory use of the engines' processes.
fn memory(records: &Records, blocks: &mut Vec<Block>) {
    let Some(first) = records.memory.first() else { return };
    heading(blocks, 2, "Memory");
    text(
        blocks,
        format!(
            "Resident memory before and after the process loads {} robots.txt files ({} kB, {}) and answers one \
             question about each. It includes the files' bytes, which the protocol requires engines to keep.",
            first.files,
            first.bytes / 1000,
            first.input
        ),
    );
    let mut table = Table::new(["engine", "before", "after", "increase per byte of robots.txt", "peak", "refused"]);
    let mb = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    for memory in &records.memory {
        let more = memory.after.saturating_sub(memory.before) as f64 / memory.bytes.max(1) as f64;
        table.rows.push(vec![
            memory.engine.clone(),
            mb(memory.before),
            mb(memory.after),
            format!("{more:.1}"),
            mb(memory.peak),
            memory.refused.to_string(),
        ]);
    }
    blocks.push(Block::Table(table));
}

/// Adds skipped measurements and failures.
fn failures(records: &Records, blocks: &mut Vec<Block>) {
    let mut skips: Vec<(String, String, String)> = Vec::new();
    let mut others = Vec::new();
    for failure in &records.failures {
        if failure.letter as u8 == letters::SKIP {
            let model = failure.at.split(' ').next().unwrap_or_default().to_owned();
            let skip = (failure.engine.clone(), model, failure.why.clone());
            if !skips.contains(&skip) {
                skips.push(skip);
            }
        } else {
            others.push(failure);
        }
    }
    if !skips.is_empty() {
        heading(blocks, 2, "Skipped");
        let mut table = Table::new(["engine", "model", "why"]);
        table.text = vec![1, 2];
        table.rows.extend(skips.into_iter().map(|(engine, model, why)| vec![engine, model, why]));
        blocks.push(Block::Table(table));
    }
    if !others.is_empty() {
        failed(&others, blocks);
    }
}

/// Adds the failures, merging those with the same engine and reason.
fn failed(failures: &[&Failure], blocks: &mut Vec<Block>) {
    heading(blocks, 2, "Failures and refusals");
    let mut kinds: Vec<(&Failure, usize)> = Vec::new();
    for failure in failures {
        let is_same = |known: &&mut (&Failure, usize)| {
            (&known.0.engine, known.0.letter, &known.0.why) == (&failure.engine, failure.letter, &failure.why)
        };
        match kinds.iter_mut().find(is_same) {
            Some(known) => known.1 += 1,
            None => kinds.push((failure, 1)),
        }
    }
    let mut table = Table::new(["engine", "times", "what", "why", "first at"]);
    table.text = vec![2, 3, 4];
    for (failure, times) in kinds.iter().take(FAILURES) {
        let what = letters::meaning(failure.letter as u8).to_owned();
        let (engine, why, at) = (failure.engine.clone(), failure.why.clone(), failure.at.clone());
        table.rows.push(vec![engine, times.to_string(), what, why, at]);
    }
    blocks.push(Block::Table(table));
    if kinds.len() > FAILURES {
        text(blocks, format!("{} more are in {}.", kinds.len() - FAILURES, crate::records::FILE));
    }
}

#[cfg(test)]
mod tests;
