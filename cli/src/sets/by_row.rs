//! The crawlers that the rows of a table name: each row is decided for its own.
//!
//! A cell is a product token, as `--agent` takes it, or the `User-Agent` header of a request. A header names a crawler if a
//! product in it is in the crawler table of the set, or else if its first product that no browser has calls itself a robot or
//! is named by a robots.txt of the set. A header of anything else, such as a browser's, names no crawler: then no rules are
//! for it, and the verdict is `unknown`.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use reptile::capture::Time;
use reptile::crawlers::{crawler_in_header, nearly};
use reptile::{Agent, Agents, Crawler, CrawlerError, CrawlerErrorKind, Error, Set, Verdict};

/// The most cells whose crawlers a thread remembers. Logs have thousands of different headers, most of them rare.
pub const MAX_CACHED_CELLS: usize = 8192;

/// Bytes of a cell that is remembered; what is longer is looked up each time.
pub const MAX_CACHED_CELL_BYTES: usize = 512;

/// Bytes of a cell that may name a crawler: more than servers take as a header field of this name. A longer one names none.
pub const MAX_CRAWLER_CELL_BYTES: usize = 4096;

/// What products call themselves that are robots, in lower case.
const ROBOTS: [&str; 3] = ["bot", "crawl", "spider"];

/// How often each verdict was given for a crawler, with its name.
pub type Counted = (Arc<str>, [u64; 4]);

/// Looks up the crawlers of rows.
pub struct ByRow {
    set: Set,
    /// The place of the column among the cells of a row.
    pub cell: usize,
    /// Whether every cell is a header: then a single word is one too.
    is_log: bool,
    /// The names in the set's crawler table.
    known: Vec<String>,
    /// A crawler that just the rules for `*` are for. It tells which URLs of other rows are invalid.
    anyone: Agents,
    /// What was looked up, one for each thread that is at work.
    caches: Mutex<Vec<Cache>>,
    /// Whether names are used unchanged.
    is_exact: bool,
    /// Rows with probably misspelled crawlers.
    misspelt: Mutex<Misspelt>,
}

/// Maximum number of misspelled names that are kept.
pub const MAX_MISSPELT_NAMES: usize = 10;

/// Rows with a crawler that no robots.txt in the set names, but that nearly matches a known crawler.
#[derive(Clone, Debug, Default)]
pub struct Misspelt {
    /// Number of such rows.
    pub rows: u64,
    /// The first names in alphabetical order, each with the known crawler's name.
    pub names: BTreeMap<Arc<str>, &'static str>,
}

/// The crawlers of some cells.
#[derive(Default)]
struct Cache {
    /// The place of the crawler that a cell names.
    places: HashMap<Vec<u8>, Option<usize>>,
    /// The place of a crawler by the name of its product.
    names: HashMap<Arc<str>, usize>,
    crawlers: Vec<Found>,
}

/// A crawler that a cell names, and what was decided for it.
struct Found {
    name: Arc<str>,
    agents: Agents,
    counts: [u64; 4],
    /// The known crawler that nearly matches, if no robots.txt in the set names this crawler.
    near: Option<&'static str>,
}

/// One thread's use of [`ByRow`], for a block of rows.
pub struct Session<'r> {
    rows: &'r ByRow,
    cache: Cache,
    /// What was decided for crawlers that are forgotten.
    counted: Vec<Counted>,
    /// The rows that name no crawler.
    nobody: u64,
    /// The places of the crawlers of the rows whose crawlers were found last.
    places: Vec<Option<usize>>,
}

/// The times at which rows are decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// No time: the set decides for its own time.
    #[default]
    None,
    /// One time for all rows.
    At(Time),
    /// Each row's own time.
    OfRows,
}

impl Times {
    /// Returns the time of a row, or `None` if it has none.
    pub fn of(self, row: &impl NamedRow) -> Option<Time> {
        match self {
            Times::None => None,
            Times::At(time) => Some(time),
            Times::OfRows => row.time(),
        }
    }
}

/// A row to decide.
pub trait NamedRow: AsRef<[u8]> {
    /// The cell that names the crawler; empty if the row has none.
    fn crawler(&self) -> &[u8];
    /// The time by whose rules the row is decided, if it has one.
    fn time(&self) -> Option<Time>;
}

