//! Finds the contents that the merged set needs, and numbers them.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::super::draft::Tables;
use super::super::{FormatError, NONE};
use super::join::JoinedOrigins;
use super::{Decide, File, MergeError, OriginDecision, OriginInput, of_part};
use crate::threads::Threads;
use crate::verdict::PolicySource;

/// A set of numbers.
#[derive(Clone, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number.
    pub fn set(&mut self, number: usize) {
        let word = number / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    /// Returns the numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0_u32..).zip(&self.0).flat_map(|(word, &bits)| {
            let mut bits = bits;
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
                (bit < 64).then_some(word * 64 + bit)
            })
        })
    }
}

/// A set of numbers with ranks: a number's rank is the count of smaller numbers.
#[derive(Default)]
pub(super) struct RankedBits {
    bits: Bits,
    /// The count of numbers before each word.
    before: Vec<u32>,
}

impl RankedBits {
    /// Computes the numbers' ranks.
    pub fn of(bits: Bits) -> RankedBits {
        let counts = bits.0.iter().map(|word| word.count_ones());
        let before = counts.scan(0, |count, here| Some(std::mem::replace(count, *count + here))).collect();
        RankedBits { bits, before }
    }

    /// Returns the numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.bits.iter()
    }

    /// Returns a number's rank, or `None` if it is not in the set.
    pub fn index(&self, number: usize) -> Option<usize> {
        let (word, bit) = (number / 64, number % 64);
        let bits = *self.bits.0.get(word)?;
        let is_there = bits >> bit & 1 == 1;
        is_there.then(|| self.before[word] as usize + (bits & ((1 << bit) - 1)).count_ones() as usize)
    }
}

/// The contents needed from one set. Record numbers are addresses.
#[derive(Default)]
pub(super) struct UsedRecords {
    /// Policies needed with source [`PolicySource::Rules`].
    pub policies: Bits,
    pub other: Bits,
    pub tokens: Bits,
    pub rulesets: Bits,
    pub lines: Bits,
    pub usages: Bits,
}

/// A policy with a source other than a file's rules, and the file whose rules it has, if any.
///
/// The file's `other` is [`NONE`].
pub(super) type Variant = (PolicySource, Option<File>);

/// The contents needed from all sets.
pub(super) struct UsedContents {
    pub parts: Vec<UsedRecords>,
    pub variants: BTreeSet<Variant>,
}

/// The needed contents, and the counters from the decisions.
pub(super) struct Decisions<C> {
    pub used: UsedContents,
    pub counts: Vec<C>,
}

/// The contents that one set's origins need.
#[derive(Default)]
struct PartNeeds<C> {
    counts: C,
    own: UsedRecords,
    /// Files in other sets, and whether each one's policy and other directives are needed.
    far: Vec<(File, bool, bool)>,
    variants: BTreeSet<Variant>,
}

