//! An example for each verb, at the end of its help and of its man page. The suite runs them, in this order.

use clap::Command;

/// A verb, and a command line with it.
pub(crate) const EXAMPLES: &[(&str, &str)] = &[
    ("load", "hammerspace load words words.tsv --keep 3"),
    ("get", "hammerspace get words apple"),
    ("set", "hammerspace set words pear green --keep 3"),
    ("delete", "hammerspace delete words pear --keep 3"),
    ("scan", "hammerspace scan words --prefix a"),
    ("info", "hammerspace info words"),
    ("verify", "hammerspace verify words"),
    ("versions", "hammerspace versions words"),
    ("rollback", "hammerspace rollback words"),
    ("export", "hammerspace export words --format csv --output words.csv"),
    ("warm", "hammerspace warm words"),
    ("split", "hammerspace split --format tsv --by 2 --output by_colour words.tsv"),
    #[cfg(feature = "parquet")]
    ("stripe", "hammerspace stripe --schema event.schema events.ndjson --output events.parquet"),
    #[cfg(feature = "parquet")]
    ("unstripe", "hammerspace unstripe --fields id,user.state events.parquet"),
    #[cfg(feature = "server")]
    ("serve", "hammerspace serve --store sessions --limit 64MiB --unix redis.sock"),
    ("store create", "hammerspace store create sessions --limit 64MiB"),
    ("store table", "hammerspace store table sessions users"),
    ("store put", "hammerspace store put sessions ada online --ttl 30m"),
    ("store get", "hammerspace store get sessions ada"),
    #[cfg(feature = "server")]
    ("store import", "hammerspace store import sessions --redis redis://localhost/0"),
    ("store append", "hammerspace store append sessions log 'ada came; '"),
    ("store incr", "hammerspace store incr sessions visits 10"),
    ("store scan", "hammerspace store scan sessions"),
    ("store export", "hammerspace store export sessions --format csv --header-row"),
    ("store delete", "hammerspace store delete sessions ada"),
    ("store list", "hammerspace store list"),
    ("store info", "hammerspace store info sessions"),
    ("store top", "hammerspace store top sessions --once"),
    ("store raise", "hammerspace store raise sessions 128MiB"),
    ("store verify", "hammerspace store verify sessions"),
    ("store stress", "hammerspace store stress --time 1s"),
    ("store remove", "hammerspace store remove sessions"),
    ("sparkey createlog", "sparkey createlog -c zstd fruits.spl"),
    ("sparkey appendlog", "sparkey appendlog fruits.spl < words.tsv"),
    ("sparkey writehash", "sparkey writehash fruits.spl"),
    ("sparkey info", "sparkey info fruits.spl fruits.spi"),
    ("sparkey get", "sparkey get fruits.spi apple"),
    ("sparkey dump", "sparkey dump fruits.spi"),
    ("sparkey rewrite", "sparkey rewrite -c none fruits.spi trimmed.spi"),
    ("sparkey shard", "sparkey shard --shards 4 fruits.spi shards"),
    ("sparkey verify", "sparkey verify fruits.spi"),
    ("sparkey delete", "sparkey delete fruits.spi apple"),
    ("demo", "hammerspace demo --seconds 1 --workers 2"),
    ("completions", "hammerspace completions bash > hammerspace.bash"),
    ("man", "hammerspace man man1"),
];

/// The same command, the help of whose verbs ends with their examples.
pub(crate) fn with_examples(command: Command) -> Command {
    let verbs = if command.get_name() == "sparkey" { "sparkey" } else { "" };
    within(command, verbs)
}

fn within(command: Command, verbs: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let command = names.iter().fold(command, |command, name| {
        let verb = format!("{verbs} {name}");
        command.mut_subcommand(name, |command| within(command, verb.trim_start()))
    });
    match EXAMPLES.iter().find(|(verb, _)| *verb == verbs) {
        Some((_, example)) => command.after_help(format!("Example:\n  {example}")),
        None => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those in `command` that have none.
    fn without_example(command: &Command, verbs: &str) -> Vec<String> {
        let has_one = command.get_after_help().is_some_and(|help| help.to_string().starts_with("Example:"));
        let mut lacking: Vec<String> = command
            .get_subcommands()
            .filter(|verb| !verb.is_hide_set())
            .flat_map(|verb| without_example(verb, &format!("{verbs} {}", verb.get_name())))
            .collect();
        if !has_one && !command.has_subcommands() {
            lacking.push(verbs.trim_start().into());
        }
        lacking
    }

    #[test]
    fn every_verb_has_an_example() {
        let lacking = without_example(&crate::args::command(), "");
        assert!(lacking.is_empty(), "give these an example, in EXAMPLES: {lacking:?}");
    }

    #[test]
    fn every_example_is_of_a_verb() {
        let command = crate::args::command();
        for (verbs, example) in EXAMPLES {
            let found = verbs.split(' ').try_fold(&command, |command, verb| command.find_subcommand(verb));
            assert!(found.is_some() && example.contains(verbs), "{verbs}");
        }
    }
}