impl ByRow {
    /// Looks up crawlers in the cell of this place. `is_log` says that every cell is the header of a request.
    ///
    /// # Errors
    /// If the set's crawler table is damaged.
    pub fn new(set: &Set, cell: usize, is_log: bool) -> Result<ByRow, Error> {
        let known = set.crawlers()?.into_iter().map(|known| known.crawler.to_string()).collect();
        let Ok(anyone) = set.agents([Crawler::chain([""; 0], true)]) else {
            // Only a damaged set cannot resolve it; this says where the damage is.
            set.verify()?;
            return Err(Error::from(std::io::Error::other("the set has no rules for *")));
        };
        let (caches, misspelt) = (Mutex::default(), Mutex::default());
        Ok(ByRow { set: set.clone(), cell, is_log, known, anyone, caches, is_exact: false, misspelt })
    }

    /// Disables or enables exact names, which never count as misspelled.
    pub fn take_names_exactly(self, is_exact: bool) -> ByRow {
        ByRow { is_exact, ..self }
    }

    /// Returns the rows with probably misspelled crawlers in all decided blocks.
    pub fn misspelt(&self) -> Misspelt {
        self.misspelt.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Any crawler, to stand for the one of each row.
    pub fn anyone(&self) -> &Agents {
        &self.anyone
    }

    /// Begins to decide a block of rows.
    pub fn session(&self) -> Session<'_> {
        let cache = self.caches.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Session { rows: self, cache: cache.unwrap_or_default(), counted: Vec::new(), nobody: 0, places: Vec::new() }
    }

    /// The crawler that a cell names.
    fn find(&self, cell: &[u8]) -> Result<Option<Agents>, Error> {
        let is_header = self.is_log || cell.iter().any(|byte| b" /(".contains(byte));
        if !is_header {
            return self.resolve(cell);
        }
        let Some(name) = crawler_in_header(cell, self.known.iter().map(String::as_bytes)) else { return Ok(None) };
        let agents = self.resolve(name.as_bytes())?;
        let is_known = || self.known.iter().any(|known| known.eq_ignore_ascii_case(&name));
        let is_robot = || ROBOTS.iter().any(|robot| name.to_ascii_lowercase().contains(robot));
        Ok(agents.filter(|agents| is_known() || is_robot() || agents.iter().any(Agent::is_named)))
    }

    /// The crawler of a product token. One that no user-agent line can name is the one that such lines are read as naming.
    fn resolve(&self, name: &[u8]) -> Result<Option<Agents>, Error> {
        let is_word = name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte));
        let by_suggestion = |error: &CrawlerError| match (error.kind(), error.suggestion()) {
            (CrawlerErrorKind::Unnameable, Some(read_as)) if is_word => self.set.agents([read_as]).ok(),
            _ => None,
        };
        match self.set.agents([Crawler::named(name)]) {
            Ok(agents) => Ok(Some(agents)),
            Err(error) if error.kind() == CrawlerErrorKind::Damaged => self.set.verify().map(|()| None),
            Err(error) => Ok(by_suggestion(&error)),
        }
    }
}

