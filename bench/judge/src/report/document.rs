//! A document as a list of blocks, which can be written as Markdown or HTML.

use std::fmt::Write as _;

use html_escape::encode_quoted_attribute as escaped;

/// A part of a document.
pub enum Block {
    /// A heading: its level, starting at 1, and its text.
    Heading(usize, String),
    /// A paragraph.
    Text(String),
    /// Preformatted lines.
    Code(Vec<String>),
    /// A table.
    Table(Table),
    /// A plot: its file name, a description, and the SVG.
    Plot(String, String, String),
}

/// A table. The first column is text; other columns are right-aligned unless listed in `text`.
#[derive(Default)]
pub struct Table {
    /// The column headings.
    pub head: Vec<String>,
    /// The indexes of further text columns.
    pub text: Vec<usize>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Table {
        Table { head: head.into_iter().map(Into::into).collect(), ..Table::default() }
    }

    fn is_text(&self, column: usize) -> bool {
        column == 0 || self.text.contains(&column)
    }
}

/// The style sheet.
const STYLE: &str = "\
:root{color-scheme:light dark;--bar:#3f7cac;--marked:#d0603b;--line:#8884}
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.25rem;margin:2.2rem 0 .5rem}h3{font-size:1.05rem;margin:1.5rem 0 .4rem}
p{margin:.4rem 0;max-width:48rem}code,pre{font-size:.85rem}pre{background:var(--line);padding:.5rem;overflow-x:auto}
.t{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}
th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
svg{max-width:100%;height:auto}svg text{fill:currentColor;font:12px system-ui,sans-serif}
.bar{fill:var(--bar)}.marked{fill:var(--marked)}
@media(max-width:40rem){body{padding:.6rem}th,td{padding:.2rem .35rem}}
";

/// Returns the document as Markdown. Plots are separate files in the same folder.
#[must_use]
pub fn markdown(blocks: &[Block]) -> String {
    let mut page = String::new();
    for block in blocks {
        match block {
            Block::Heading(level, text) => push(&mut page, format_args!("{} {}\n\n", "#".repeat(*level), plain(text))),
            Block::Text(text) => push(&mut page, format_args!("{}\n\n", plain(text))),
            Block::Code(lines) => {
                page.push_str("```text\n");
                // A fence inside the block would end it.
                lines.iter().for_each(|line| push(&mut page, format_args!("{}\n", line.replace("```", "` ` `"))));
                page.push_str("```\n\n");
            }
            Block::Plot(file, about, _) => push(&mut page, format_args!("![{}]({file})\n\n", plain(about))),
            Block::Table(table) => markdown_table(&mut page, table),
        }
    }
    page
}

fn markdown_table(page: &mut String, table: &Table) {
    let row =
        |cells: &[String]| format!("| {} |\n", cells.iter().map(|cell| plain(cell)).collect::<Vec<_>>().join(" | "));
    page.push_str(&row(&table.head));
    let columns = (0..table.head.len()).map(|column| if table.is_text(column) { "---" } else { "---:" });
    push(page, format_args!("|{}|\n", columns.collect::<Vec<_>>().join("|")));
    table.rows.iter().for_each(|cells| page.push_str(&row(cells)));
    page.push('\n');
}

/// Escapes Markdown markup in untrusted text.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\`*_[]<>|#".contains(character) {
            plain.push('\\');
        }
        plain.push(if character.is_control() { ' ' } else { character });
    }
    plain
}

/// Returns the document as a self-contained HTML file.
#[must_use]
pub fn html(title: &str, blocks: &[Block]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style></head>\n<body>\n",
        escaped(title)
    );
    for block in blocks {
        match block {
            Block::Heading(level, text) => push(&mut page, format_args!("<h{level}>{}</h{level}>\n", escaped(text))),
            Block::Text(text) => push(&mut page, format_args!("<p>{}</p>\n", escaped(text))),
            Block::Code(lines) => push(&mut page, format_args!("<pre>{}</pre>\n", escaped(&lines.join("\n")))),
            Block::Plot(_, about, svg) => {
                push(&mut page, format_args!("<figure aria-label=\"{}\">\n{svg}</figure>\n", escaped(about)));
            }
            Block::Table(table) => html_table(&mut page, table),
        }
    }
    page.push_str("</body></html>\n");
    page
}

fn html_table(page: &mut String, table: &Table) {
    let row = |cells: &[String], element: &str| {
        let cell = |(column, text): (usize, &String)| {
            let class = if table.is_text(column) { "" } else { " class=\"n\"" };
            format!("<{element}{class}>{}</{element}>", escaped(text))
        };
        format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
    };
    page.push_str("<div class=\"t\"><table>\n");
    page.push_str(&row(&table.head, "th"));
    table.rows.iter().for_each(|cells| page.push_str(&row(cells, "td")));
    page.push_str("</table></div>\n");
}

/// Appends text, which cannot fail.
fn push(page: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = page.write_fmt(text);
}

/// A bar of a plot.
pub struct Bar {
    /// The label to the left.
    pub label: String,
    /// The value that determines its length.
    pub value: f64,
    /// The text to the right.
    pub shown: String,
    /// Whether it is drawn in the color for values that are not comparable.
    pub is_marked: bool,
}

