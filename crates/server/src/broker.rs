//! Channels, and the connections that listen to them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hammerspace_resp::{Encoder, Version};

use crate::client::Client;
use crate::glob;

/// The clients that listen, by channel and by pattern.
#[derive(Debug, Default)]
pub(crate) struct Broker {
    topics: Mutex<Topics>,
    /// How many subscriptions there are, so that messages that nobody waits for cost nothing.
    subscriptions: AtomicUsize,
}

type Listeners = BTreeMap<Vec<u8>, Vec<Arc<Client>>>;

#[derive(Debug, Default)]
struct Topics {
    channels: Listeners,
    patterns: Listeners,
}

/// What a subscription is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Channel,
    Pattern,
}

impl Topics {
    fn of(&mut self, topic: Topic) -> &mut Listeners {
        match topic {
            Topic::Channel => &mut self.channels,
            Topic::Pattern => &mut self.patterns,
        }
    }
}

impl Broker {
    pub(crate) fn subscribe(&self, topic: Topic, name: &[u8], client: &Arc<Client>) {
        self.lock().of(topic).entry(name.to_vec()).or_default().push(client.clone());
        self.subscriptions.fetch_add(1, Relaxed);
    }

    pub(crate) fn unsubscribe(&self, topic: Topic, name: &[u8], client: &Client) {
        let mut topics = self.lock();
        let listeners = topics.of(topic);
        if let Some(clients) = listeners.get_mut(name) {
            clients.retain(|one| one.id != client.id);
            if clients.is_empty() {
                listeners.remove(name);
            }
            self.subscriptions.fetch_sub(1, Relaxed);
        }
    }

    /// Whether a message could reach anybody.
    pub(crate) fn has_listeners(&self) -> bool {
        self.subscriptions.load(Relaxed) > 0
    }

    /// Sends a message to all that listen; says to how many. A client that leaves more than `len_max` bytes
    /// unread is closed.
    pub(crate) fn publish(&self, channel: &[u8], message: &[u8], len_max: usize) -> usize {
        if !self.has_listeners() {
            return 0;
        }
        let topics = self.lock();
        let mut count = 0;
        for client in topics.channels.get(channel).into_iter().flatten() {
            client.send(&encoded(client, &[b"message", channel, message]), len_max);
            count += 1;
        }
        for (pattern, clients) in topics.patterns.iter().filter(|(pattern, _)| glob::matches(pattern, channel)) {
            for client in clients {
                client.send(&encoded(client, &[b"pmessage", pattern, channel, message]), len_max);
                count += 1;
            }
        }
        count
    }

    /// The channels that somebody listens to, and that match.
    pub(crate) fn channels(&self, pattern: Option<&[u8]>) -> Vec<Vec<u8>> {
        let is_wanted = |name: &&Vec<u8>| pattern.is_none_or(|pattern| glob::matches(pattern, name));
        self.lock().channels.keys().filter(is_wanted).cloned().collect()
    }

    /// How many clients listen to a channel by its name.
    pub(crate) fn listeners(&self, channel: &[u8]) -> usize {
        self.lock().channels.get(channel).map_or(0, Vec::len)
    }

    /// How many patterns somebody listens to.
    pub(crate) fn patterns(&self) -> usize {
        self.lock().patterns.len()
    }

    fn lock(&self) -> MutexGuard<'_, Topics> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message in the version that a client speaks.
fn encoded(client: &Client, parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let version = if client.resp.load(Relaxed) == 3 { Version::Three } else { Version::Two };
    let mut encoder = Encoder::new(&mut bytes, version);
    encoder.push(parts.len());
    for part in parts {
        encoder.bulk(part);
    }
    bytes
}
