//! `cargo xtask install --prefix P`: libraries, headers and programs, where a C compiler, `pkg-config` and a shell look.
//!
//! ```text
//! P/bin/                hammerspace, sparkey -> hammerspace
//! P/include/            hammerspace.h, sparkey/sparkey.h
//! P/lib/                libNAME.so -> libNAME.so.0, libNAME.a             NAME: hammerspace, sparkey
//! P/lib/pkgconfig/      NAME.pc
//! ```
//! What is there of these names is replaced, never written into: a program that runs keeps the library that it has.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::program::{output, program, root, run, run_quietly, target_dir};
use crate::{Result, debian};

#[derive(Args)]
pub(crate) struct Options {
    /// The directory that gets `bin`, `include` and `lib`
    #[arg(long, value_name = "DIRECTORY")]
    prefix: PathBuf,
}

/// A C library of ours.
struct Library {
    package: &'static str,
    /// Without `lib` and without extension.
    name: &'static str,
    /// What follows `.so.` in the name that programs ask the loader for.
    abi: u32,
    /// From `bindings/` to `include/`.
    headers: &'static [(&'static str, &'static str)],
    description: &'static str,
}

const LIBRARIES: &[Library] = &[
    Library {
        package: "hammerspace-c",
        name: "hammerspace",
        abi: 0,
        headers: &[("c/include/hammerspace.h", "hammerspace.h")],
        description: "One copy of your data per machine, shared by every process",
    },
    Library {
        package: "hammerspace-sparkey-abi",
        name: "sparkey",
        abi: 0,
        headers: &[("sparkey-abi/include/sparkey/sparkey.h", "sparkey/sparkey.h")],
        description: "Sparkey logs and indexes: the interface of Spotify's library",
    },
];

/// A program that uses a library, and runs without arguments or with these.
const USERS: [(&str, &str, &[&str]); 2] = [
    ("sparkey", "bindings/sparkey-abi/tests/c/ours.c", &[]),
    ("hammerspace", "bindings/c/samples/table.c", &["fruits.spl", "fruits.spi"]),
];

/// What a program that links an archive of ours must link besides, on Linux.
const NEEDED: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";

/// Ours, as cargo gives it to every crate of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run_all(options: &Options) -> Result {
    let prefix = std::path::absolute(&options.prefix).map_err(|cause| cause.to_string())?;
    build_and_install(&prefix, "release", "release")?;
    println!("installed in {}", prefix.display());
    Ok(())
}

fn build_and_install(prefix: &Path, profile: &str, directory: &str) -> Result {
    let packages = LIBRARIES.iter().flat_map(|library| ["--package", library.package]);
    let build = format!("cargo build --quiet --profile {profile} --package hammerspace-cli");
    run(program(&build).args(packages))?;
    install(prefix, &target_dir().join(directory))
}

/// Installs what the tests built, and builds a program with what is there alone, as a user would.
pub(crate) fn rehearse() -> Result {
    debian::install(&debian::PKG_CONFIG)?;
    let prefix = target_dir().join("installed");
    build_and_install(&prefix, "dev", "debug")?;
    for (library, source, arguments) in USERS {
        for options in ["", "--static"] {
            let built = compile_user(&prefix, library, source, options)?;
            let mut user = Command::new(built);
            run_quietly(user.args(arguments).current_dir(&prefix).env("LD_LIBRARY_PATH", prefix.join("lib")))?;
        }
    }
    run_quietly(Command::new(prefix.join("bin/sparkey")).arg("--help"))
}

/// Compiles a program against what is installed of a library, as `pkg-config` says, with these options.
fn compile_user(prefix: &Path, library: &str, source: &str, options: &str) -> Result<PathBuf> {
    let mut asked = program(&format!("pkg-config --cflags --libs {options} {library}"));
    asked.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let mut flags = output(&mut asked).ok_or("there is no pkg-config")?;
    if !options.is_empty() {
        flags = flags.replace(&format!("-l{library}"), &format!("-l:lib{library}.a"));
    }
    let built = prefix.join(format!("bin/uses-{library}"));
    let mut compiler = program("cc -D_GNU_SOURCE -pthread");
    run_quietly(compiler.arg(source).arg("-o").arg(&built).args(flags.split_whitespace()))?;
    Ok(built)
}

