//! A private PostgreSQL with the extension `hll`, on a Unix socket in a temporary directory.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::Result;

/// Where Debian's postgresql-15 puts its programs; most are not in the path.
const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";
const REMEDY: &str = "install it with `cargo xtask test`, which needs postgresql-15-hll";
/// Ample for a loaded machine.
const STARTED_WITHIN: Duration = Duration::from_mins(1);

/// A running server. It ends, and its data goes, with this handle.
pub struct Postgres {
    server: Child,
    user: User,
    directory: TempDir,
}

/// The server refuses to run as root, so root runs it as the user that its Debian package makes.
#[derive(Clone, Copy)]
struct User(Option<(u32, u32)>);

impl Postgres {
    /// Makes a database of its own, and starts its server.
    pub fn start() -> Result<Self> {
        let directory = tempfile::tempdir().map_err(|cause| format!("a temporary directory: {cause}"))?;
        let (user, data) = (User::find()?, directory.path().join("data"));
        user.own(directory.path())?;
        let options = "--auth=trust --username=postgres --encoding=UTF8 --locale=C.UTF-8 --no-sync --no-instructions";
        run(user.command("initdb").args(options.split(' ')).arg("--pgdata").arg(&data).current_dir(directory.path()))?;

        let mut server = user.command("postgres");
        server.arg("-D").arg(data).arg("-k").arg(directory.path()).args(["-c", "listen_addresses=", "-c", "fsync=off"]);
        let log = fs::File::create(directory.path().join("log")).map_err(|cause| format!("its log: {cause}"))?;
        let server =
            server.current_dir(directory.path()).stdin(Stdio::null()).stderr(log).stdout(Stdio::null()).spawn();
        let server = server.map_err(|cause| format!("postgres cannot be started: {cause}; {REMEDY}"))?;
        let postgres = Self { server, user, directory };
        postgres.wait()?;
        postgres.ask("create extension hll")?;
        Ok(postgres)
    }

    /// The lines that SQL prints, without alignment, columns separated by `|`. The first error ends it.
    pub fn ask(&self, sql: &str) -> Result<Vec<String>> {
        let file = self.directory.path().join("questions.sql");
        fs::write(&file, sql).map_err(|cause| format!("{}: {cause}", file.display()))?;
        let mut psql = Command::new(Path::new(PROGRAMS).join("psql"));
        psql.args("-X --quiet --tuples-only --no-align --username postgres --dbname postgres".split(' '));
        psql.args(["--set", "ON_ERROR_STOP=1", "--host"]).arg(self.directory.path()).arg("--file").arg(file);
        Ok(run(&mut psql)?.lines().map(String::from).collect())
    }

    /// How `psql` finds it.
    pub fn environment(&self) -> [(&'static str, OsString); 3] {
        let directory = self.directory.path().as_os_str().to_owned();
        [("PGHOST", directory), ("PGUSER", "postgres".into()), ("PGDATABASE", "postgres".into())]
    }

    fn wait(&self) -> Result {
        let started = Instant::now();
        loop {
            match self.ask("select 1") {
                Ok(_) => return Ok(()),
                Err(why) if started.elapsed() > STARTED_WITHIN => {
                    let log = fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
                    return Err(format!("postgres does not answer: {why}\n{log}"));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Nothing in it is worth a checkpoint, but its children must end with it: so an immediate shutdown,
        // not a kill.
        let (data, mut stop) = (self.directory.path().join("data"), self.user.command("pg_ctl"));
        let stopped =
            run(stop.arg("-D").arg(data).args(["-m", "immediate", "stop"]).current_dir(self.directory.path()));
        if stopped.is_err() {
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
    }
}

impl User {
    fn find() -> Result<Self> {
        if id(&["-u"])? != 0 {
            return Ok(Self(None));
        }
        Ok(Self(Some((id(&["-u", "postgres"])?, id(&["-g", "postgres"])?))))
    }

    /// Gives the user a directory.
    fn own(self, path: &Path) -> Result {
        let Self(Some((user, group))) = self else { return Ok(()) };
        chown(path, Some(user), Some(group)).map_err(|cause| format!("{}: {cause}", path.display()))
    }

    fn command(self, name: &str) -> Command {
        let mut command = Command::new(Path::new(PROGRAMS).join(name));
        if let Self(Some((user, group))) = self {
            command.uid(user).gid(group);
        }
        command
    }
}

fn id(arguments: &[&str]) -> Result<u32> {
    let said = run(Command::new("id").args(arguments)).map_err(|why| format!("{why}; {REMEDY}"))?;
    said.trim().parse().map_err(|_| format!("{said:?} is no number of a user"))
}

/// What a program prints; an error if it fails.
fn run(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|cause| format!("{name} cannot be started: {cause}; {REMEDY}"))?;
    if !output.status.success() {
        return Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{name} printed what is no text"))
}
