//! `INFO`: what there is to know of the server, in the sections and by the names of Redis.

use std::fmt::Write;
use std::fs;

use super::Context;
use crate::failure::Outcome;
use crate::server::{REDIS_VERSION, Shared};

/// A section: its name, whether it is shown by default, and what it says.
struct Section(&'static str, bool, fn(&Shared) -> String);

const SECTIONS: [Section; 9] = [
    Section("Server", true, server),
    Section("Clients", true, clients),
    Section("Memory", true, memory),
    Section("Persistence", true, persistence),
    Section("Stats", true, stats),
    Section("Replication", true, replication),
    Section("CPU", true, cpu),
    Section("Commandstats", false, commandstats),
    Section("Keyspace", true, keyspace),
];

pub(super) fn info(context: &mut Context<'_>) -> Outcome {
    let wanted: Vec<_> = context.args_from(1).map(<[u8]>::to_ascii_lowercase).collect();
    let is_wanted = |Section(name, is_default, _): &Section| {
        let is_named = |word: &Vec<u8>| match word.as_slice() {
            b"all" | b"everything" => true,
            b"default" => *is_default,
            word => word.eq_ignore_ascii_case(name.as_bytes()),
        };
        if wanted.is_empty() { *is_default } else { wanted.iter().any(is_named) }
    };
    let shown = SECTIONS.iter().filter(|section| is_wanted(section));
    let shown = shown.map(|Section(name, _, show)| format!("# {name}\r\n{}", show(context.shared)));
    let text = shown.collect::<Vec<_>>().join("\r\n");
    context.reply().verbatim(&text);
    Ok(())
}

/// Lines of a name and a value.
fn lines<const N: usize>(lines: [(&str, &dyn std::fmt::Display); N]) -> String {
    lines.iter().fold(String::new(), |mut text, (name, value)| {
        write!(text, "{name}:{value}\r\n").expect("a string takes all");
        text
    })
}

fn server(shared: &Shared) -> String {
    let seconds = shared.since.elapsed().as_secs();
    let port = crate::config::all(shared).into_iter().find(|(name, _)| *name == "port").map(|(_, port)| port);
    let port = port.unwrap_or_default();
    lines([
        ("redis_version", &REDIS_VERSION),
        ("redis_mode", &"standalone"),
        ("hammerspace_version", &env!("CARGO_PKG_VERSION")),
        ("os", &"Linux"),
        ("arch_bits", &usize::BITS),
        ("multiplexing_api", &"epoll"),
        ("process_id", &std::process::id()),
        ("run_id", &shared.run_id),
        ("tcp_port", &port.split(' ').next().filter(|port| !port.is_empty()).unwrap_or("0")),
        ("uptime_in_seconds", &seconds),
        ("uptime_in_days", &(seconds / 86_400)),
        ("io_threads_active", &1),
    ])
}

fn clients(shared: &Shared) -> String {
    lines([
        ("connected_clients", &shared.registry.len()),
        ("maxclients", &shared.config.clients_max()),
        ("blocked_clients", &0),
    ])
}

fn memory(shared: &Shared) -> String {
    let usage = shared.databases.store().usage();
    let rss = resident().unwrap_or(0);
    lines([
        ("used_memory", &usage.in_use()),
        ("used_memory_human", &human(usage.in_use())),
        ("used_memory_rss", &rss),
        ("used_memory_dataset", &usage.live),
        ("maxmemory", &usage.limit),
        ("maxmemory_human", &human(usage.limit)),
        ("maxmemory_policy", &"noeviction"),
        ("hammerspace_index_bytes", &usage.index),
        ("hammerspace_utilisation", &usage.utilisation()),
        ("hammerspace_cleaning_cost", &usage.cleaning_cost()),
    ])
}

/// Bytes as people read them, in the manner of Redis.
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn human(bytes: u64) -> String {
    let units = ["B", "K", "M", "G", "T"];
    let power = (bytes.max(1).ilog2() / 10).min(4);
    if power == 0 {
        format!("{bytes}B")
    } else {
        format!("{:.2}{}", bytes as f64 / f64::from(1 << 10).powi(power as i32), units[power as usize])
    }
}

/// Bytes of memory that the process holds.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib << 10)
}

fn persistence(_: &Shared) -> String {
    lines([("loading", &0), ("rdb_bgsave_in_progress", &0), ("aof_enabled", &0), ("aof_rewrite_in_progress", &0)])
}

fn stats(shared: &Shared) -> String {
    let [served, refused] = shared.stats.connections();
    let commands: u64 = (0..shared.commands.len()).map(|at| shared.stats.command(at).made).sum();
    lines([
        ("total_connections_received", &served),
        ("total_commands_processed", &commands),
        ("total_net_input_bytes", &shared.stats.sum(|lane| &lane.input_bytes)),
        ("total_net_output_bytes", &shared.stats.sum(|lane| &lane.output_bytes)),
        ("rejected_connections", &refused),
        ("evicted_keys", &0),
        ("pubsub_channels", &shared.broker.channels(None).len()),
        ("pubsub_patterns", &shared.broker.patterns()),
        ("keyspace_hits", &shared.stats.sum(|lane| &lane.hits)),
        ("keyspace_misses", &shared.stats.sum(|lane| &lane.misses)),
    ])
}

fn replication(shared: &Shared) -> String {
    lines([
        ("role", &"master"),
        ("connected_slaves", &0),
        ("master_replid", &shared.run_id),
        ("master_repl_offset", &0),
    ])
}

/// Ticks in a second, as Linux counts the time of processes on every machine.
const TICKS: f64 = 100.0;

fn cpu(_: &Shared) -> String {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The fields behind the name, which is in parentheses: the eleventh and twelfth are the times.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let seconds = |at: usize| {
        let ticks = fields.split_whitespace().nth(at).and_then(|ticks| ticks.parse::<f64>().ok());
        format!("{:.6}", ticks.unwrap_or(0.0) / TICKS)
    };
    lines([("used_cpu_sys", &seconds(12)), ("used_cpu_user", &seconds(11))])
}

fn commandstats(shared: &Shared) -> String {
    let mut text = String::new();
    for command in shared.commands.iter() {
        let counted = shared.stats.command(command.at);
        if counted == crate::stats::Counted::default() {
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
        let each = counted.micros as f64 / counted.made.max(1) as f64;
        let crate::stats::Counted { made, micros, rejected, failed } = counted;
        let name = command.name;
        write!(
            text,
            "cmdstat_{name}:calls={made},usec={micros},usec_per_call={each:.2},rejected_calls={rejected},failed_calls={failed}\r\n"
        )
        .expect("a string takes all");
    }
    text
}

fn keyspace(shared: &Shared) -> String {
    let mut text = String::new();
    for (number, table) in shared.databases.opened_by_number() {
        let keys = table.len().unwrap_or(0);
        if keys > 0 {
            write!(text, "db{number}:keys={keys},expires=0,avg_ttl=0\r\n").expect("a string takes all");
        }
    }
    for (number, _, space) in shared.databases.spaces() {
        write!(text, "db{number}:keys={},expires=0,avg_ttl=0\r\n", space.len()).expect("a string takes all");
    }
    text
}
