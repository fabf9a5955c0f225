//! Where a store is: a directory that says where its region lies, and who may change it.
//!
//! ```text
//! store/store.toml   format, id, path of the region        store/lock   locked by the owner as long as it lives
//! /dev/shm/hammerspace-ID                                  the region, unless it was put elsewhere
//! ```
//!
//! (A store that nobody else needs to find has neither: its region is a file without a name.)
//!
//! A store is made under the lock: first the description, under another name; then the region, until
//! everything stands in it; then the description gets its name. So nobody meets a region that is not whole,
//! and at any instant there is something in the directory that names the region: what a maker that died
//! leaves behind goes with the next `create` or `remove`.

pub(crate) mod description;
pub(crate) mod regions;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_os::{Access, Dir, File, ProcessFile};
use uuid::Uuid;

use crate::index::directory::Root;
use crate::options::Options;
use crate::region::geometry::{Geometry, Layout, SUPERBLOCK};
use crate::region::region_file::{RegionFile, owned_by_others, owner_in, try_to_own};
use crate::region::{LIMIT, Region};
use crate::store_dir::description::Description;
use crate::sync::Words;

const LOCK: &str = "lock";
/// The mode of a lock that is made where one is missing.
const OWNER_ONLY: u32 = 0o600;
/// How often a store is looked for anew whose region is gone: somebody may be replacing it by another.
const ATTACH_TRIES: u32 = 200;
const INTERVAL: Duration = Duration::from_millis(1);

/// A store's directory, which this process owns.
pub(crate) struct Held {
    pub(crate) file: RegionFile,
    pub(crate) region: Region,
    pub(crate) lock: Lock,
}

/// The lock of a store's directory.
pub(crate) struct Lock {
    _owned: ProcessFile,
    /// The same file for whoever is forked from us, who has no lock, and asks as readers do.
    watched: File,
}

impl Lock {
    /// Whether a process owns the store, for one that was forked from its owner.
    pub(crate) fn is_taken(&self) -> Result<bool> {
        self.watched.is_locked()
    }
}

/// Makes a store, and gives its lock. `initialize` makes its region whole, with all that is to be in it
/// before anybody finds it.
pub(crate) fn create<T>(
    path: &Path,
    options: &Options,
    initialize: impl FnOnce(Region, RegionFile) -> Result<T>,
) -> Result<(T, Lock)> {
    // Before anything is made.
    let geometry = options.geometry()?;
    let is_new = !path.exists();
    let dir = Dir::create(path)?;
    check_no_space(&dir)?;
    let lock = lock(&dir, options.mode)?;
    clear_what_is_gone(&dir)?;
    if dir.open_file(description::NAME)?.is_some() {
        let error = Error::new(Kind::Invalid, "there is a store already").file(path.join(description::NAME));
        return Err(error.remedy("open it, or choose another directory"));
    }
    clear_half_made(&dir)?;
    let id = Uuid::new_v4();
    let place = region_path(options, id)?;
    let made = make_region(&dir, &place, geometry, id, options).and_then(|(file, region)| {
        regions::set_store_dir(&region, path);
        // The lock may be that of a store before, with other rights.
        lock.watched.take_mode_of(&file.file)?;
        let initialized = initialize(region, file)?;
        dir.rename(description::MAKING, description::NAME)?;
        Ok(initialized)
    });
    match made {
        Ok(initialized) => Ok((initialized, lock)),
        Err(error) => {
            abandon(&dir, &place, is_new).ok();
            Err(error)
        }
    }
}

/// Removes what a `create` that failed has made: its region, whose name nobody else has, the description, and
/// the directory if it is new.
fn abandon(dir: &Dir, place: &Path, is_new: bool) -> Result<()> {
    if std::fs::remove_file(place).is_err() && place.exists() {
        // Then `remove` must find it.
        return Ok(());
    }
    dir.unlink(description::MAKING)?;
    if is_new {
        dir.unlink(LOCK)?;
        std::fs::remove_dir(dir.path()).ok();
    }
    Ok(())
}

