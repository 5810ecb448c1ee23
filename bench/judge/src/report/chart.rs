//! `reptile-judge chart`: draws how many unseen URLs each implementation decides per second. It only reads files that
//! `report` wrote, so the chart of a committed run can be drawn, and checked, without the records.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use html_escape::encode_quoted_attribute as escaped;
use reptile_bench::REAL_CASES;
use reptile_bench::generate::RECIPES;

use super::figures::{Figure, SHARE, means};
use super::tables::mark;
use crate::engines::EngineEntry;

/// Name of the chart in a run's folder.
const FILE: &str = "chart.svg";

/// The model: each URL is new to the engine, and decided once.
const MODEL: &str = "fresh";

/// The engine that represents Reptile. Its other engines, such as those for other dialects, are not drawn.
const REPTILE: &str = "reptile-google-lib";

/// Engines that only match text. Reptile reads robots.txt for them; see METHODOLOGY.md.
const MATCHERS: [&str; 5] = ["regex", "regex-automata", "re2", "hyperscan", "vectorscan"];

/// The title of the chart.
const TITLE: &str = "URLs decided per second, each URL new to the program";

/// The width, and the columns from left to right, in px.
const WIDTH: f64 = 720.0;
const NAME_END: f64 = 172.0;
const LANGUAGE: f64 = 180.0;
const BAR: f64 = 330.0;
const BAR_END: f64 = 640.0;
const RATE_END: f64 = 712.0;

/// The first row's top, a row's height and a line's height in px.
const TOP: usize = 66;
const ROW: usize = 14;
const LINE: usize = 15;

