//! Crawlers named by table rows: each row is decided for its own crawler.
//!
//! A cell is a product token, as for `--agent`, or a request's `User-Agent` header, which [`Headers`] reads. A browser's
//! header names no crawler: no rules apply to it, and the verdict is `unknown`.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use reptile::capture::Time;
use reptile::crawlers::{Mistake, mistake};
use reptile::{Agent, Agents, Crawler, Error, Headers, MAX_HEADER_BYTES, Set, Verdict};

/// Maximum number of cells whose crawlers a thread caches. Logs have thousands of different headers, most of them rare.
pub const MAX_CACHED_CELLS: usize = 8192;

/// Maximum cached cell size in bytes. Longer cells are looked up each time.
pub const MAX_CACHED_CELL_BYTES: usize = 512;

/// A crawler's name, and its verdict counts in the verdicts' numeric order.
pub type CrawlerCounts = (Arc<str>, [u64; 4]);

/// Looks up crawlers for rows.
///
/// ```
/// use reptile::capture::Time;
/// use reptile::{Capture, Compiler, Dialect, Verdict};
/// use reptile_columns::{ByRow, NamedRow, Times};
///
/// struct Row {
///     crawler: &'static str,
///     url: &'static str,
/// }
///
/// impl AsRef<[u8]> for Row {
///     fn as_ref(&self) -> &[u8] {
///         self.url.as_bytes()
///     }
/// }
///
/// impl NamedRow for Row {
///     fn crawler(&self) -> &[u8] {
///         self.crawler.as_bytes()
///     }
///
///     fn time(&self) -> Option<Time> {
///         None
///     }
/// }
///
/// let mut compiler = Compiler::new(Dialect::google());
/// compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: GPTBot\ndisallow: /")?)?;
/// let by_row = ByRow::new(&compiler.finish()?.into_set()?, 1, false)?;
/// let rows = ["GPTBot", "Googlebot", "-"].map(|crawler| Row { crawler, url: "https://example.com/" });
/// let mut verdicts = [Verdict::Invalid; 3];
/// let mut session = by_row.session();
/// session.find_all(&rows)?;
/// session.decide(&rows, 0..rows.len(), Times::None, &mut verdicts)?;
/// assert_eq!(verdicts, [Verdict::Disallow, Verdict::Allow, Verdict::Unknown]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ByRow {
    /// The crawler column's index in a row.
    pub cell: usize,
    /// Whether every cell is a header, even a single word.
    is_log: bool,
    headers: Headers,
    /// A crawler that only the default group applies to. It determines which URLs are invalid in rows without a
    /// crawler.
    default_agents: Agents,
    /// Lookup caches, one for each active thread.
    caches: Mutex<Vec<Cache>>,
    /// Whether names are used unchanged.
    is_exact: bool,
    /// Rows with probably misspelled crawlers.
    misspelled: Mutex<Misspelled>,
}

/// Maximum number of misspelled names that are kept.
pub const MAX_MISSPELLED_NAMES: usize = 10;

/// Rows with a crawler that no robots.txt in the set names, and whose name is a probable [`Mistake`].
#[derive(Clone, Debug, Default)]
pub struct Misspelled {
    /// Number of such rows.
    pub rows: u64,
    /// The first names in alphabetical order, each with its probable mistake.
    pub names: BTreeMap<Arc<str>, Mistake>,
}

/// Cached cells and their crawlers.
#[derive(Default)]
struct Cache {
    /// Each cell's crawler index.
    places: HashMap<Vec<u8>, Option<usize>>,
    /// Each crawler's index, by name.
    names: HashMap<Arc<str>, usize>,
    crawlers: Vec<NamedCrawler>,
}

/// A crawler that a cell names, and its verdict counts.
struct NamedCrawler {
    name: Arc<str>,
    agents: Agents,
    counts: [u64; 4],
    /// The probable mistake in the name, if no robots.txt in the set contains it.
    mistake: Option<Mistake>,
}

