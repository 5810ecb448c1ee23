//! Prints tables of figures, which end with the ratios of the best peers to Reptile, and draws the plot.

use std::fmt::Write as _;

/// The row of Reptile that the best peer is compared with.
pub const OURS: &str = "reptile, path given";

/// The peers that Reptile aims to be twice as fast as. The names of their rows begin with these names.
const FASTEST: [&str; 4] = ["Hyperscan", "Vectorscan", "RE2::Set", "fast-robots"];

/// A table: one row for each implementation, with one figure for each file, or `None` where it refuses the file.
#[derive(Default)]
pub struct Figures {
    /// The names of the files.
    pub columns: Vec<String>,
    rows: Vec<(String, Vec<Option<f64>>)>,
}

impl Figures {
    /// Makes a table without rows.
    pub fn new(columns: &[String]) -> Figures {
        Figures { columns: columns.to_vec(), ..Figures::default() }
    }

    /// Adds a figure at the end of a row; a new name begins a new row.
    pub fn add(&mut self, name: &str, figure: Option<f64>) {
        match self.rows.iter_mut().find(|(row, _)| row == name) {
            Some((_, figures)) => figures.push(figure),
            None => self.rows.push((name.to_owned(), vec![figure])),
        }
    }

    /// Replaces the last figure of a row.
    pub fn set(&mut self, name: &str, figure: f64) {
        if let Some(last) = self.rows.iter_mut().find(|(row, _)| row == name).and_then(|(_, row)| row.last_mut()) {
            *last = Some(figure);
        }
    }

    /// Prints the table without the blank line after it, so that more rows can follow.
    fn print_rows(&self, unit: &str) {
        println!("| {unit} | {} |\n|---|{}", self.columns.join(" | "), "---|".repeat(self.columns.len()));
        for (name, figures) in &self.rows {
            let texts: Vec<String> = figures.iter().map(|&figure| text_of(figure)).collect();
            println!("| {name} | {} |", texts.join(" | "));
        }
    }

    /// Prints the table.
    pub fn print(&self, unit: &str) {
        self.print_rows(unit);
        println!();
    }

    /// Prints the table and two rows of ratios: the time of the best peer divided by Reptile's, first among the peers of
    /// [`FASTEST`], then among all. The label of the first names those of [`FASTEST`] that were not measured.
    pub fn print_with_ratios(&self, unit: &str) {
        self.print_rows(unit);
        let (measured, missing): (Vec<&str>, Vec<&str>) =
            FASTEST.iter().partition(|&&peer| self.rows.iter().any(|(name, _)| name.starts_with(peer)));
        let missing =
            if missing.is_empty() { String::new() } else { format!(" ({} not measured)", missing.join(", ")) };
        let label = format!("**best of {}{missing}, times Reptile's**", measured.join(", "));
        self.print_ratios(&label, |name| FASTEST.iter().any(|&peer| name.starts_with(peer)));
        self.print_ratios("best of all peers, times Reptile's", |name| !name.starts_with("reptile"));
        println!();
    }

    /// Prints the row of ratios for the best of the peers whose names `is_meant` accepts.
    fn print_ratios(&self, label: &str, is_meant: impl Fn(&str) -> bool) {
        let Some((_, ours)) = self.rows.iter().find(|(name, _)| name == OURS) else { return };
        let ratio = |column: usize| {
            let peers = self.rows.iter().filter(|(name, _)| is_meant(name));
            let figures = peers.filter_map(|(name, figures)| Some(((*figures.get(column)?)?, name)));
            let (best, name) = figures.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
            Some(format!("{:.2} ({})", best / (*ours.get(column)?)?, name.split(',').next()?))
        };
        let ratios: Vec<String> =
            (0..self.columns.len()).map(|column| ratio(column).unwrap_or_else(|| "none".to_owned())).collect();
        println!("| {label} | {} |", ratios.join(" | "));
    }
}

/// Writes a figure with three significant digits; more would be noise.
fn text_of(figure: Option<f64>) -> String {
    match figure {
        None => "refuses".to_owned(),
        Some(figure) if figure < 10.0 => format!("{figure:.2}"),
        Some(figure) if figure < 100.0 => format!("{figure:.1}"),
        Some(figure) => format!("{figure:.0}"),
    }
}

/// The colours of the lines in the plot; they repeat if there are more implementations.
const COLOURS: [&str; 12] = [
    "#c00000", "#e08000", "#205090", "#208040", "#70b070", "#7030a0", "#909090", "#404040", "#00a0a0", "#d060b0",
    "#a08000", "#6080ff",
];

/// Draws the figures as SVG: a line for each implementation over the files, with a logarithmic scale.
pub fn plot(figures: &Figures) -> String {
    let (left, top, width, height) = (70.0, 50.0, 520.0, 400.0);
    let highest = 7.0;
    let x = |column: usize| left + width * (column as f64 + 0.5) / figures.columns.len() as f64;
    let y = |figure: f64| top + height * (1.0 - figure.log10().clamp(0.0, highest) / highest);
    let mut svg = String::from(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="920" height="500" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="70" y="28" font-size="16">Time of one decision, ns (logarithmic), five real robots.txt files</text>
"##,
    );
    for power in 0..=highest as i32 {
        let figure = 10_f64.powi(power);
        let _ = writeln!(
            svg,
            r##"<path d="M{left} {0:.1}h{width}" stroke="#dddddd"/><text x="62" y="{1:.1}" text-anchor="end">{figure}</text>"##,
            y(figure),
            y(figure) + 4.0
        );
    }
    for (column, name) in figures.columns.iter().enumerate() {
        let _ = writeln!(svg, r#"<text x="{:.1}" y="475" text-anchor="middle">{name}</text>"#, x(column));
    }
    for (row, (name, values)) in figures.rows.iter().enumerate() {
        let colour = COLOURS[row % COLOURS.len()];
        let points: Vec<(f64, f64)> =
            values.iter().enumerate().filter_map(|(column, figure)| Some((x(column), y((*figure)?)))).collect();
        let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ =
            writeln!(svg, r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"#, line.join(" "));
        for (x, y) in points {
            let _ = writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{colour}"/>"#);
        }
        let at = 70 + row * 24;
        let _ = writeln!(
            svg,
            r#"<rect x="610" y="{}" width="12" height="12" fill="{colour}"/><text x="630" y="{at}">{name}</text>"#,
            at - 11
        );
    }
    svg + "</svg>\n"
}