const STYLE: &str = "\
svg{--page:#fff;--ink:#1f2328;--soft:#59636e;--line:#d1d9e0;--bar:#9fb3c8;--own:#1a7f64}
@media(prefers-color-scheme:dark){svg{--page:#0d1117;--ink:#f0f6fc;--soft:#9198a1;--line:#30363d;--bar:#4a6078;\
--own:#238a68}}
text{font:12px system-ui,-apple-system,\"Segoe UI\",Helvetica,Arial,sans-serif;fill:var(--ink)}
.soft{font-size:11px;fill:var(--soft)}.title{font-size:15px;font-weight:600}.end{text-anchor:end}
.middle{text-anchor:middle}.page{fill:var(--page)}.line{stroke:var(--line)}.point{fill:var(--ink)}
.bar{fill:var(--bar)}.marked{fill:none;stroke:var(--bar)}rect.own{fill:var(--own)}text.own{font-weight:700}
";

/// A chart.
struct Chart {
    /// The image.
    svg: String,
    /// A text for readers who do not see the image.
    alternative: String,
}

/// An implementation.
struct Row {
    name: String,
    is_reptile: bool,
    /// Its language, whether it is a matcher, and why it is not comparable.
    about: String,
    is_marked: bool,
    /// URLs per second: the geometric mean over the inputs.
    rate: f64,
    /// URLs per second for each input.
    rates: Vec<f64>,
}

/// Draws the chart of a run next to the files of its report. Returns the chart's path and its alternative text.
///
/// # Errors
/// Returns an error if these files are absent or damaged, have no figures for unseen URLs, or the chart cannot be
/// written.
pub fn write(folder: &Path, engines: &[EngineEntry]) -> Result<(PathBuf, String), String> {
    let path = folder.join(FILE);
    let chart = draw(folder, engines)?;
    std::fs::write(&path, chart.svg).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((path, chart.alternative))
}

fn draw(folder: &Path, engines: &[EngineEntry]) -> Result<Chart, String> {
    let path = folder.join("medians.csv");
    let at_fault = |path: &Path, fault: &dyn Display| format!("{}: {fault}", path.display());
    let mut reader = csv::Reader::from_path(&path).map_err(|error| at_fault(&path, &error))?;
    let figures: Vec<Figure> =
        reader.deserialize().collect::<Result<_, _>>().map_err(|error| at_fault(&path, &error))?;
    let rows = rows(&figures, engines);
    if rows.is_empty() {
        return Err(at_fault(&path, &format_args!("no figures for the model {MODEL}")));
    }
    let path = folder.join("report.md");
    let report = std::fs::read_to_string(&path).map_err(|error| at_fault(&path, &error))?;
    let tables: Vec<Vec<String>> = report.lines().filter_map(cells).collect();
    let about = about(&figures, &tables).ok_or_else(|| at_fault(&path, &"no date or machine"))?;
    let alternative = alternative(&rows);
    let svg = svg(&rows, &about, &notes(&rows, &tables), &alternative);
    Ok(Chart { svg, alternative })
}

/// Returns the implementations with a figure, fastest first.
fn rows(figures: &[Figure], engines: &[EngineEntry]) -> Vec<Row> {
    let means = means(figures, MODEL);
    let is_drawn = |engine: &str| engine == REPTILE || !engine.starts_with("reptile-");
    let mut rows: Vec<Row> = Vec::new();
    for mean in means.iter().filter(|mean| is_drawn(&mean.engine)) {
        let name = &mean.engine;
        let mine = figures.iter().filter(|figure| figure.model == MODEL && figure.engine == *name);
        let rates: Vec<f64> = mine.filter_map(|figure| Some(1e9 / figure.ns?)).collect();
        let mut about: String =
            engines.iter().find(|entry| entry.name == *name).map(|entry| entry.language.clone()).unwrap_or_default();
        if MATCHERS.contains(&&**name) {
            about.push_str(" matcher");
        }
        let mark = mark(mean, &means);
        if let Some(mark) = &mark {
            about.push_str(&format!(", {mark}"));
        }
        rows.push(Row {
            is_reptile: name == REPTILE,
            name: if name == REPTILE { "Reptile".into() } else { name.clone() },
            about,
            is_marked: mark.is_some(),
            rate: (rates.iter().map(|rate| rate.ln()).sum::<f64>() / rates.len() as f64).exp(),
            rates,
        });
    }
    rows.sort_by(|a, b| b.rate.total_cmp(&a.rate));
    rows
}

/// Returns the cells of a row in a Markdown table, without the escapes that `document` writes.
fn cells(line: &str) -> Option<Vec<String>> {
    let row = line.strip_prefix("| ")?.strip_suffix(" |")?;
    Some(row.split(" | ").map(|cell| cell.replace('\\', "")).collect())
}

/// Returns two lines about the inputs, the date and the machine.
fn about(figures: &[Figure], tables: &[Vec<String>]) -> Option<[String; 2]> {
    let fact = |name: &str| tables.iter().find(|cells| cells.len() == 2 && cells[0] == name).map(|cells| &*cells[1]);
    let mut inputs: Vec<&str> = Vec::new();
    for figure in figures.iter().filter(|figure| figure.model == MODEL) {
        if !inputs.contains(&&*figure.input) {
            inputs.push(&figure.input);
        }
    }
    let shown = inputs.iter().map(|input| {
        rules(input).map_or_else(|| (*input).to_owned(), |rules| format!("{input} ({})", grouped(rules as f64)))
    });
    let date = fact("started")?.split(' ').next()?;
    let processor = fact("processor")?.replace("(R)", "");
    Some([
        format!(
            "Geometric mean over {} robots.txt files (number of rules): {}.",
            inputs.len(),
            shown.collect::<Vec<_>>().join(", ")
        ),
        format!("Measured by reptile-judge on {date}, on a machine with {} cores: {processor}.", fact("cores")?),
    ])
}

/// Returns the number of rules in a known input.
fn rules(input: &str) -> Option<usize> {
    // A generated file has as many rules as the real file in the same place.
    let real = input.strip_prefix("real ").and_then(|name| REAL_CASES.iter().position(|case| case.0 == name));
    let place = real.or_else(|| RECIPES.iter().position(|recipe| recipe.name == input))?;
    Some(RECIPES.get(place)?.rules)
}

/// Returns the lines below the bars.
fn notes(rows: &[Row], tables: &[Vec<String>]) -> Vec<String> {
    let mut readings = "Reptile decides as Google's library does, and each of the others as it claims.".to_owned();
    if rows.iter().any(|row| MATCHERS.contains(&&*row.name)) {
        readings.push_str(" Reptile reads robots.txt for the matchers.");
    }
    let scale = "Logarithmic scale: each line is ten times the one before. A bar is the mean, and a point is one file.";
    let mut notes = vec![scale.to_owned(), readings];
    if rows.iter().any(|row| row.is_marked) {
        let share = (1.0 - SHARE) * 100.0;
        notes.push(format!(
            "Hollow bars are not comparable: more than {share:.0} % of a file's verdicts differ from the claim, or files are missing."
        ));
    }
    // The reasons are in the report's table of skipped measurements.
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for [engine, model, why] in tables.iter().filter_map(|cells| <&[String; 3]>::try_from(&**cells).ok()) {
        if model == MODEL && !rows.iter().any(|row| row.name == *engine) {
            match reasons.iter_mut().find(|reason| reason.0 == why) {
                Some(reason) => reason.1.push(engine),
                None => reasons.push((why, vec![engine])),
            }
        }
    }
    notes.extend(reasons.iter().map(|(why, engines)| format!("Not measured: {}: {why}.", engines.join(", "))));
    notes
}

/// Describes the chart in a sentence: the implementations down to Reptile, and the range of the others.
fn alternative(rows: &[Row]) -> String {
    let last = rows.iter().position(|row| row.is_reptile).map_or(rows.len(), |place| place + 1);
    let mut shown: Vec<String> = rows[..last].iter().map(|row| format!("{} {}", row.name, rounded(row.rate))).collect();
    match &rows[last..] {
        [] => {}
        [one] => shown.push(format!("{} {}", one.name, rounded(one.rate))),
        others @ [first, .., last] => {
            shown.push(format!("{} others {} to {}", others.len(), rounded(last.rate), rounded(first.rate)));
        }
    }
    format!("{TITLE}: {}", shown.join(", "))
}

fn svg(rows: &[Row], about: &[String; 2], notes: &[String], alternative: &str) -> String {
    let rates = || rows.iter().flat_map(|row| &row.rates).map(|rate| rate.log10());
    let (low, high) = (rates().fold(f64::MAX, f64::min).floor(), rates().fold(f64::MIN, f64::max) + 0.05);
    let x = |rate: f64| BAR + (rate.log10() - low) / (high - low) * (BAR_END - BAR);
    let bottom = TOP + rows.len() * ROW;
    let height = bottom + 22 + notes.len() * LINE;
    let text = |class: &str, x: f64, y: usize, text: &str| {
        format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y}\">{}</text>\n", escaped(text))
    };
    let listed: Vec<String> =
        rows.iter().map(|row| format!("{} ({}) {}", row.name, row.about, rounded(row.rate))).collect();
    let description = format!("{} {} {}", about.join(" "), listed.join("; "), notes.join(" "));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">{}</title>\n\
         <desc id=\"desc\">{}</desc>\n<style>\n{STYLE}</style>\n\
         <rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\"/>\n",
        escaped(alternative),
        escaped(&description)
    );
    svg.push_str(&text("title", 8.0, 22, TITLE));
    svg.push_str(&text("soft", 8.0, 39, &about[0]));
    svg.push_str(&text("soft", 8.0, 39 + LINE, &about[1]));
    for power in low as i32..=high as i32 {
        let x = x(10_f64.powi(power));
        svg.push_str(&format!(
            "<line class=\"line\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{}\" y2=\"{bottom}\"/>\n",
            TOP - 4
        ));
        let label = if power < 6 {
            grouped(10_f64.powi(power))
        } else {
            format!("{} million", grouped(10_f64.powi(power - 6)))
        };
        svg.push_str(&text("soft middle", x, bottom + 13, &label));
    }
    for (index, row) in rows.iter().enumerate() {
        let (top, base) = (TOP + index * ROW, TOP + index * ROW + 9);
        let own = if row.is_reptile { " own" } else { "" };
        let class = if row.is_marked { "marked" } else { "bar" };
        svg.push_str(&text(&format!("end{own}"), NAME_END, base, &row.name));
        svg.push_str(&text("soft", LANGUAGE, base, &row.about));
        svg.push_str(&format!(
            "<rect class=\"{class}{own}\" x=\"{BAR}\" y=\"{top}\" width=\"{:.1}\" height=\"10\"/>\n",
            x(row.rate) - BAR
        ));
        for &rate in &row.rates {
            svg.push_str(&format!("<circle class=\"point\" cx=\"{:.1}\" cy=\"{}\" r=\"1.8\"/>\n", x(rate), top + 5));
        }
        svg.push_str(&text(&format!("end{own}"), RATE_END, base, &rounded(row.rate)));
    }
    for (index, note) in notes.iter().enumerate() {
        svg.push_str(&text("soft", 8.0, bottom + 32 + index * LINE, note));
    }
    svg.push_str("</svg>\n");
    svg
}