/// One thread's lookups and counts for a block of rows. See [`ByRow`] for an example.
pub struct Session<'r> {
    rows: &'r ByRow,
    cache: Cache,
    /// Evicted crawlers' verdict counts.
    counted: Vec<CrawlerCounts>,
    /// Rows without a crawler.
    unnamed: u64,
    /// Each row's crawler index in the last [`Session::find_all`].
    places: Vec<Option<usize>>,
}

/// The time that rows are decided for. See [`ByRow`] for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// The set's own time.
    #[default]
    None,
    /// One time for all rows.
    At(Time),
    /// Each row's own time.
    OfRows,
}

impl Times {
    /// Returns a row's time, or `None` if the row has no time or the set's own time is used.
    pub fn of(self, row: &impl NamedRow) -> Option<Time> {
        match self {
            Times::None => None,
            Times::At(time) => Some(time),
            Times::OfRows => row.time(),
        }
    }
}

/// A row to decide. See [`ByRow`] for an example.
pub trait NamedRow: AsRef<[u8]> {
    /// Returns the cell that names the crawler, or an empty cell if no cell does.
    fn crawler(&self) -> &[u8];
    /// Returns the time that the row is decided for, if it has one.
    fn time(&self) -> Option<Time>;
}

impl<R: NamedRow> NamedRow for &R {
    fn crawler(&self) -> &[u8] {
        (**self).crawler()
    }

    fn time(&self) -> Option<Time> {
        (**self).time()
    }
}

impl ByRow {
    /// Looks up crawlers in the cell at index `cell`. With `is_log`, every cell is a request header.
    ///
    /// # Errors
    /// Returns an error if the set's crawler table is damaged.
    pub fn new(set: &Set, cell: usize, is_log: bool) -> Result<ByRow, Error> {
        let headers = Headers::new(set)?;
        let Ok(default_agents) = set.agents([Crawler::chain([""; 0], true)]) else {
            // This fails only for a damaged set. The verification reports where the damage is.
            set.verify()?;
            return Err(Error::from(std::io::Error::other("the set has no rules for *")));
        };
        let (caches, misspelled) = (Mutex::default(), Mutex::default());
        Ok(ByRow { cell, is_log, headers, default_agents, caches, is_exact: false, misspelled })
    }

    /// Prepares a set for a column of crawlers. With `headers`, every text is a `User-Agent` header, as in a log.
    /// Clients write headers, so no header counts as misspelled.
    ///
    /// ```
    /// use reptile::{Compiler, Dialect};
    /// use reptile_columns::ByRow;
    ///
    /// let set = Compiler::new(Dialect::google()).finish()?.into_set()?;
    /// assert_eq!(ByRow::of_column(&set, false, true)?.misspelled().rows, 0);
    /// # Ok::<(), reptile::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`ByRow::new`].
    pub fn of_column(set: &Set, headers: bool, exact: bool) -> Result<ByRow, Error> {
        Ok(ByRow::new(set, 0, headers)?.take_names_exactly(exact || headers))
    }

    /// Sets whether names are exact. Exact names never count as misspelled.
    pub fn take_names_exactly(self, is_exact: bool) -> ByRow {
        ByRow { is_exact, ..self }
    }

    /// Returns the rows with probably misspelled crawlers in all decided blocks.
    pub fn misspelled(&self) -> Misspelled {
        self.misspelled.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns an agent that only the default group applies to, as a placeholder for each row's crawler.
    pub fn default_agents(&self) -> &Agents {
        &self.default_agents
    }

    /// Starts a block of rows.
    pub fn session(&self) -> Session<'_> {
        let cache = self.caches.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Session { rows: self, cache: cache.unwrap_or_default(), counted: Vec::new(), unnamed: 0, places: Vec::new() }
    }

    /// Returns the crawler that a cell names.
    fn find(&self, cell: &[u8]) -> Result<Option<Agent>, Error> {
        if self.is_log || cell.iter().any(|byte| b" /(".contains(byte)) {
            self.headers.agent(cell)
        } else {
            self.headers.agent_of_token(cell)
        }
    }
}

