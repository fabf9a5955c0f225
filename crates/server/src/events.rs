//! Keyspace notifications: messages about what commands did to keys, as `notify-keyspace-events` asks for
//! them.
//!
//! What ends by its expiry ends without a command, so there is no event `expired`.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Letters of the setting, in the order in which it is shown. `A` stands for all classes, which are those
/// from `g` on.
const LETTERS: &[u8] = b"g$lshzxetdmnKE";
/// The classes that `A` stands for: all but key misses and new keys.
const ALL: &[u8] = b"g$lshzxetd";

/// Which events are told of, by letter.
#[derive(Debug, Default)]
pub(crate) struct Events(AtomicU32);

/// The class of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Class {
    Generic,
    String,
}

impl Class {
    fn letter(self) -> u8 {
        match self {
            Self::Generic => b'g',
            Self::String => b'$',
        }
    }
}

fn bit(letter: u8) -> Option<u32> {
    LETTERS.iter().position(|known| *known == letter).map(|at| 1 << at)
}

fn bits(letters: &[u8]) -> Option<u32> {
    letters.iter().try_fold(0, |bits, letter| match letter {
        b'A' => Some(bits | self::bits(ALL)?),
        letter => Some(bits | bit(*letter)?),
    })
}

impl Events {
    /// Asks for these letters. Says whether they are known.
    pub(crate) fn set(&self, letters: &[u8]) -> bool {
        let bits = bits(letters);
        bits.inspect(|bits| self.0.store(*bits, Relaxed)).is_some()
    }

    /// The letters that are asked for, as Redis shows them.
    pub(crate) fn letters(&self) -> String {
        let asked = self.0.load(Relaxed);
        let has = |letter: u8| bit(letter).is_some_and(|bit| asked & bit != 0);
        let all = ALL.iter().all(|letter| has(*letter));
        let mut text = if all { String::from("A") } else { String::new() };
        text.extend(
            LETTERS
                .iter()
                .filter(|letter| has(**letter) && !(all && ALL.contains(letter)))
                .map(|letter| char::from(*letter)),
        );
        text
    }

    /// Whether events of a class are told of on the channel of the key, and on that of the event.
    pub(crate) fn wanted(&self, class: Class) -> [bool; 2] {
        let asked = self.0.load(Relaxed);
        if asked == 0 {
            return [false; 2];
        }
        let has = |letter: u8| bit(letter).is_some_and(|bit| asked & bit != 0);
        [b'K', b'E'].map(|channel| has(channel) && has(class.letter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_back() {
        let events = Events::default();
        assert_eq!(events.letters(), "");
        assert!(events.set(b"KEA") && events.letters() == "AKE");
        assert!(events.set(b"Kg$") && events.letters() == "g$K");
        assert!(!events.set(b"K!") && events.letters() == "g$K");
        assert!(matches!(events.wanted(Class::String), [true, false]));
    }
}