impl Session<'_> {
    /// The place of the crawler that a cell names.
    fn place(&mut self, cell: &[u8]) -> Result<Option<usize>, Error> {
        let cell = cell.trim_ascii();
        if matches!(cell, b"" | b"-") || cell.len() > MAX_CRAWLER_CELL_BYTES {
            return Ok(None);
        }
        if let Some(&place) = self.cache.places.get(cell) {
            return Ok(place);
        }
        let found = self.rows.find(cell)?;
        let place = found.map(|agents| {
            let name: Arc<str> = agents.iter().map(|agent| agent.crawler().to_string()).collect::<String>().into();
            let crawlers = &mut self.cache.crawlers;
            let is_exact = self.rows.is_exact;
            *self.cache.names.entry(Arc::clone(&name)).or_insert_with(|| {
                let is_named = || is_exact || agents.iter().any(Agent::is_named);
                let near = nearly(name.as_bytes()).filter(|_| !is_named());
                crawlers.push(Found { name, agents, counts: [0; 4], near });
                crawlers.len() - 1
            })
        });
        if cell.len() <= MAX_CACHED_CELL_BYTES {
            self.cache.places.insert(cell.to_vec(), place);
        }
        Ok(place)
    }

    /// Forgets all crawlers if there would be too many with so many more.
    fn make_room(&mut self, more: usize) {
        let cache = &mut self.cache;
        if cache.places.len() + more > MAX_CACHED_CELLS || cache.crawlers.len() + more > MAX_CACHED_CELLS {
            self.count();
            self.cache = Cache::default();
        }
    }

    /// Moves the counts of the crawlers to those of the block.
    fn count(&mut self) {
        for found in self.cache.crawlers.iter_mut().filter(|found| found.counts != [0; 4]) {
            if let Some(near) = found.near {
                let mut misspelt = self.rows.misspelt.lock().unwrap_or_else(PoisonError::into_inner);
                misspelt.rows += found.counts.iter().sum::<u64>();
                misspelt.names.insert(Arc::clone(&found.name), near);
                if misspelt.names.len() > MAX_MISSPELT_NAMES {
                    misspelt.names.pop_last();
                }
            }
            self.counted.push((Arc::clone(&found.name), std::mem::take(&mut found.counts)));
        }
    }

    /// Finds the crawlers that some rows name. They are those of [`Session::decide`] until the next ones are found.
    ///
    /// # Errors
    /// If the set is damaged.
    pub fn find_all<R: NamedRow>(&mut self, rows: &[R]) -> Result<(), Error> {
        self.make_room(rows.len());
        self.places.clear();
        for row in rows {
            let place = self.place(row.crawler())?;
            self.places.push(place);
        }
        Ok(())
    }

    /// Whether a row of those whose crawlers were found names one.
    pub fn is_named(&self, row: usize) -> bool {
        matches!(self.places.get(row), Some(Some(_)))
    }

    /// The verdict of each of `rows` for the crawler of the row that was found at the same place of `found`: `unknown` if it
    /// names none, unless its URL is invalid.
    ///
    /// # Errors
    /// If the set is damaged.
    pub fn decide<R: NamedRow>(
        &self,
        rows: &[R],
        found: impl Iterator<Item = usize>,
        by: Times,
        verdicts: &mut [Verdict],
    ) -> Result<(), Error> {
        let place_of = |row: usize| self.places.get(row).copied().flatten();
        let mut order: Vec<(Option<usize>, usize)> = found.map(place_of).zip(0..rows.len()).collect();
        order.sort_unstable();
        let (mut urls, mut times) = (Vec::with_capacity(rows.len()), Vec::new());
        for run in order.chunk_by(|(a, _), (b, _)| a == b) {
            urls.clear();
            urls.extend(run.iter().map(|&(_, number)| &rows[number]));
            let Some(&(place, _)) = run.first() else { continue };
            let agents = self.agents(place).1;
            let mut decided = vec![Verdict::Invalid; run.len()];
            if by != Times::None {
                times.clear();
                times.extend(urls.iter().map(|&row| by.of(row).unwrap_or_default()));
                agents.decide_all_at(&urls, &times, &mut decided)?;
                let without = urls.iter().zip(&mut decided).filter(|(row, _)| by.of(**row).is_none());
                without.for_each(|(_, verdict)| *verdict = Verdict::Invalid);
            } else {
                agents.decide_all(&urls, &mut decided)?;
            }
            for (&(_, number), verdict) in run.iter().zip(decided) {
                verdicts[number] = of_place(place, verdict);
            }
        }
        Ok(())
    }

    /// Counts the verdicts of all rows whose crawlers were found.
    pub fn add_all(&mut self, verdicts: &[Verdict]) {
        let places = std::mem::take(&mut self.places);
        for (&place, &verdict) in places.iter().zip(verdicts) {
            self.add(place, verdict);
        }
        self.places = places;
    }

    /// The place of the crawler that a row names, for [`Session::agents`] and [`Session::add`] before the next row.
    ///
    /// # Errors
    /// If the set is damaged.
    pub fn crawler(&mut self, row: &impl NamedRow) -> Result<Option<usize>, Error> {
        self.make_room(1);
        self.place(row.crawler())
    }

    /// The name of a crawler, and the crawler; for a row that names none no name, and any crawler.
    pub fn agents(&self, place: Option<usize>) -> (&str, &Agents) {
        match place.map(|place| &self.cache.crawlers[place]) {
            Some(found) => (&found.name, &found.agents),
            None => ("", &self.rows.anyone),
        }
    }

    /// The name of the crawler of a row of those whose crawlers were found; empty if the row names none.
    pub fn name_of(&self, row: usize) -> &str {
        self.places.get(row).map_or("", |&place| self.agents(place).0)
    }

    /// Counts the verdict of a row. Returns its verdict if it names no crawler, for which `verdict` is that of any crawler.
    pub fn add(&mut self, place: Option<usize>, verdict: Verdict) -> Verdict {
        let verdict = of_place(place, verdict);
        match place {
            Some(place) => self.cache.crawlers[place].counts[verdict as usize] += 1,
            None => self.nobody += 1,
        }
        verdict
    }

    /// Ends the block: the verdicts of each crawler, and the number of rows that name none.
    pub fn end(mut self) -> (Vec<Counted>, u64) {
        self.count();
        self.counted.sort_unstable();
        self.rows.caches.lock().unwrap_or_else(PoisonError::into_inner).push(self.cache);
        (self.counted, self.nobody)
    }
}