impl Session<'_> {
    /// Returns the index for the crawler that a cell names.
    fn place(&mut self, cell: &[u8]) -> Result<Option<usize>, Error> {
        let cell = cell.trim_ascii();
        if matches!(cell, b"" | b"-") || cell.len() > MAX_HEADER_BYTES {
            return Ok(None);
        }
        if let Some(&place) = self.cache.places.get(cell) {
            return Ok(place);
        }
        let found = self.rows.find(cell)?;
        let place = found.map(|agent| {
            let name: Arc<str> = agent.crawler().to_string().into();
            let crawlers = &mut self.cache.crawlers;
            let is_exact = self.rows.is_exact;
            *self.cache.names.entry(Arc::clone(&name)).or_insert_with(|| {
                let mistake = mistake(name.as_bytes()).filter(|_| !is_exact && !agent.is_named());
                crawlers.push(NamedCrawler { name, agents: agent.into(), counts: [0; 4], mistake });
                crawlers.len() - 1
            })
        });
        if cell.len() <= MAX_CACHED_CELL_BYTES {
            self.cache.places.insert(cell.to_vec(), place);
        }
        Ok(place)
    }

    /// Evicts all crawlers if `more` new ones would exceed the limit.
    fn make_room(&mut self, more: usize) {
        let cache = &mut self.cache;
        if cache.places.len() + more > MAX_CACHED_CELLS || cache.crawlers.len() + more > MAX_CACHED_CELLS {
            self.count();
            self.cache = Cache::default();
        }
    }

    /// Adds the crawlers' counts to the block.
    fn count(&mut self) {
        for found in self.cache.crawlers.iter_mut().filter(|found| found.counts != [0; 4]) {
            if let Some(mistake) = found.mistake {
                let mut misspelled = self.rows.misspelled.lock().unwrap_or_else(PoisonError::into_inner);
                misspelled.rows += found.counts.iter().sum::<u64>();
                misspelled.names.insert(Arc::clone(&found.name), mistake);
                if misspelled.names.len() > MAX_MISSPELLED_NAMES {
                    misspelled.names.pop_last();
                }
            }
            self.counted.push((Arc::clone(&found.name), std::mem::take(&mut found.counts)));
        }
    }

    /// Finds some rows' crawlers, for [`Session::decide`] until the next call.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn find_all<R: NamedRow>(&mut self, rows: &[R]) -> Result<(), Error> {
        self.make_room(rows.len());
        self.places.clear();
        for row in rows {
            let place = self.place(row.crawler())?;
            self.places.push(place);
        }
        Ok(())
    }

    /// Returns whether a row in the last [`Session::find_all`] names a crawler.
    pub fn is_named(&self, row: usize) -> bool {
        matches!(self.places.get(row), Some(Some(_)))
    }

    /// Decides each row in `rows` for its crawler. `found` yields the rows' indexes in the last [`Session::find_all`].
    /// Without a crawler, the verdict is `unknown`, or `invalid` for an invalid URL.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn decide<R: NamedRow>(
        &self,
        rows: &[R],
        found: impl Iterator<Item = usize>,
        by: Times,
        verdicts: &mut [Verdict],
    ) -> Result<(), Error> {
        self.decide_dated(rows, found, by, verdicts, &mut [])
    }

    /// Decides like [`Session::decide`], and stores each row's capture time unless `fetched_at` is empty. A row without
    /// a crawler has no capture time.
    pub(crate) fn decide_dated<R: NamedRow>(
        &self,
        rows: &[R],
        found: impl Iterator<Item = usize>,
        by: Times,
        verdicts: &mut [Verdict],
        fetched_at: &mut [Option<Time>],
    ) -> Result<(), Error> {
        let place_of = |row: usize| self.places.get(row).copied().flatten();
        let mut order: Vec<(Option<usize>, usize)> = found.map(place_of).zip(0..rows.len()).collect();
        order.sort_unstable();
        let (mut urls, mut times, mut fetched) = (Vec::with_capacity(rows.len()), Vec::new(), Vec::new());
        let is_dated = !fetched_at.is_empty();
        for run in order.chunk_by(|(a, _), (b, _)| a == b) {
            urls.clear();
            urls.extend(run.iter().map(|&(_, number)| &rows[number]));
            let Some(&(place, _)) = run.first() else { continue };
            let agents = self.agents(place).1;
            let mut decided = vec![Verdict::Invalid; run.len()];
            fetched.clear();
            if is_dated {
                fetched.resize(run.len(), None);
            }
            decide_all(agents, &urls, by, &mut times, &mut decided, &mut fetched)?;
            for (&(_, number), verdict) in run.iter().zip(decided) {
                verdicts[number] = of_place(place, verdict);
            }
            for (&(_, number), &fetched) in run.iter().zip(&fetched).filter(|_| place.is_some()) {
                fetched_at[number] = fetched;
            }
        }
        Ok(())
    }

    /// Counts all verdicts for the rows in the last [`Session::find_all`].
    pub fn add_all(&mut self, verdicts: &[Verdict]) {
        let places = std::mem::take(&mut self.places);
        for (&place, &verdict) in places.iter().zip(verdicts) {
            self.add(place, verdict);
        }
        self.places = places;
    }

    /// Returns a row's crawler index, for [`Session::agents`] and [`Session::add`] before the next row.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn crawler(&mut self, row: &impl NamedRow) -> Result<Option<usize>, Error> {
        self.make_room(1);
        self.place(row.crawler())
    }

    /// Returns a crawler's name and agent. Without a crawler, returns an empty name and [`ByRow::default_agents`].
    pub fn agents(&self, place: Option<usize>) -> (&str, &Agents) {
        match place.map(|place| &self.cache.crawlers[place]) {
            Some(found) => (&found.name, &found.agents),
            None => ("", &self.rows.default_agents),
        }
    }

    /// Returns the crawler of a row in the last [`Session::find_all`], with its name.
    #[cfg(feature = "tables")]
    pub(crate) fn named(&self, row: usize) -> Option<(&Arc<str>, &Agent)> {
        let found = self.cache.crawlers.get((*self.places.get(row)?)?)?;
        Some((&found.name, found.agents.iter().next()?))
    }

    /// Returns a crawler's name and the probable mistake in it, if no robots.txt in the set contains the name.
    #[cfg(feature = "arrow")]
    pub(crate) fn mistake(&self, place: Option<usize>) -> Option<(&str, Mistake)> {
        let found = self.cache.crawlers.get(place?)?;
        Some((&found.name, found.mistake?))
    }

    /// Returns the first probable mistake in the last [`Session::find_all`], with the name.
    #[cfg(feature = "arrow")]
    pub(crate) fn first_mistake(&self) -> Option<(&str, Mistake)> {
        self.places.iter().find_map(|&place| self.mistake(place))
    }

    /// Returns the crawler name for a row in the last [`Session::find_all`], empty if the row names none.
    pub fn name_of(&self, row: usize) -> &str {
        self.places.get(row).map_or("", |&place| self.agents(place).0)
    }

    /// Counts and returns a row's verdict. For a row without a crawler, `verdict` is [`ByRow::default_agents`]'s.
    pub fn add(&mut self, place: Option<usize>, verdict: Verdict) -> Verdict {
        let verdict = of_place(place, verdict);
        match place {
            Some(place) => self.cache.crawlers[place].counts[verdict as usize] += 1,
            None => self.unnamed += 1,
        }
        verdict
    }

    /// Ends the block. Returns each crawler's verdict counts, and how many rows have no crawler.
    pub fn end(mut self) -> (Vec<CrawlerCounts>, u64) {
        self.count();
        self.counted.sort_unstable();
        self.rows.caches.lock().unwrap_or_else(PoisonError::into_inner).push(self.cache);
        (self.counted, self.unnamed)
    }
}

