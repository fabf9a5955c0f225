//! An allocator in a process of its own, which does nothing but allocate, touch and free: glibc's, or a library's in its place.

use std::collections::HashMap;
use std::io::{BufWriter, Error, ErrorKind, Read, Result, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::resident;

/// The process.
pub struct Heap {
    child: Child,
    orders: BufWriter<ChildStdin>,
    answers: ChildStdout,
    resident_at_start: u64,
    slots: HashMap<u64, u32>,
    /// Slots that had an object, and those from here on that never had.
    free: Vec<u32>,
    fresh: u32,
}

/// The slot that asks for an answer.
const ASK: u32 = u32::MAX;

impl Heap {
    /// For so many objects at a time, with the allocator of a library, if one is named: as the dynamic linker finds it.
    pub fn start(objects: u32, library: Option<&str>) -> Result<Self> {
        let mut command = Command::new(env!("HAMMERSPACE_HEAP"));
        command.arg(objects.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(library) = library {
            command.env("LD_PRELOAD", library);
        }
        let mut child = command.spawn()?;
        let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::other("a child without pipes"));
        };
        let orders = BufWriter::with_capacity(1 << 16, orders);
        let mut heap =
            Self { child, orders, answers, resident_at_start: 0, slots: HashMap::new(), free: Vec::new(), fresh: 0 };
        heap.await_answer()?;
        heap.check_loaded(library)?;
        heap.resident_at_start = resident(Some(heap.child.id()))?;
        Ok(heap)
    }

    /// The dynamic linker goes on without a library that it does not find.
    fn check_loaded(&self, library: Option<&str>) -> Result<()> {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.child.id()))?;
        if library.is_none_or(|library| maps.contains(library)) {
            return Ok(());
        }
        let library = library.unwrap_or_default();
        Err(Error::new(ErrorKind::NotFound, format!("{library} is not loaded, is its Debian package installed?")))
    }

    /// Allocates an object, whose number is not in use, and writes to all of it.
    pub fn allocate(&mut self, id: u64, size: u32) -> Result<()> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.fresh += 1;
            self.fresh - 1
        });
        self.slots.insert(id, slot);
        self.order(slot, size.max(1))
    }

    /// Frees an object that was allocated.
    pub fn free(&mut self, id: u64) -> Result<()> {
        let slot = self.slots.remove(&id).ok_or_else(|| Error::other(format!("object {id} is not allocated")))?;
        self.free.push(slot);
        self.order(slot, 0)
    }

    /// Resident bytes of the process, beyond those that it began with.
    pub fn memory_used(&mut self) -> Result<u64> {
        self.order(ASK, 0)?;
        self.orders.flush()?;
        self.await_answer()?;
        Ok(resident(Some(self.child.id()))?.saturating_sub(self.resident_at_start))
    }

    fn order(&mut self, slot: u32, size: u32) -> Result<()> {
        self.orders.write_all(&slot.to_ne_bytes())?;
        self.orders.write_all(&size.to_ne_bytes())
    }

    fn await_answer(&mut self) -> Result<()> {
        self.answers.read_exact(&mut [0])
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // That it is gone already is no fault.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
