//! Writes the sections `index`, `rulesets` and `prints`. [`super`] defines their encoding.

use super::super::fingerprints::FingerprintPool;
use super::super::{NONE, TooLarge, fit, put_long};
use super::{
    ENTRY_BYTES, MAX_RULESETS_BYTES, OFFSET_BITS, PAYLOAD_PATCHES, PAYLOAD_RULES, PackedRuleset, RulesetPacker,
};
use crate::spool::Sink;

/// Writes the used rulesets, sorted and without duplicates.
///
/// Frees each automaton as soon as it is copied. Returns the writer, and each automaton's number in input order;
/// [`NONE`] for unused ones.
pub(in super::super) fn write_rulesets<A: AsRef<[u8]> + Default>(
    mut automata: Vec<A>,
    is_used: &[bool],
) -> Result<(RulesetWriter<Vec<u8>>, Vec<u32>), TooLarge> {
    let mut order: Vec<usize> = (0..automata.len()).filter(|&place| is_used[place]).collect();
    order.sort_unstable_by(|&a, &b| automata[a].as_ref().cmp(automata[b].as_ref()));
    let mut numbers = vec![NONE; automata.len()];
    let mut writer = RulesetWriter::new(Vec::new());
    for place in order {
        numbers[place] = writer.push::<TooLarge>(std::mem::take(&mut automata[place]).as_ref())?;
    }
    Ok((writer, numbers))
}

/// Writes rulesets that arrive sorted by their automata's bytes.
///
/// Writes equal ones once. Keeps only the last one, and the last one stored whole.
pub(in super::super) struct RulesetWriter<O> {
    pub index: Vec<u8>,
    pub rulesets: O,
    end: u64,
    last: Vec<u8>,
    packer: RulesetPacker,
    fingerprints: FingerprintPool,
}

impl<O: Sink> RulesetWriter<O> {
    /// Creates a writer that sends the section `rulesets` to a sink and keeps the others.
    pub fn new(rulesets: O) -> RulesetWriter<O> {
        let (packer, fingerprints) = (RulesetPacker::default(), FingerprintPool::default());
        RulesetWriter { index: Vec::new(), rulesets, end: 0, last: Vec::new(), packer, fingerprints }
    }

    /// Adds an automaton, and returns its number.
    ///
    /// # Errors
    /// Returns an error if there are too many automata or bytes, or if the sink does.
    pub fn push<E: From<TooLarge> + From<O::Error>>(&mut self, automaton: &[u8]) -> Result<u32, E> {
        if self.index.is_empty() || self.last != automaton {
            self.write::<E>(automaton)?;
            self.last.clear();
            self.last.extend_from_slice(automaton);
        }
        Ok(fit("rulesets", self.index.len() / ENTRY_BYTES - 1, u64::from(NONE) - 1)?)
    }

    fn write<E: From<TooLarge> + From<O::Error>>(&mut self, automaton: &[u8]) -> Result<(), E> {
        let packed = self.packer.pack(automaton, &mut self.fingerprints)?;
        let (bytes, payload) = match &packed {
            PackedRuleset::Whole(bytes) => (*bytes, PAYLOAD_RULES),
            PackedRuleset::Patches(record) => (&record[..], PAYLOAD_PATCHES),
        };
        self.rulesets.put(bytes)?;
        self.end += bytes.len() as u64;
        if self.end >= MAX_RULESETS_BYTES {
            let (limit, found) = (MAX_RULESETS_BYTES - 1, self.end);
            return Err(TooLarge { what: "bytes of rulesets", limit, found }.into());
        }
        put_long(&mut self.index, self.end | payload << OFFSET_BITS);
        Ok(())
    }

    /// Returns the sections `index`, `rulesets` and `prints`.
    pub fn finish(self) -> (Vec<u8>, O, Vec<u8>) {
        (self.index, self.rulesets, self.fingerprints.bytes)
    }
}