/// Decides rows for some crawlers, and stores the capture times unless `fetched_at` is empty. A row without a time is
/// invalid if row times are used. Reuses the memory of `times`.
pub(crate) fn decide_all<R: NamedRow>(
    agents: &Agents,
    rows: &[R],
    by: Times,
    times: &mut Vec<Time>,
    verdicts: &mut [Verdict],
    fetched_at: &mut [Option<Time>],
) -> Result<(), Error> {
    times.clear();
    if by != Times::None {
        times.extend(rows.iter().map(|row| by.of(row).unwrap_or_default()));
    }
    let timed = (by != Times::None).then_some(&times[..]);
    match timed {
        _ if !fetched_at.is_empty() => agents.decide_all_dated(rows, timed, verdicts, fetched_at)?,
        Some(times) => agents.decide_all_at(rows, times, verdicts)?,
        None => return agents.decide_all(rows, verdicts),
    }
    if by == Times::OfRows {
        let is_without = |row: &R| row.time().is_none();
        let decided = rows.iter().zip(verdicts.chunks_exact_mut(agents.len().max(1)));
        decided.filter(|(row, _)| is_without(row)).for_each(|(_, verdicts)| verdicts.fill(Verdict::Invalid));
        let dated = rows.iter().zip(fetched_at).filter(|(row, _)| is_without(row));
        dated.for_each(|(_, fetched_at)| *fetched_at = None);
    }
    Ok(())
}