/// Returns the relative lengths of bars on a logarithmic scale, from 0.05 for the smallest value to 1 for the largest.
fn lengths(bars: &[Bar]) -> Vec<f64> {
    let logs: Vec<f64> = bars.iter().map(|bar| bar.value.max(1e-9).log10()).collect();
    let (least, most) = logs.iter().fold((f64::MAX, f64::MIN), |(least, most), &log| (least.min(log), most.max(log)));
    let length = |log: f64| if most > least { 0.05 + 0.95 * (log - least) / (most - least) } else { 1.0 };
    logs.into_iter().map(length).collect()
}

/// Returns bars on a logarithmic scale as lines of text, drawn with block characters.
#[must_use]
pub fn text_bars(bars: &[Bar]) -> Vec<String> {
    const WIDTH: f64 = 40.0;
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let label_width = bars.iter().map(|bar| bar.label.chars().count()).max().unwrap_or_default();
    let line = |(bar, length): (&Bar, f64)| {
        let eighths = (length * WIDTH * 8.0).round() as usize;
        let drawn = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
        format!("{:label_width$} {drawn} {}", bar.label, bar.shown)
    };
    bars.iter().zip(lengths(bars)).map(line).collect()
}

/// Returns bars on a logarithmic scale as SVG. The shortest bar is a twentieth of the longest.
#[must_use]
pub fn bars(bars: &[Bar]) -> String {
    const ROW: usize = 22;
    const LEFT: f64 = 170.0;
    const WIDTH: f64 = 360.0;
    let height = bars.len() * ROW + 6;
    let mut svg =
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 {height}\" width=\"640\" role=\"img\">\n");
    for (index, (bar, length)) in bars.iter().zip(lengths(bars)).enumerate() {
        let (y, width) = (index * ROW + 4, length * WIDTH);
        let (label, shown) = (escaped(&bar.label), escaped(&bar.shown));
        let (class, color) = if bar.is_marked { ("marked", "#d0603b") } else { ("bar", "#3f7cac") };
        let (text_y, end) = (y + 13, LEFT + width + 6.0);
        push(
            &mut svg,
            format_args!(
                "<text x=\"{}\" y=\"{text_y}\" text-anchor=\"end\" font-size=\"12\">{label}</text>\
                 <rect class=\"{class}\" fill=\"{color}\" x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"16\"/>\
                 <text x=\"{end:.1}\" y=\"{text_y}\" font-size=\"12\">{shown}</text>\n",
                LEFT - 8.0
            ),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Returns a line of comma-separated values.
#[must_use]
pub fn csv_line(cells: &[String]) -> String {
    let cell = |cell: &String| {
        if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() }
    };
    cells.iter().map(cell).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that an engine might report.
    const HOSTILE: &str = "<script>alert('x')</script>|`*_[a](b)\n# x";

    #[test]
    fn untrusted_names_are_escaped() {
        let mut table = Table::new(["engine", "n"]);
        table.rows.push(vec![HOSTILE.into(), "1".into()]);
        let bar = Bar { label: HOSTILE.into(), value: 1.0, shown: HOSTILE.into(), is_marked: false };
        let blocks = [
            Block::Heading(1, HOSTILE.into()),
            Block::Text(HOSTILE.into()),
            Block::Table(table),
            Block::Code(vec![HOSTILE.into(), "```".into()]),
            Block::Plot("a.svg".into(), HOSTILE.into(), bars(&[bar])),
        ];
        let page = html(HOSTILE, &blocks);
        assert!(!page.contains("<script"), "{page}");
        assert_eq!(page.matches("&lt;script&gt;").count(), 8);
        let page = markdown(&blocks);
        let outside: String = page.split("```").step_by(2).collect();
        assert!(!outside.contains("<script") || outside.contains("\\<script"), "{page}");
        assert_eq!(page.matches("```").count(), 2, "{page}");
        assert!(page.contains("\\|\\`\\*\\_\\[a\\](b) \\# x |"), "{page}");
    }

    #[test]
    fn values_with_commas_are_quoted() {
        assert_eq!(csv_line(&["a".into(), "b,c".into(), "d\"e".into()]), "a,\"b,c\",\"d\"\"e\"\n");
    }

    #[test]
    fn bar_lengths_are_logarithmic() {
        let bar = |value| Bar { label: String::new(), value, shown: String::new(), is_marked: false };
        let svg = bars(&[bar(10.0), bar(100.0), bar(1000.0)]);
        for width in ["width=\"18.0\"", "width=\"189.0\"", "width=\"360.0\""] {
            assert!(svg.contains(width), "{svg}");
        }
    }

    #[test]
    fn text_bars_are_aligned_and_logarithmic() {
        let bar =
            |label: &str, value| Bar { label: label.into(), value, shown: format!("{value:.1} x"), is_marked: false };
        let lines = text_bars(&[bar("a", 1.0), bar("long", 10.0), bar("ü", 100.0)]);
        let expected = [
            "a    ██ 1.0 x".to_owned(),
            format!("long {} 10.0 x", "█".repeat(21)),
            format!("ü    {} 100.0 x", "█".repeat(40)),
        ];
        assert_eq!(lines, expected);
        assert_eq!(text_bars(&[bar("a", 1.0)]), [format!("a {} 1.0 x", "█".repeat(40))]);
        assert!(text_bars(&[]).is_empty());
    }

    #[test]
    fn text_bars_end_in_eighths() {
        let bar = |value| Bar { label: String::new(), value, shown: String::new(), is_marked: false };
        // Lengths of 2, 14.36 and 40 cells.
        let lines = text_bars(&[bar(1.0), bar(10_f64.powf(0.325_263)), bar(10.0)]);
        assert_eq!(lines[1].trim(), "█".repeat(14) + "▍");
    }
}
