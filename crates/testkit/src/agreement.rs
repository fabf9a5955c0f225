//! Holds a decoder of ours, which goes no further than asked, against the library that everybody uses.

use fastrand::Rng;

/// What our decoder, or a faulty one, makes of a packed block: at least so many bytes, or all.
pub type Decode<'a> = dyn Fn(&[u8], usize) -> Result<Vec<u8>, String> + 'a;

/// A codec as the library has it.
pub struct Library {
    /// Packs a block, at a random level.
    pub pack: fn(&[u8], &mut Rng) -> Vec<u8>,
    /// Decodes all of a packed block, or says what is wrong with it.
    pub unpack: fn(&[u8]) -> Result<Vec<u8>, String>,
}

impl Library {
    /// Holds a decoder against it, to the end of a block and to places before that, up to `len`.
    pub fn check(&self, decode: &Decode<'_>, packed: &[u8], len: usize, rng: &mut Rng) {
        let whole = decode(packed, usize::MAX);
        match (self.unpack)(packed) {
            Ok(expected) => assert_eq!(whole.as_ref(), Ok(&expected)),
            Err(error) => assert!(whole.is_err(), "{error} is overlooked"),
        }
        let mut untils: Vec<usize> = (0..4).map(|_| rng.usize(..=len)).collect();
        untils.sort_unstable();
        let mut before = Ok(Vec::new());
        for until in untils {
            let part = decode(packed, until);
            match (&before, &part) {
                (Ok(before), Ok(part)) => {
                    let is_enough = part.len() >= until || whole.as_ref() == Ok(part);
                    assert!(is_enough && part.starts_with(before), "another beginning");
                }
                (Err(_), Ok(_)) => panic!("a fault is forgotten"),
                (_, Err(_)) => assert!(whole.is_err(), "a part is refused, the whole is not"),
            }
            if let (Ok(part), Ok(whole)) = (&part, &whole) {
                assert!(whole.starts_with(part), "another beginning");
            }
            before = part;
        }
    }

    /// Holds it against random blocks, sound and broken.
    pub fn check_many(&self, decode: &Decode<'_>, seed: u64, rounds: usize) {
        println!("seed {seed}"); // shown if it fails
        let mut rng = Rng::with_seed(seed);
        for _ in 0..rounds {
            let block = block(&mut rng);
            let sound = (self.pack)(&block, &mut rng);
            self.check(decode, &sound, block.len(), &mut rng);
            for _ in 0..20 {
                let mut broken = sound.clone();
                for _ in 0..rng.usize(1..3) {
                    let near = 1 << rng.u32(3..18);
                    let at = rng.usize(..broken.len().min(near));
                    broken[at] ^= 1 << rng.u32(..8);
                }
                broken.truncate(if rng.bool() { broken.len() } else { rng.usize(..=broken.len()) });
                self.check(decode, &broken, block.len(), &mut rng);
            }
        }
    }

    /// That the three kinds of faults are noticed in an otherwise sound decoder.
    pub fn check_canaries(&self, sound: &Decode<'_>) {
        let lost = |packed: &[u8], until: usize| {
            sound(packed, until).map(|mut out| {
                out.iter_mut().skip(1000).take(1).for_each(|byte| *byte ^= 1);
                out
            })
        };
        let overlooked = |packed: &[u8], until: usize| Ok(sound(packed, until).unwrap_or_default());
        let other = |packed: &[u8], until: usize| {
            let out = sound(packed, until)?;
            Ok(if until < 1000 { out.iter().map(|byte| byte ^ 1).collect() } else { out })
        };
        for (faulty, expected) in
            [(&lost as &Decode<'_>, "left == right"), (&overlooked, "is overlooked"), (&other, "another beginning")]
        {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.check_many(faulty, 4, 20)));
            let said = caught.expect_err(expected);
            let formatted = said.downcast_ref::<String>().map(String::as_str);
            let said = formatted.or_else(|| said.downcast_ref().copied()).unwrap_or_default();
            assert!(said.contains(expected), "{said}");
        }
    }
}

/// A block with something to copy, near and far, and sometimes again from as far as before.
pub fn block(rng: &mut Rng) -> Vec<u8> {
    let len_max = if rng.bool() { 300 } else { 70_000 };
    let letters_max = if rng.bool() { 64 } else { 255 };
    let (letters, len) = (rng.u8(1..=letters_max), rng.usize(1..len_max));
    let literals_max = if rng.bool() { 5 } else { 300 };
    let (mut block, mut backs) = (vec![rng.u8(..letters)], [1; 3]);
    while block.len() < len {
        if rng.bool() {
            let any = rng.usize(1..=block.len());
            let back = (*rng.choice(&[backs[0], backs[1], backs[2], backs[0] - 1, any]).unwrap()).max(1);
            (0..rng.usize(1..100)).for_each(|_| block.push(block[block.len() - back]));
            backs = [back, backs[0], backs[1]];
        } else {
            (0..rng.usize(1..literals_max)).for_each(|_| block.push(rng.u8(..letters)));
        }
    }
    block
}