/// Copies what lies in `built`.
fn install(prefix: &Path, built: &Path) -> Result {
    for library in LIBRARIES {
        let name = format!("lib{}", library.name);
        let (shared, lib) = (format!("{name}.so.{}", library.abi), prefix.join("lib"));
        copy(&built.join(format!("{name}.so")), &lib.join(&shared), 0o755)?;
        link(&shared, &lib.join(format!("{name}.so")))?;
        copy(&built.join(format!("{name}.a")), &lib.join(format!("{name}.a")), 0o644)?;
        for (from, to) in library.headers {
            copy(&root().join("bindings").join(from), &prefix.join("include").join(to), 0o644)?;
        }
        let description = lib.join("pkgconfig").join(format!("{}.pc", library.name));
        put(&description, |fresh| fs::write(fresh, pkg_config(library, prefix)))?;
    }
    copy(&built.join("hammerspace"), &prefix.join("bin/hammerspace"), 0o755)?;
    link("hammerspace", &prefix.join("bin/sparkey"))
}

/// What `pkg-config` reads.
fn pkg_config(library: &Library, prefix: &Path) -> String {
    let Library { name, description, .. } = library;
    let prefix = prefix.display();
    format!(
        "prefix={prefix}\nincludedir=${{prefix}}/include\nlibdir=${{prefix}}/lib\n\n\
         Name: {name}\nDescription: {description}\nVersion: {VERSION}\n\
         Cflags: -I${{includedir}}\nLibs: -L${{libdir}} -l{name}\nLibs.private: {NEEDED}\n"
    )
}

fn copy(from: &Path, to: &Path, mode: u32) -> Result {
    put(to, |fresh| {
        fs::copy(from, fresh)?;
        fs::set_permissions(fresh, fs::Permissions::from_mode(mode))
    })
    .map_err(|message| format!("{}: {message}", from.display()))
}

fn link(target: &str, name: &Path) -> Result {
    put(name, |fresh| symlink(target, fresh))
}

/// Makes a file beside `path` and gives it that name.
fn put(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> Result {
    let fresh = path.with_added_extension("new");
    let replace = || {
        fs::create_dir_all(path.parent().expect("it is below the prefix"))?;
        match fs::remove_file(&fresh) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
            _ => make(&fresh)?,
        }
        fs::rename(&fresh, path)
    };
    replace().map_err(|cause| format!("{}: {cause}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::succeeds;

    /// Stands for what cargo builds.
    fn built(directory: &Path) -> PathBuf {
        let built = directory.join("built");
        fs::create_dir(&built).unwrap();
        for file in ["libsparkey.so", "libsparkey.a", "libhammerspace.so", "libhammerspace.a", "hammerspace"] {
            fs::write(built.join(file), file).unwrap();
        }
        built
    }

    #[test]
    fn a_second_installation_replaces_the_first_and_leaves_nothing_else() {
        let scratch = tempfile::tempdir().unwrap();
        let (prefix, built) = (scratch.path().join("prefix"), built(scratch.path()));
        install(&prefix, &built).unwrap();
        let kept = fs::File::open(prefix.join("lib/libsparkey.so.0")).unwrap();
        fs::write(built.join("libsparkey.so"), "newer").unwrap();
        install(&prefix, &built).unwrap();

        assert_eq!(io::read_to_string(kept).unwrap(), "libsparkey.so", "who has it open keeps it");
        for name in ["libsparkey.so", "libsparkey.so.0"] {
            assert_eq!(fs::read_to_string(prefix.join("lib").join(name)).unwrap(), "newer", "{name}");
        }
        assert_eq!(fs::read_link(prefix.join("lib/libsparkey.so")).unwrap(), Path::new("libsparkey.so.0"));
        assert_eq!(fs::read_to_string(prefix.join("bin/sparkey")).unwrap(), "hammerspace");
        assert!(fs::read_to_string(prefix.join("include/sparkey/sparkey.h")).unwrap().contains("sparkey_hash_write"));
        for (directory, files) in [("bin", 2), ("lib", 7), ("lib/pkgconfig", 2), ("include", 2), ("include/sparkey", 1)]
        {
            assert_eq!(fs::read_dir(prefix.join(directory)).unwrap().count(), files, "{directory}");
        }
    }

    #[test]
    fn pkg_config_tells_how_to_compile_and_link() {
        let text = pkg_config(&LIBRARIES[1], Path::new("/opt/it"));
        for line in ["prefix=/opt/it", "libdir=${prefix}/lib", "Cflags: -I${includedir}", "Libs: -L${libdir} -lsparkey"]
        {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        if succeeds("pkg-config --version") {
            let scratch = tempfile::tempdir().unwrap();
            let file = scratch.path().join("sparkey.pc");
            fs::write(&file, text).unwrap();
            assert!(succeeds(&format!("pkg-config --validate {}", file.display())));
        }
    }

    #[test]
    fn canary_what_was_not_built_is_named() {
        let scratch = tempfile::tempdir().unwrap();
        let message = install(&scratch.path().join("prefix"), scratch.path()).unwrap_err();
        assert!(message.contains("libhammerspace.so"), "{message}");
    }
}