/// Refuses the directory of a space.
fn check_no_space(dir: &Dir) -> Result<()> {
    if matches!(dir.read_link("current"), Ok(None)) && matches!(dir.open_file("hammerspace.lock"), Ok(None)) {
        return Ok(());
    }
    let error = Error::new(Kind::Invalid, "this directory holds a space").file(dir.path());
    Err(error.remedy("choose another directory for the store"))
}

/// A region's file, and what every region begins with.
fn make_region(
    dir: &Dir,
    place: &Path,
    geometry: Geometry,
    id: Uuid,
    options: &Options,
) -> Result<(RegionFile, Region)> {
    description::write(dir, id, place)?;
    let file = create_region(place, geometry, options)?;
    let region = fill(&file, geometry, id, options)?;
    Ok((file, region))
}

/// A region that nobody else finds.
pub(crate) fn anonymous(options: &Options) -> Result<(RegionFile, Region)> {
    let file = RegionFile::claim(File::without_name("hammerspace")?)?;
    let region = fill(&file, options.geometry()?, Uuid::nil(), options)?;
    Ok((file, region))
}

/// Puts aside the description of a store whose region went with the machine's restart: or is only out of our
/// sight, as in a container with file systems of its own, and then `remove` still finds it. The lock is held.
fn clear_what_is_gone(dir: &Dir) -> Result<()> {
    let Ok(Some(Description { region, .. })) = description::read(dir, description::NAME) else { return Ok(()) };
    match open_region(&region, |path| File::open(path)) {
        // Where its directory is missing too, something is not mounted.
        Err(error) if error.kind() == Kind::Missing && !is_in_directory(&region) => Err(error),
        Err(error) if error.kind() == Kind::Missing => dir.rename(description::NAME, description::GONE),
        _ => Ok(()),
    }
}

fn is_in_directory(place: &Path) -> bool {
    place.parent().is_some_and(Path::is_dir)
}

/// Removes what is left of a store that was not made to its end. The lock is held.
fn clear_half_made(dir: &Dir) -> Result<()> {
    match description::read(dir, description::MAKING) {
        Ok(None) => return Ok(()),
        Ok(Some(half_made)) => remove_region(&half_made)?,
        // It was not even written to its end, so there was no region yet.
        Err(error) if error.kind() == Kind::Corrupt => {}
        Err(error) => return Err(error),
    }
    dir.unlink(description::MAKING).map(drop)
}

