//! A page as a list of blocks, written as Markdown and as HTML. Knows nothing of engines.

use std::fmt::Write as _;

use html_escape::encode_quoted_attribute as escaped;

/// A part of a page.
pub enum Block {
    /// A heading: its level from 1 on, and its text.
    Heading(usize, String),
    /// Text.
    Text(String),
    /// Lines that are shown as they are.
    Code(Vec<String>),
    /// A table.
    Table(Table),
    /// A plot: the name of its file, what it shows, and the SVG.
    Plot(String, String, String),
}

/// A table: the first column is text, and the others are right-aligned unless they are named as text.
#[derive(Default)]
pub struct Table {
    /// The heads of the columns.
    pub head: Vec<String>,
    /// The columns of text besides the first one.
    pub text: Vec<usize>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Table {
        Table { head: head.into_iter().map(Into::into).collect(), ..Table::default() }
    }

    fn is_text(&self, column: usize) -> bool {
        column == 0 || self.text.contains(&column)
    }
}

/// The look of the page.
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

/// The page as Markdown. Plots are files beside it.
#[must_use]
pub fn markdown(blocks: &[Block]) -> String {
    let mut page = String::new();
    for block in blocks {
        match block {
            Block::Heading(level, text) => push(&mut page, format_args!("{} {}\n\n", "#".repeat(*level), plain(text))),
            Block::Text(text) => push(&mut page, format_args!("{}\n\n", plain(text))),
            Block::Code(lines) => {
                page.push_str("```text\n");
                // A fence in a line would end the block.
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

/// Text of others in Markdown: nothing in it is markup.
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

/// The page as HTML, in one file that needs nothing else.
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
    /// Whose it is.
    pub label: String,
    /// How long it is.
    pub value: f64,
    /// The value as text.
    pub shown: String,
    /// Whether it is in the colour of those that should not be compared.
    pub is_marked: bool,
}

/// Bars over a logarithmic scale, as SVG. The shortest bar is a twentieth of the longest.
#[must_use]
pub fn bars(bars: &[Bar]) -> String {
    const ROW: usize = 22;
    const LEFT: f64 = 170.0;
    const WIDTH: f64 = 360.0;
    let height = bars.len() * ROW + 6;
    let logs = || bars.iter().map(|bar| bar.value.max(1e-9).log10());
    let (least, most) = (logs().fold(f64::MAX, f64::min), logs().fold(f64::MIN, f64::max));
    let mut svg =
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 {height}\" width=\"640\" role=\"img\">\n");
    for (index, (bar, log)) in bars.iter().zip(logs()).enumerate() {
        let share = if most > least { 0.05 + 0.95 * (log - least) / (most - least) } else { 1.0 };
        let (y, width) = (index * ROW + 4, share * WIDTH);
        let (label, shown) = (escaped(&bar.label), escaped(&bar.shown));
        let (class, colour) = if bar.is_marked { ("marked", "#d0603b") } else { ("bar", "#3f7cac") };
        let (text_y, end) = (y + 13, LEFT + width + 6.0);
        push(
            &mut svg,
            format_args!(
                "<text x=\"{}\" y=\"{text_y}\" text-anchor=\"end\" font-size=\"12\">{label}</text>\
                 <rect class=\"{class}\" fill=\"{colour}\" x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"16\"/>\
                 <text x=\"{end:.1}\" y=\"{text_y}\" font-size=\"12\">{shown}</text>\n",
                LEFT - 8.0
            ),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// A line of a file of comma-separated values.
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

    /// What an engine might call itself.
    const HOSTILE: &str = "<script>alert('x')</script>|`*_[a](b)\n# x";

    #[test]
    fn names_of_others_are_not_markup() {
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
    fn bars_are_as_long_as_their_logarithms() {
        let bar = |value| Bar { label: String::new(), value, shown: String::new(), is_marked: false };
        let svg = bars(&[bar(10.0), bar(100.0), bar(1000.0)]);
        for width in ["width=\"18.0\"", "width=\"189.0\"", "width=\"360.0\""] {
            assert!(svg.contains(width), "{svg}");
        }
    }
}
