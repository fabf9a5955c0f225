//! The automaton: in which order the leaves asked for are read to put records together, and what opens and closes on the way.
//!
//! ```text
//! DocId ─0─▶ Links.Backward ─0─▶ Links.Forward ─0─▶ Name.Language.Code ─▶ Name.Language.Country ─0,1─▶ Name.Url ─0─▶ end
//!              └──1──┘             └──1──┘                  ▲──────────2──────────┘                       │
//!                                                           └────────────────────────1────────────────────┘
//! ```
//! The state is a leaf. After one of its entries, the repetition level of its next entry says where to go: on to the next
//! leaf, or back to the first leaf of the list that begins a new item. A subset of the leaves gives a smaller automaton.
//!
//! What always holds:
//! 1. Each leaf is behind some *steps*: the objects and lists that must be open before its value can be written.
//! 2. Two leaves share exactly the steps of the nodes they are both below; those shared come first.

use parquet::basic::Repetition;

use crate::leaf::Leaf;
use crate::schema::{Content, Schema};

/// The leaves asked for, as states.
#[derive(Debug)]
pub(crate) struct Automaton {
    pub(crate) states: Vec<State>,
}

/// A leaf: how its values are reached, and where to go from it.
#[derive(Debug)]
pub(crate) struct State {
    /// The column.
    pub(crate) column: usize,
    pub(crate) leaf: Leaf,
    /// From the root to the leaf.
    pub(crate) steps: Vec<Step>,
    /// What stands before a value: the member's name, escaped, with its colon; empty for an item of a list.
    pub(crate) label: String,
    /// The label where the value is written in base64.
    pub(crate) base64_label: String,
    /// From which definition level on an absent value is an item of a list, a null; at the first leaf of that item only.
    pub(crate) null_from: Option<i16>,
    /// By the repetition level of the next entry.
    pub(crate) next: Vec<Turn>,
}

/// An object or a list that is opened on the way to a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    node: usize,
    pub(crate) is_list: bool,
    /// The definition level from which on it is there.
    pub(crate) def: i16,
    /// The repetition level at which a list goes on.
    rep: i16,
    /// As in [`State`].
    pub(crate) label: String,
    pub(crate) null_from: Option<i16>,
}

/// What follows an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The state; as many as there are is the end of the record.
    pub(crate) state: usize,
    /// Steps that stay open.
    pub(crate) open: usize,
}

impl Automaton {
    /// The automaton over these leaves, which are in order.
    pub(crate) fn new(schema: &Schema, leaves: &[usize]) -> Self {
        let mut states: Vec<State> = leaves.iter().map(|leaf| State::new(schema, *leaf)).collect();
        for at in 0..states.len() {
            states[at].next = turns(&states, at);
        }
        // An item that is null is written once: by the first leaf below it.
        for at in (1..states.len()).rev() {
            let (before, after) = states.split_at_mut(at);
            let shared = shared(&before[at - 1].steps, &after[0].steps);
            for step in after[0].steps.iter_mut().take(shared) {
                step.null_from = None;
            }
        }
        Self { states }
    }
}

impl State {
    fn new(schema: &Schema, leaf: usize) -> Self {
        let nodes = schema.nodes();
        let node = nodes.iter().position(|node| matches!(node.content, Content::Leaf(_)) && node.leaves.start == leaf);
        let node = node.expect("each column has its node");
        let Content::Leaf(kind) = nodes[node].content else { unreachable!("it is a leaf") };
        let mut way = vec![node];
        while let Some(&last) = way.last().filter(|last| **last != 0) {
            way.push(nodes[last].parent);
        }
        let (mut steps, mut label, mut null_from) = (Vec::new(), String::new(), None);
        for at in way.into_iter().rev() {
            let node = &nodes[at];
            if at != 0 {
                label = if schema.is_item(at) { String::new() } else { label_of(&node.name) };
                let is_nullable = schema.is_item(at) && node.repetition == Repetition::OPTIONAL;
                null_from = is_nullable.then(|| node.def - 1);
            }
            let mut step = |is_list, rep| {
                let (label, null_from) = (std::mem::take(&mut label), null_from.take());
                steps.push(Step { node: at, is_list, def: node.def, rep, label, null_from });
            };
            if node.repetition == Repetition::REPEATED && at != 0 {
                step(true, node.rep);
            }
            match node.content {
                Content::Group(_) => step(false, 0),
                Content::List(item) => step(true, nodes[item].rep),
                Content::Leaf(_) => {}
            }
        }
        let base64_label = label.strip_suffix("\":").map_or(String::new(), |name| format!("{name}_base64\":"));
        Self { column: leaf, leaf: kind, steps, label, base64_label, null_from, next: Vec::new() }
    }

    /// How many steps are open while the list that goes on at `rep` is the innermost.
    fn list(&self, rep: i16) -> usize {
        let list = self.steps.iter().position(|step| step.is_list && step.rep == rep);
        list.expect("each repetition level has its list") + 1
    }

    fn lists(&self) -> i16 {
        self.steps.iter().map(|step| step.rep).max().unwrap_or(0)
    }
}

/// Where to go after an entry of the leaf `at`, for each repetition level of the next.
fn turns(states: &[State], at: usize) -> Vec<Turn> {
    let state = &states[at];
    let ahead = states.get(at + 1).map_or(0, |next| shared(&state.steps, &next.steps));
    let forward = Turn { state: at + 1, open: ahead };
    let turn = |rep| match rep {
        0 => forward,
        rep => {
            let open = state.list(rep);
            if ahead >= open {
                return forward;
            }
            let is_below = |other: &&State| shared(&other.steps, &state.steps) >= open;
            let below = states[..at].iter().rev().take_while(is_below).count();
            Turn { state: at - below, open }
        }
    };
    (0..=state.lists()).map(turn).collect()
}

/// How many steps two leaves have in common.
fn shared(one: &[Step], other: &[Step]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| (one.node, one.is_list) == (other.node, other.is_list)).count()
}

fn label_of(name: &str) -> String {
    let mut label = serde_json::to_string(name).expect("text is JSON");
    label.push(':');
    label
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(schema: &Schema, leaves: &[usize]) -> Vec<Vec<usize>> {
        let automaton = Automaton::new(schema, leaves);
        automaton.states.iter().map(|state| state.next.iter().map(|turn| turn.state).collect()).collect()
    }

    /// Figures 4 and 5 of the Dremel paper; the end is the number of leaves.
    #[test]
    fn it_is_the_automaton_of_the_dremel_paper() {
        let schema = Schema::parse(crate::tests::DOCUMENT).unwrap();
        let whole = way(&schema, &[0, 1, 2, 3, 4, 5]);
        assert_eq!(whole, [vec![1], vec![2, 1], vec![3, 2], vec![4, 4, 4], vec![5, 5, 3], vec![6, 3]]);
        assert_eq!(way(&schema, &[0, 4]), [vec![1], vec![2, 1, 1]]);
    }
}