/// Returns a row's verdict. For a row without a crawler, `verdict` is [`ByRow::default_agents`]'s.
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
    fn the_cache_is_bounded_and_does_not_change_results() {
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
            let (counted, unnamed) = session.end();
            assert_eq!((counted.len(), unnamed), (cells, 0));
            assert!(counted.iter().all(|(_, counts)| counts.iter().sum::<u64>() == 1));
            // This thread's next session must start with an empty cache.
            rows.caches.lock().unwrap().clear();
        }
    }

    #[test]
    fn cells_over_the_size_limit_name_no_crawler() {
        let set = set();
        let rows = ByRow::new(&set, 1, false).unwrap();
        for (len, is_crawler) in [(MAX_HEADER_BYTES - 1, true), (MAX_HEADER_BYTES, true), (MAX_HEADER_BYTES + 1, false)]
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
        let (counted, unnamed) = session.end();
        let names: Vec<(&str, u64)> = counted.iter().map(|(name, counts)| (&**name, counts.iter().sum())).collect();
        assert_eq!((names, unnamed), (vec![("GPTBot", 300), ("Googlebot", 300), ("Wget", 300), ("x", 300)], 300));
    }

    #[test]
    fn misspelled_names_are_counted_and_the_first_are_kept() {
        let set = set();
        let misspelt_in = |cells: &[&str], is_exact: bool| {
            let rows = ByRow::new(&set, 1, false).unwrap().take_names_exactly(is_exact);
            let mut session = rows.session();
            for cell in cells {
                let place = session.crawler(&Cell((*cell).into())).unwrap();
                session.add(place, Verdict::Allow);
            }
            session.end();
            rows.misspelled()
        };
        let cells = ["Googelbot", "GPTBot", "googelbot", "MyBot", "Googelbot/2.1 (+http://x.example/bot)", "-"];
        let found = misspelt_in(&cells, false);
        assert_eq!(found.rows, 3);
        assert!(
            found.names.values().all(|near| near.tokens() == ["Googlebot"]) && !found.names.is_empty(),
            "{found:?}"
        );
        assert_eq!(misspelt_in(&cells, true).rows, 0);
        // Any letter in a long name may be wrong.
        let names: Vec<String> =
            (0..=MAX_MISSPELLED_NAMES).map(|at| format!("Googlebo{}", (b'a' + at as u8) as char)).collect();
        for count in [MAX_MISSPELLED_NAMES - 1, MAX_MISSPELLED_NAMES, MAX_MISSPELLED_NAMES + 1] {
            let cells: Vec<&str> = names[..count].iter().map(String::as_str).collect();
            let found = misspelt_in(&cells, false);
            assert_eq!((found.rows, found.names.len()), (count as u64, count.min(MAX_MISSPELLED_NAMES)));
        }
    }
}