/// Decides every origin, and collects the contents that it needs.
pub(super) fn find<D: Decide>(
    tables: &[Tables<'_>],
    joined: &JoinedOrigins,
    decide: &D,
    threads: &dyn Threads,
) -> Result<Decisions<D::Counts>, MergeError<D::Error>> {
    let needed = threads.each_number(tables.len(), |part| {
        let (mut needed, mut input) = (PartNeeds::default(), OriginInput::default());
        for found in joined.origins(part, &tables[part]) {
            let (at, origin, others) = of_part(part, found)?;
            input.collect_from(tables, (at, origin), others)?;
            let decided = decide.decide(&origin, &input.found, &mut needed.counts);
            needed.add(part, &input, decided.map_err(MergeError::Undecided)?);
        }
        Ok::<PartNeeds<D::Counts>, MergeError<D::Error>>(needed)
    });
    let mut used = UsedContents { parts: Vec::new(), variants: BTreeSet::new() };
    let (mut counts, mut far) = (Vec::new(), Vec::new());
    for needed in needed {
        let mut needed = needed?;
        used.parts.push(needed.own);
        used.variants.append(&mut needed.variants);
        far.append(&mut needed.far);
        counts.push(needed.counts);
    }
    for (file, needs_policy, needs_other) in far {
        used.parts[file.part as usize].file(file, needs_policy, needs_other);
    }
    let variants = &used.variants;
    let parts: Vec<_> = used.parts.into_iter().map(Mutex::new).enumerate().collect();
    let with_contents = threads.each(
        &parts,
        || (),
        |(), (part, used)| {
            let mut used = std::mem::take(&mut *used.lock().unwrap_or_else(PoisonError::into_inner));
            let policies: Vec<u32> = used.policies.iter().collect();
            let of_variants = variants.iter().filter_map(|(_, file)| file.filter(|file| file.part as usize == *part));
            for address in policies.into_iter().chain(of_variants.map(|file| file.policy)) {
                of_part(*part, used.contents_of(&tables[*part], address))?;
            }
            Ok::<UsedRecords, MergeError<D::Error>>(used)
        },
    );
    used.parts = with_contents.into_iter().collect::<Result<_, _>>()?;
    Ok(Decisions { used, counts })
}

impl UsedRecords {
    /// Records that a file's policy and other directives are needed.
    fn file(&mut self, file: File, needs_policy: bool, needs_other: bool) {
        if needs_policy {
            self.policies.set(file.policy as usize);
        }
        if needs_other && file.other != NONE {
            self.other.set(file.other as usize);
        }
    }

    /// Records that a policy's contents are needed.
    fn contents_of(&mut self, tables: &Tables<'_>, policy: u32) -> Result<(), FormatError> {
        let policy = tables.policies.get(policy)?;
        // A damaged set's references may be invalid, so they are looked up first.
        for (token, _) in policy.tokens() {
            tables.tokens.name(token)?;
            self.tokens.set(token as usize);
        }
        for group in policy.all_groups() {
            tables.rulesets.get(group.ruleset)?;
            self.rulesets.set(group.ruleset as usize);
            if tables.lines.get(group.lines)?.is_some() {
                self.lines.set(group.lines as usize);
            }
        }
        for usage in policy.all_usages() {
            if usage.ruleset != NONE {
                tables.rulesets.get(usage.ruleset)?;
                self.rulesets.set(usage.ruleset as usize);
            }
            if tables.usages.get(usage.statements)?.is_some() {
                self.usages.set(usage.statements as usize);
            }
        }
        Ok(())
    }
}

impl<C> PartNeeds<C> {
    /// Records the contents that a decision needs.
    fn add(&mut self, part: usize, input: &OriginInput, decided: OriginDecision) {
        let mut note = |file: File, needs_policy, needs_other| {
            if file.part as usize == part {
                self.own.file(file, needs_policy, needs_other);
            } else {
                self.far.push((file, needs_policy, needs_other));
            }
        };
        let deciding = decided.file.and_then(|file| input.file(file));
        let is_of_file = decided.source == PolicySource::Rules;
        if let Some(file) = deciding {
            note(file, is_of_file, true);
        }
        if !is_of_file {
            self.variants.insert((decided.source, deciding.map(|file| File { other: NONE, ..file })));
        }
        for (source, file) in decided.policies {
            let file = file.and_then(|file| input.file(file));
            match file {
                Some(file) if source == PolicySource::Rules => note(file, true, false),
                _ => drop(self.variants.insert((source, file.map(|file| File { other: NONE, ..file })))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_returns_the_count_of_smaller_numbers() {
        let numbers = [0, 1, 63, 64, 127, 1000, 1023, 1024];
        let mut bits = Bits::default();
        numbers.iter().rev().for_each(|&number| bits.set(number));
        let places = RankedBits::of(bits);
        assert!(places.iter().map(|number| number as usize).eq(numbers));
        for number in 0..2000 {
            assert_eq!(places.index(number), numbers.iter().position(|&other| other == number), "{number}");
        }
        assert_eq!(RankedBits::default().index(0), None);
    }
}
