//! Encodes small numbers as runs and packed bits, which Parquet uses for levels and dictionary indexes. Source: the
//! Parquet format, Encodings.md ("RLE").

/// Minimum length of a run.
const RUN: usize = 16;

/// Number of packed numbers in a group.
const GROUP: usize = 8;

/// Appends numbers of `width` bits each, at most 8.
pub fn put_hybrid(numbers: &[u8], width: u8, out: &mut Vec<u8>) {
    let (mut at, mut packed) = (0, 0);
    while let Some(&number) = numbers.get(at) {
        let run = run_len(&numbers[at..], number);
        // Packed numbers come in whole groups, so the last group takes numbers from the run.
        let taken = (at - packed).next_multiple_of(GROUP) - (at - packed);
        if run >= RUN + taken {
            put_packed(&numbers[packed..at + taken], width, out);
            put_varint(((run - taken) as u64) << 1, out);
            out.push(number);
            packed = at + run;
        }
        at += run;
    }
    put_packed(&numbers[packed..], width, out);
}

/// Returns how often a number is repeated at the start.
fn run_len(numbers: &[u8], number: u8) -> usize {
    const AT_ONCE: usize = 16;
    let whole = [number; AT_ONCE];
    let same = numbers.as_chunks::<AT_ONCE>().0.iter().take_while(|chunk| **chunk == whole).count() * AT_ONCE;
    same + numbers[same..].iter().take_while(|&&other| other == number).count()
}

/// Appends packed numbers. The last group is padded with zeros.
fn put_packed(numbers: &[u8], width: u8, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    put_varint((numbers.len().div_ceil(GROUP) as u64) << 1 | 1, out);
    for group in numbers.chunks(GROUP) {
        let bits = group.iter().rev().fold(0_u64, |bits, &number| bits << width | u64::from(number));
        out.extend_from_slice(&bits.to_le_bytes()[..width.into()]);
    }
}

fn put_varint(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads numbers as the format defines them.
    fn read(mut bytes: &[u8], width: u8, count: usize) -> Vec<u8> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let (mut header, mut shift) = (0_u64, 0);
            loop {
                let byte = *bytes.split_off_first().unwrap();
                header |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            let times = (header >> 1) as usize;
            if header & 1 == 0 {
                numbers.extend(vec![*bytes.split_off_first().unwrap(); times]);
                continue;
            }
            let packed = bytes.split_off(..times * usize::from(width)).unwrap();
            for at in 0..times * GROUP {
                let bit = |bit: usize| packed[bit / 8] >> (bit % 8) & 1;
                numbers.push((0..width.into()).map(|of| bit(at * usize::from(width) + of) << of).sum());
            }
        }
        assert!(bytes.is_empty());
        assert!(numbers[count..].iter().all(|&number| number == 0), "padding");
        numbers.truncate(count);
        numbers
    }

    #[test]
    fn numbers_are_read_back() {
        for width in 1..=8_u8 {
            for (first, run, last) in [(0, 0, 0), (0, 1, 0), (3, RUN - 1, 2), (3, RUN + 4, 1), (3, RUN + 5, 0)] {
                for times in [1, 2, 7, 300] {
                    let number = |at: usize| (at * 7 % (1 << width)) as u8;
                    let part = (0..first).map(number).chain(vec![1; run]).chain((0..last).map(number));
                    let numbers: Vec<u8> = part.collect::<Vec<_>>().repeat(times);
                    let mut bytes = Vec::new();
                    put_hybrid(&numbers, width, &mut bytes);
                    assert_eq!(read(&bytes, width, numbers.len()), numbers, "{width} {first} {run} {last} {times}");
                }
            }
        }
    }

    #[test]
    fn runs_are_short() {
        let mut bytes = Vec::new();
        put_hybrid(&[1; 1 << 18], 2, &mut bytes);
        assert_eq!(bytes.len(), 4);
    }
}
