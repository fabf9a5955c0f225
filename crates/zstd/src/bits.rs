//! Bits of a packed block: streams of them, read from their ends to their starts, and descriptions, read forward.
//!
//! ```text
//! bytes:   …… | ………………………………………………………… 0 0 1 b b b | ……
//!             floor ◄─────── unread ───────┤ at   └ the highest bit that is set in a stream's last byte marks where it begins
//! ```
//! Positions are those of the packed block, in bits. Who reads a stream asks afterwards whether it [`is_sound`](Stream::is_sound):
//! what lies in front of its floor can be read, and means nothing.

/// Bits that a window shows at least.
const WINDOW: usize = 56;

/// A stream of bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    at: usize,
    floor: usize,
}

impl Stream {
    /// One of which nothing is left.
    pub(super) const EMPTY: Self = Self { at: 0, floor: 0 };

    /// The stream in the bytes from `start` to `end`, from its end.
    pub(super) fn new(packed: &[u8], start: usize, end: usize) -> Option<Self> {
        let last = packed.get(start..end)?.last()?;
        let at = 8 * (end - 1) + last.checked_ilog2()? as usize;
        Some(Self { at, floor: 8 * start })
    }

    /// The next bits. There are always some bytes in front of a stream; without them there is no window.
    #[inline]
    pub(super) fn window(self, packed: &[u8]) -> Option<Window> {
        let bytes = packed.get((self.at / 8).wrapping_sub(WINDOW / 8)..)?.first_chunk()?;
        Some(Window { word: u64::from_le_bytes(*bytes), left: i32::from((WINDOW + self.at % 8) as u8) })
    }

    /// Where its window has been read to.
    #[inline]
    pub(super) fn after(self, window: Window) -> Self {
        let at = (self.at - self.at % 8).wrapping_sub(WINDOW).wrapping_add_signed(window.left as isize);
        Self { at, ..self }
    }

    /// Reads a number of so many bits, up to 32.
    pub(super) fn read(&mut self, packed: &[u8], bits: u8) -> Option<usize> {
        let mut window = self.window(packed)?;
        let number = window.take(bits);
        *self = self.after(window);
        self.is_sound().then_some(number as usize)
    }

    /// Whether no more has been read than there is.
    #[inline]
    pub(super) fn is_sound(self) -> bool {
        // In front of the block, positions are below 0.
        self.at.cast_signed() >= self.floor.cast_signed()
    }

    /// Whether all has been read, and no more.
    pub(super) fn is_done(self) -> bool {
        self.at == self.floor
    }
}

/// The next bits of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    word: u64,
    /// Bits that have not been taken. Below 0, the last ones taken mean nothing.
    left: i32,
}

impl Window {
    /// Takes a number of so many bits, up to 32.
    #[inline]
    pub(super) fn take(&mut self, bits: u8) -> u32 {
        self.skip(bits.into());
        (self.word >> (self.left & 63)) as u32 & MASKS[usize::from(bits)]
    }

    /// All that nothing was taken of yet, the first bits highest.
    #[inline]
    pub(super) fn whole(self) -> u64 {
        self.word << (64 - self.left)
    }

    /// Takes so many bits unseen.
    #[inline]
    pub(super) fn skip(&mut self, bits: i32) {
        self.left -= bits;
    }

    /// Whether more was taken than it showed.
    #[inline]
    pub(super) fn is_overdrawn(self) -> bool {
        self.left < 0
    }
}

/// As many bits as the index says, for any byte: so that nobody has to check. A load beside others is sooner done than a shift.
static MASKS: [u32; 256] = {
    let mut masks = [u32::MAX; 256];
    let mut bits = 0;
    while bits < 32 {
        masks[bits] = (1 << bits) - 1;
        bits += 1;
    }
    masks
};

/// A description, read from its first bit on.
pub(super) struct Forward<'a> {
    packed: &'a [u8],
    at: usize,
    word: u64,
    left: u32,
}

impl<'a> Forward<'a> {
    /// From byte `at` on.
    pub(super) fn new(packed: &'a [u8], at: usize) -> Self {
        Self { packed, at: 8 * at, word: 0, left: 0 }
    }

    /// The next bits, the first of them lowest: as many as asked for, up to [`WINDOW`], or more. `None` near the end of the block.
    #[inline]
    pub(super) fn look(&mut self, bits: u32) -> Option<u64> {
        if self.left < bits {
            let bytes = self.packed.get(self.at / 8..)?.first_chunk()?;
            self.word = u64::from_le_bytes(*bytes) >> (self.at % 8);
            self.left = WINDOW as u32;
        }
        Some(self.word)
    }

    /// Goes over bits that were looked at.
    #[inline]
    pub(super) fn skip(&mut self, bits: u32) {
        self.at += bits as usize;
        self.word >>= bits;
        self.left -= bits;
    }

    /// The first byte of which nothing was read.
    pub(super) fn end(&self) -> usize {
        self.at.div_ceil(8)
    }
}
