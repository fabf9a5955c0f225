//! `CONFIG`.

use super::Context;
use crate::config::{self, Refused};
use crate::failure::{Failure, Outcome};
use crate::glob;
use crate::text::shown;

pub(super) fn get(context: &mut Context<'_>) -> Outcome {
    let patterns: Vec<_> = context.args_from(2).map(<[u8]>::to_ascii_lowercase).collect();
    let mut settings = config::all(context.shared);
    settings.retain(|(name, _)| patterns.iter().any(|pattern| glob::matches(pattern, name.as_bytes())));
    let mut reply = context.reply();
    reply.map(settings.len());
    for (name, value) in settings {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    Ok(())
}

/// Changes settings. Where one is refused, those before it are taken back.
pub(super) fn set(context: &mut Context<'_>) -> Outcome {
    let args: Vec<_> = context.args_from(2).collect();
    if !args.len().is_multiple_of(2) {
        return Err(Failure::of("ERR wrong number of arguments for 'config|set' command"));
    }
    let before = config::all(context.shared);
    for (at, pair) in args.chunks_exact(2).enumerate() {
        let name = shown(&pair[0].to_ascii_lowercase());
        if let Err(refused) = config::set(context.shared, &name, pair[1]) {
            for done in args.chunks_exact(2).take(at) {
                let name = shown(&done[0].to_ascii_lowercase());
                let old = before.iter().find(|(known, _)| *known == name);
                // What was there is allowed.
                let _ = old.map(|(_, value)| config::set(context.shared, &name, value.as_bytes()));
            }
            return Err(refusal(&shown(pair[0]), refused));
        }
    }
    context.ok();
    Ok(())
}

fn refusal(name: &str, refused: Refused) -> Failure {
    let why = match refused {
        Refused::Unknown => {
            let text = format!("ERR Unknown option or number of arguments for CONFIG SET - '{name}'");
            return Failure::new(text);
        }
        Refused::Immutable => "can't set immutable config".into(),
        Refused::Value(why) => why,
    };
    Failure::new(format!("ERR CONFIG SET failed (possibly related to argument '{name}') - {why}"))
}

pub(super) fn resetstat(context: &mut Context<'_>) -> Outcome {
    context.shared.stats.reset();
    context.ok();
    Ok(())
}
