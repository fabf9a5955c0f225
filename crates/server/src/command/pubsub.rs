//! Channels: messages to the connections that listen at that instant. Nothing is stored.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

use super::Context;
use crate::broker::{Broker, Topic};
use crate::failure::{Failure, Outcome};
use crate::session::Session;

/// What a client listens to.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    channels: BTreeSet<Vec<u8>>,
    patterns: BTreeSet<Vec<u8>>,
}

impl Subscriptions {
    fn of(&mut self, topic: Topic) -> &mut BTreeSet<Vec<u8>> {
        match topic {
            Topic::Channel => &mut self.channels,
            Topic::Pattern => &mut self.patterns,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.channels.len() + self.patterns.len()
    }
}

impl Session {
    /// Lets others see how much it listens to.
    fn show_subscriptions(&self) {
        self.client.channels.store(self.subscriptions.channels.len(), Relaxed);
        self.client.patterns.store(self.subscriptions.patterns.len(), Relaxed);
    }

    /// Listens to nothing any more.
    pub(crate) fn unsubscribe_all(&mut self, broker: &Broker) {
        for topic in [Topic::Channel, Topic::Pattern] {
            for name in std::mem::take(self.subscriptions.of(topic)) {
                broker.unsubscribe(topic, &name, &self.client);
            }
        }
        self.show_subscriptions();
    }
}

pub(super) fn subscribe(context: &mut Context<'_>) -> Outcome {
    listen(context, Topic::Channel, "subscribe")
}

pub(super) fn psubscribe(context: &mut Context<'_>) -> Outcome {
    listen(context, Topic::Pattern, "psubscribe")
}

fn listen(context: &mut Context<'_>, topic: Topic, verb: &str) -> Outcome {
    for name in context.args_from(1) {
        if context.session.subscriptions.of(topic).insert(name.to_vec()) {
            context.shared.broker.subscribe(topic, name, &context.session.client);
        }
        tell(context, verb, Some(name));
    }
    Ok(())
}

pub(super) fn unsubscribe(context: &mut Context<'_>) -> Outcome {
    leave(context, Topic::Channel, "unsubscribe")
}

pub(super) fn punsubscribe(context: &mut Context<'_>) -> Outcome {
    leave(context, Topic::Pattern, "punsubscribe")
}

/// Leaves the channels that are named, or all. There is one reply for each, and one where there is none to
/// leave.
fn leave(context: &mut Context<'_>, topic: Topic, verb: &str) -> Outcome {
    let mut names: Vec<Vec<u8>> = context.args_from(1).map(<[u8]>::to_vec).collect();
    if names.is_empty() {
        names = context.session.subscriptions.of(topic).iter().cloned().collect();
        if names.is_empty() {
            tell(context, verb, None);
        }
    }
    for name in names {
        if context.session.subscriptions.of(topic).remove(&name) {
            context.shared.broker.unsubscribe(topic, &name, &context.session.client);
        }
        tell(context, verb, Some(&name));
    }
    Ok(())
}

/// Says what was done, and how many subscriptions there are now.
fn tell(context: &mut Context<'_>, verb: &str, name: Option<&[u8]>) {
    context.session.show_subscriptions();
    let count = context.session.subscriptions.len();
    let mut reply = context.reply();
    reply.push(3);
    reply.bulk(verb.as_bytes());
    match name {
        Some(name) => reply.bulk(name),
        None => reply.null(),
    }
    reply.integer(count as i64);
}

pub(super) fn publish(context: &mut Context<'_>) -> Outcome {
    let len_max = context.shared.config.push_len_max();
    let count = context.shared.broker.publish(context.arg(1), context.arg(2), len_max);
    context.reply().integer(count as i64);
    Ok(())
}

pub(super) fn channels(context: &mut Context<'_>) -> Outcome {
    if context.count() > 3 {
        return Err(Failure::of("ERR wrong number of arguments for 'pubsub|channels' command"));
    }
    let names = context.shared.broker.channels(context.request.arg(2));
    let mut reply = context.reply();
    reply.array(names.len());
    for name in names {
        reply.bulk(&name);
    }
    Ok(())
}

pub(super) fn numsub(context: &mut Context<'_>) -> Outcome {
    let names: Vec<_> = context.args_from(2).collect();
    let broker = &context.shared.broker;
    let mut reply = context.reply();
    reply.array(2 * names.len());
    for name in names {
        reply.bulk(name);
        reply.integer(broker.listeners(name) as i64);
    }
    Ok(())
}

pub(super) fn numpat(context: &mut Context<'_>) -> Outcome {
    let count = context.shared.broker.patterns();
    context.reply().integer(count as i64);
    Ok(())
}