/// The verdict of a row: for one that names no crawler `verdict` is that of any crawler.
fn of_place(place: Option<usize>, verdict: Verdict) -> Verdict {
    if place.is_none() && verdict != Verdict::Invalid { Verdict::Unknown } else { verdict }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;
    use reptile::{Capture, Compiler, Dialect};

    fn set() -> Set {
        let mut compiler = Compiler::new(Dialect::google());
        let body = "user-agent: GPTBot\nuser-agent: wget\nuser-agent: MJ12bot\ndisallow: /\n";
        compiler.add(Capture::new("https://example.com/robots.txt", body).unwrap()).unwrap();
        compiler.finish().unwrap().into_set().unwrap()
    }

    struct Cell(Vec<u8>);

    impl AsRef<[u8]> for Cell {
        fn as_ref(&self) -> &[u8] {
            b"https://example.com/"
        }
    }

    impl NamedRow for Cell {
        fn crawler(&self) -> &[u8] {
            &self.0
        }

        fn time(&self) -> Option<Time> {
            None
        }
    }

    #[test]
    fn crawlers_are_found_in_headers_and_browsers_are_not_crawlers() {
        let set = set();
        let cases: [(&str, Option<&str>, Option<&str>); 25] = [
            // A cell, the crawler if it may be a token, and the crawler if it is a header.
            ("GPTBot", Some("GPTBot"), Some("GPTBot")),
            ("MyTool", Some("MyTool"), None),
            ("Googlebot-Image>Googlebot", None, Some("Googlebot-Image")),
            ("GPTBot,CCBot", None, Some("GPTBot")),
            ("", None, None),
            ("-", None, None),
            (" - ", None, None),
            ("GPTBot/1.0", Some("GPTBot"), Some("GPTBot")),
            ("Googlebot-Image/1.0", Some("Googlebot-Image"), Some("Googlebot-Image")),
            ("Wget/1.21", Some("Wget"), Some("Wget")),
            ("curl/8.5.0", None, None),
            ("MJ12bot/v1.4.8", Some("MJ12bot"), Some("MJ12bot")),
            ("MJ13bot/v1.4.8", Some("MJ"), Some("MJ")),
            ("360Spider/1.0", None, None),
            ("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", Some("GPTBot"), Some("GPTBot")),
            (
                "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
                Some("AhrefsBot"),
                Some("AhrefsBot"),
            ),
            (
                "Mozilla/5.0 (compatible; YandexRenderResourcesBot/1.0)",
                Some("YandexRenderResourcesBot"),
                Some("YandexRenderResourcesBot"),
            ),
            ("AdsBot-Google (+http://www.google.com/adsbot.html)", Some("AdsBot-Google"), Some("AdsBot-Google")),
            (
                "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/99.0.4844.84 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
                Some("Googlebot"),
                Some("Googlebot"),
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36",
                None,
                None,
            ),
            ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/120.0 Safari/537.36 OPR/106.0.0.0", None, None),
            ("Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0)", None, None),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0", None, None),
            ("python-requests/2.31.0", None, None),
            ("\u{1b}[31m/1 (", None, None),
        ];
        for is_log in [false, true] {
            let rows = ByRow::new(&set, 1, is_log).unwrap();
            let mut session = rows.session();
            for (cell, as_token, as_header) in cases {
                let place = session.crawler(&Cell(cell.into())).unwrap();
                let expected = if is_log { as_header } else { as_token };
                assert_eq!(session.agents(place).0, expected.unwrap_or_default(), "{cell} {is_log}");
                assert_eq!(place.is_some(), expected.is_some(), "{cell} {is_log}");
            }
        }
    }

    #[test]
    fn what_is_remembered_is_bounded_and_changes_nothing() {
        let set = set();
        let rows = ByRow::new(&set, 1, false).unwrap();
        for (len, is_kept) in
            [(MAX_CACHED_CELL_BYTES - 1, true), (MAX_CACHED_CELL_BYTES, true), (MAX_CACHED_CELL_BYTES + 1, false)]
        {
            let mut session = rows.session();
            assert!(session.crawler(&Cell(vec![b'a'; len])).unwrap().is_some());
            assert_eq!(session.cache.places.len(), usize::from(is_kept), "{len}");
        }
        let name = |mut number: usize| {
            let mut name = b"x".to_vec();
            while number > 0 {
                name.push(b'a' + (number % 26) as u8);
                number /= 26;
            }
            Cell(name)
        };
        for (cells, kept) in [
            (MAX_CACHED_CELLS - 1, MAX_CACHED_CELLS - 1),
            (MAX_CACHED_CELLS, MAX_CACHED_CELLS),
            (MAX_CACHED_CELLS + 1, 1),
        ] {
            let mut session = rows.session();
            for number in 0..cells {
                let place = session.crawler(&name(number)).unwrap();
                assert_eq!(session.add(place, Verdict::Allow), Verdict::Allow);
            }
            assert_eq!(session.cache.places.len(), kept, "{cells}");
            let (counted, nobody) = session.end();
            assert_eq!((counted.len(), nobody), (cells, 0));
            assert!(counted.iter().all(|(_, counts)| counts.iter().sum::<u64>() == 1));
            // The next session of this thread must not begin with what the last one knew.
            rows.caches.lock().unwrap().clear();
        }
    }

    #[test]
    fn the_limit_of_a_cell_holds_at_its_edges() {
        let set = set();
        let rows = ByRow::new(&set, 1, false).unwrap();
        for (len, is_crawler) in
            [(MAX_CRAWLER_CELL_BYTES - 1, true), (MAX_CRAWLER_CELL_BYTES, true), (MAX_CRAWLER_CELL_BYTES + 1, false)]
        {
            let mut session = rows.session();
            assert_eq!(session.crawler(&Cell(vec![b'a'; len])).unwrap().is_some(), is_crawler, "{len}");
        }
    }

    #[test]
    fn rows_are_decided_for_their_own_crawlers() {
        let set = set();
        let rows = ByRow::new(&set, 1, false).unwrap();
        let cells: Vec<Cell> =
            ["GPTBot", "-", "Googlebot", "Wget/1", "x"].repeat(300).into_iter().map(|cell| Cell(cell.into())).collect();
        let mut session = rows.session();
        let mut verdicts = vec![Verdict::Invalid; cells.len()];
        session.find_all(&cells).unwrap();
        session.decide(&cells, 0..cells.len(), Times::None, &mut verdicts).unwrap();
        session.add_all(&verdicts);
        use Verdict::{Allow, Disallow, Unknown};
        for found in verdicts.chunks(5) {
            assert_eq!(found, [Disallow, Unknown, Allow, Disallow, Allow]);
        }
        let (counted, nobody) = session.end();
        let names: Vec<(&str, u64)> = counted.iter().map(|(name, counts)| (&**name, counts.iter().sum())).collect();
        assert_eq!((names, nobody), (vec![("GPTBot", 300), ("Googlebot", 300), ("Wget", 300), ("x", 300)], 300));
    }

    #[test]
    fn misspelt_names_are_counted_and_the_first_are_kept() {
        let set = set();
        let misspelt_in = |cells: &[&str], is_exact: bool| {
            let rows = ByRow::new(&set, 1, false).unwrap().take_names_exactly(is_exact);
            let mut session = rows.session();
            for cell in cells {
                let place = session.crawler(&Cell((*cell).into())).unwrap();
                session.add(place, Verdict::Allow);
            }
            session.end();
            rows.misspelt()
        };
        let cells = ["Googelbot", "GPTBot", "googelbot", "MyBot", "Googelbot/2.1 (+http://x.example/bot)", "-"];
        let found = misspelt_in(&cells, false);
        assert_eq!(found.rows, 3);
        assert!(found.names.values().all(|near| *near == "Googlebot") && !found.names.is_empty(), "{found:?}");
        assert_eq!(misspelt_in(&cells, true).rows, 0);
        // Any letter of a long name may be wrong.
        let names: Vec<String> =
            (0..=MAX_MISSPELT_NAMES).map(|at| format!("Googlebo{}", (b'a' + at as u8) as char)).collect();
        for count in [MAX_MISSPELT_NAMES - 1, MAX_MISSPELT_NAMES, MAX_MISSPELT_NAMES + 1] {
            let cells: Vec<&str> = names[..count].iter().map(String::as_str).collect();
            let found = misspelt_in(&cells, false);
            assert_eq!((found.rows, found.names.len()), (count as u64, count.min(MAX_MISSPELT_NAMES)));
        }
    }
}