/// Deletes the region that a description names, if that is one, of this store, and nobody owns it.
fn remove_region(description: &Description) -> Result<()> {
    let place = &description.region;
    if place.file_name() != Some(OsStr::new(&region_name(description.id))) {
        let finding =
            format!("the store's description names {} as its region, which no store would make", place.display());
        return Err(Error::new(Kind::Corrupt, finding).remedy("delete the store's directory by hand, and its region"));
    }
    match File::open(place) {
        Ok(file) => delete_region(file),
        Err(_) if is_nowhere(place) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Deletes a region's file that nobody owns.
pub(crate) fn delete_region(file: File) -> Result<()> {
    let place = file.path().to_path_buf();
    let _owned = RegionFile::own(file)?;
    std::fs::remove_file(&place).doing("delete").map_err(|error| error.file(&place))
}

/// Whether there can be no file at this path.
fn is_nowhere(place: &Path) -> bool {
    use std::io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    let nowhere = [NotFound, NotADirectory, InvalidFilename];
    std::fs::symlink_metadata(place).is_err_and(|error| nowhere.contains(&error.kind()))
}

/// Opens a store that nobody owns.
pub(crate) fn open(path: &Path) -> Result<Held> {
    let dir = Dir::open(path)?;
    // Where there is no store nothing is made, not even a lock.
    described(&dir)?;
    let lock = lock(&dir, OWNER_ONLY)?;
    // Until then the store may have been replaced by another, or removed.
    let Some(description) = description::read(&dir, description::NAME)? else { return Err(missing(&dir)?) };
    let file = RegionFile::own(open_region(&description.region, |path| File::open_to_write(path))?)?;
    // A lock that was missing was made for nobody else. Only the lock's user can give it the region's rights.
    lock.watched.take_mode_of(&file.file).ok();
    let region = map(&file.file, description.id, Access::Write)?;
    // The directory may have been moved.
    regions::set_store_dir(&region, path);
    Ok(Held { file, region, lock })
}

/// The region of a store, to read.
pub(crate) fn attach(path: &Path) -> Result<(Region, File)> {
    let dir = Dir::open(path)?;
    let (description, file) = find_region(&dir)?;
    let Some(lock) = dir.open_file(LOCK)? else {
        return Err(Error::new(Kind::Missing, "the store has no lock").file(path.join(LOCK)));
    };
    let region = map(&file, description.id, Access::Read)?;
    Root::check(&region).map_err(|error| error.file(file.path()))?;
    Ok((region, lock))
}

/// What a reader finds without a lock: the description may be that of a store which has just been replaced.
fn find_region(dir: &Dir) -> Result<(Description, File)> {
    let mut tries = 0;
    loop {
        let description = described(dir)?;
        match open_region(&description.region, |path| File::open(path)) {
            Err(error) if error.kind() == Kind::Missing && tries < ATTACH_TRIES => {
                tries += 1;
                thread::sleep(INTERVAL);
            }
            file => return file.map(|file| (description, file)),
        }
    }
}

/// Deletes a store that nobody owns, or what is left of one, and its directory if nothing else is in it. The
/// description goes after the region: what is left of a removal that was cut short is removed by the next.
pub(crate) fn remove(path: &Path, others: impl FnOnce(&Dir) -> Result<()>) -> Result<()> {
    if path.is_file() {
        return regions::remove(path);
    }
    let dir = Dir::open(path)?;
    if dir.open_file(description::MAKING)?.is_none() {
        described(&dir)?;
    }
    let _lock = lock(&dir, OWNER_ONLY)?;
    others(&dir)?;
    clear_half_made(&dir)?;
    for name in [description::GONE, description::NAME] {
        if let Some(description) = description::read(&dir, name)? {
            remove_region(&description)?;
            dir.unlink(name)?;
        }
    }
    dir.unlink(LOCK)?;
    // Whatever else is in it is not ours.
    std::fs::remove_dir(path).ok();
    Ok(())
}

/// The directory that a store's region lies in, or lay.
pub(crate) fn place_of_region(path: &Path) -> Option<PathBuf> {
    let dir = Dir::open(path).ok()?;
    let of = |name| description::read(&dir, name).ok().flatten();
    let described = of(description::NAME).or_else(|| of(description::GONE))?;
    described.region.parent().map(Path::to_path_buf)
}

/// What a store's directory says of it.
fn described(dir: &Dir) -> Result<Description> {
    match description::read(dir, description::NAME)? {
        Some(description) => Ok(description),
        None => Err(absent(dir)?),
    }
}

/// Why there is no description.
fn absent(dir: &Dir) -> Result<Error> {
    let path = dir.path().join(description::NAME);
    if dir.open_file(LOCK)?.map_or(Ok(false), |lock| lock.is_locked())? {
        let error = Error::new(Kind::Busy, "another process is making the store, or removing it").file(path);
        return Ok(error.remedy("try again"));
    }
    missing(dir)
}

/// That there is no description, and that nobody else is at it.
fn missing(dir: &Dir) -> Result<Error> {
    let path = dir.path().join(description::NAME);
    if dir.open_file(description::MAKING)?.is_some() {
        let error = Error::new(Kind::Missing, "there is no store: who began to make one died").file(path);
        return Ok(error.remedy("create it anew, or remove what is left of it with `hammerspace store remove`"));
    }
    let error = Error::new(Kind::Missing, "there is no store here").file(path);
    Ok(error.remedy("create one with `hammerspace store create`, or correct the path"))
}

/// Locks a store's directory; a lock that is missing is made with this mode.
fn lock(dir: &Dir, mode: u32) -> Result<Lock> {
    while let Some(owned) = try_to_own(dir.open_or_create(LOCK, mode)?)? {
        // Whoever removed the store had it before us, and the file that we locked has no name any more.
        if let Some(watched) = dir.open_file(LOCK)?
            && watched.is_same_as(&owned.file)?
        {
            return Ok(Lock { _owned: owned, watched });
        }
    }
    let region = description::read(dir, description::NAME).ok().flatten().and_then(|it| File::open(it.region).ok());
    Err(owned_by_others(&dir.path().join(LOCK), region.and_then(|region| owner_in(&region))))
}

/// Where the region of a new store is to lie.
fn region_path(options: &Options, id: Uuid) -> Result<PathBuf> {
    let directory = options.region.clone().unwrap_or_else(|| PathBuf::from(regions::PLACE));
    let directory = std::path::absolute(&directory).doing("find").map_err(|error| error.file(&directory))?;
    Ok(directory.join(region_name(id)))
}

fn region_name(id: Uuid) -> String {
    format!("{}{id}", regions::PREFIX)
}

fn create_region(place: &Path, geometry: Geometry, options: &Options) -> Result<RegionFile> {
    let (Some(parent), Some(name)) = (place.parent(), place.file_name().and_then(|name| name.to_str())) else {
        return Err(Error::new(Kind::Invalid, "no file can be made here").file(place));
    };
    let file = RegionFile::own(Dir::open(parent)?.create_file_with_mode(name, options.mode)?)?;
    let (layout, segments) = (Layout::of(geometry), options.segments(geometry)?);
    file.check_room(segments * layout.segment_size + layout.tables_len(segments))?;
    Ok(file)
}

/// Writes what every region begins with.
fn fill(file: &RegionFile, geometry: Geometry, id: Uuid, options: &Options) -> Result<Region> {
    let segments = options.segments(geometry)?;
    file.file.truncate(geometry.region_len())?;
    file.back_tables(&Layout::of(geometry), segments)?;
    let words = Words::map(&file.file, geometry.region_len(), Access::Write)?;
    let seed = options.seed.unwrap_or_else(|| Uuid::new_v4().as_u64_pair().0);
    let region = Region::create(words, geometry, id.as_u128(), seed, page_size())?;
    region.store(LIMIT, segments);
    region.count_block(0);
    Ok(region)
}

fn page_size() -> u64 {
    hammerspace_os::process::page_size() as u64
}

fn open_region(place: &Path, open: impl FnOnce(&Path) -> Result<File>) -> Result<File> {
    open(place).map_err(|error| match error.kind() {
        Kind::Missing if is_in_directory(place) => {
            let finding = "the region is gone; memory does not outlive the machine's restart";
            Error::new(Kind::Missing, finding).file(place).remedy("create it anew")
        }
        Kind::Missing => Error::new(Kind::Missing, "the directory of the region is not there")
            .file(place)
            .remedy("mount what it lies on, or remove the store with `hammerspace store remove` and create it anew"),
        _ => error,
    })
}

/// Maps a region and checks that it is the store's.
fn map(file: &File, id: Uuid, access: Access) -> Result<Region> {
    let len = file.len()?;
    let check = || {
        if len < SUPERBLOCK {
            return Err(Error::new(Kind::Corrupt, format!("{len} bytes are no region")).remedy("create the store anew"));
        }
        let superblock = Words::map(file, SUPERBLOCK, Access::Read)?;
        let (geometry, store) = Region::describe(&superblock, access, len, page_size())?;
        if store != id.as_u128() {
            let finding = format!("the region belongs to store {}", Uuid::from_u128(store));
            return Err(Error::new(Kind::Corrupt, finding).remedy("restore the store's own, or create it anew"));
        }
        Ok(Region::open(Words::map(file, geometry.region_len(), access)?, geometry))
    };
    check().map_err(|error: Error| error.file(file.path()))
}