/// Formats a number with two significant digits, because the measurements do not justify more.
fn rounded(number: f64) -> String {
    let unit = 10_f64.powf((number.log10().floor() - 1.0).max(0.0));
    grouped((number / unit).round() * unit)
}

/// Formats a whole number with commas.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines;

    /// Returns the folder of the repository.
    fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// Draws the chart of a run with these lines of `medians.csv`.
    fn chart_of(lines: &[&str]) -> Result<Chart, String> {
        let folder = tempfile::tempdir().unwrap();
        let head = "engine,model,input,ns,least_ns,most_ns,rounds,void_rounds,units,right,dialect";
        std::fs::write(folder.path().join("medians.csv"), format!("{head}\n{}\n", lines.join("\n"))).unwrap();
        let report = "| started | 2026-11-22 20:44:47 UTC |\n| processor | Some(R) \\[Processor\\] |\n| cores | 2 |\n\
                      | goo\\_gle | fresh | it reads the file again |\n| slow | fresh | it failed once |\n\
                      | other | path | no such model |\n";
        std::fs::write(folder.path().join("report.md"), report).unwrap();
        draw(folder.path(), &engines::read(&repository().join("bench/engines.toml")).unwrap())
    }

    #[test]
    fn committed_charts_and_their_alternative_texts_show_the_committed_figures() {
        let engines = engines::read(&repository().join("bench/engines.toml")).unwrap();
        let read = |path: &str| std::fs::read_to_string(repository().join(path)).unwrap();
        let documents = read("README.md") + &read("bench/README.md");
        let documents = documents.split_whitespace().collect::<Vec<_>>().join(" ");
        for run in ["2026-11-29", "2026-11-30-real"] {
            let path = format!("bench/judge/runs/{run}/{FILE}");
            let chart = draw(repository().join(&path).parent().unwrap(), &engines).unwrap();
            let committed = std::fs::read_to_string(repository().join(&path)).unwrap_or_default();
            assert!(chart.svg == committed, "{path} differs: run `reptile-judge chart bench/judge/runs/{run}`");
            let image = format!("![{}](", chart.alternative);
            assert!(documents.contains(&image), "README.md or bench/README.md should contain {image}");
        }
    }

    #[test]
    fn incomparable_implementations_are_marked() {
        let chart = chart_of(&[
            "reptile-google-lib,fresh,small,100,0,0,1,0,9,1,google-lib",
            "reptile-google-lib,fresh,real p90,1000,0,0,1,0,9,1,google-lib",
            "reptile-google-lib,path,small,1,0,0,1,0,9,1,google-lib",
            "reptile-google,fresh,small,1,0,0,1,0,9,1,google",
            "hyperscan,fresh,small,50,0,0,1,0,9,1,google-lib",
            "urllib,fresh,small,10000,0,0,1,0,9,1,rfc9309",
            "urllib,fresh,real p90,10000,0,0,1,0,9,0.98,rfc9309",
            "slow,fresh,small,20000,0,0,1,0,9,1,rfc9309",
            "slow,fresh,real p90,20000,0,0,1,0,9,0.99,rfc9309",
            "void,fresh,small,,0,0,0,1,9,1,rfc9309",
        ])
        .unwrap();
        // The mean of 10 and 1 million is 3.16 million.
        let alternative = format!("{TITLE}: hyperscan 20,000,000, Reptile 3,200,000, 2 others 50,000 to 100,000");
        assert_eq!(chart.alternative, alternative);
        for text in [
            "hyperscan (C++ matcher, 1 of 2 inputs) 20,000,000; Reptile (Rust) 3,200,000; urllib (Python, other verdicts) \
             100,000; slow () 50,000 ",
            ">Geometric mean over 2 robots.txt files (number of rules): small (12), real p90 (79).<",
            ">Measured by reptile-judge on 2026-11-22, on a machine with 2 cores: Some [Processor].<",
            ">Not measured: goo_gle: it reads the file again.<",
        ] {
            assert!(chart.svg.contains(text), "no {text:?} in {}", chart.svg);
        }
        let rows = |class: &str| chart.svg.matches(&format!("<rect class=\"{class}\"")).count();
        assert_eq!((rows("marked"), rows("bar own"), rows("bar")), (2, 1, 1));
        assert!(!chart.svg.contains("it failed once") && !chart.svg.contains("no such model"), "{}", chart.svg);
    }

    #[test]
    fn bars_and_points_are_on_one_logarithmic_scale() {
        let chart = chart_of(&["a,fresh,x,1000000,0,0,1,0,9,1,own", "b,fresh,x,1000,0,0,1,0,9,1,own"]).unwrap();
        // From 1,000 to a little over 1,000,000 URLs per second.
        let end = BAR + 3.0 / 3.05 * (BAR_END - BAR);
        for text in [
            format!("width=\"{:.1}\" height=\"10\"/>\n<circle class=\"point\" cx=\"{end:.1}\"", end - BAR),
            format!("width=\"0.0\" height=\"10\"/>\n<circle class=\"point\" cx=\"{BAR:.1}\""),
            format!("x=\"{end:.1}\" y=\"{}\">1 million<", TOP + 2 * ROW + 13),
        ] {
            assert!(chart.svg.contains(&text), "no {text:?} in {}", chart.svg);
        }
    }

    #[test]
    fn text_is_escaped_and_faults_are_described() {
        let chart = chart_of(&["<a>&\",fresh,x,10,0,0,1,0,9,1,own"]).unwrap();
        assert!(chart.svg.contains("&lt;a&gt;&amp;&quot;") && !chart.svg.contains("<a>"), "{}", chart.svg);
        let fault = |lines: &[&str]| chart_of(lines).err().unwrap();
        assert!(fault(&["a,path,small,1,0,0,1,0,9,1,own"]).ends_with("medians.csv: no figures for the model fresh"));
        assert!(fault(&["a,fresh,small,x,0,0,1,0,9,1,own"]).contains("medians.csv: CSV deserialize error: record 1"));
    }

    #[test]
    fn numbers_have_two_digits_that_count() {
        let shown = [4.4, 44.4, 994.0, 996.0, 128_400.0, 2_350_575.0].map(rounded);
        assert_eq!(shown, ["4", "44", "990", "1,000", "130,000", "2,400,000"]);
    }
}
