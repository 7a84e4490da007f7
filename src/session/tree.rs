//! The tree of a log's nodes: who follows whom, and which branch can be reached from the root.
//!
//! It holds places in the file, not records, so that a log of a gigabyte costs little memory.

use std::collections::HashMap;

/// The place of a node's line in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The byte it begins at.
    pub offset: u64,
    /// Its length in bytes, without a newline.
    pub len: usize,
    /// The line's number, from 1.
    pub line: u64,
}

/// One node.
#[derive(Debug)]
struct Node {
    place: Place,
    parent: Option<usize>,
    compact: bool,
    /// Whether the node or an ancestor cannot be read.
    broken: bool,
}

/// All nodes, in file order.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    by_id: HashMap<Box<str>, usize>,
    /// Nodes whose parent did not come before them, which only edited logs have.
    forward: Vec<(usize, Box<str>)>,
}

impl Tree {
    /// Adds the next node of the file. `false` when the id is taken.
    pub fn add(&mut self, id: &str, parent: Option<&str>, place: Place, compact: bool) -> bool {
        let index = self.nodes.len();
        if self.by_id.contains_key(id) {
            return false;
        }
        let known = parent.and_then(|parent| self.by_id.get(parent).copied());
        if let (Some(parent), None) = (parent, known) {
            self.forward.push((index, parent.into()));
        }
        self.by_id.insert(id.into(), index);
        self.nodes.push(Node {
            place,
            parent: known,
            compact,
            broken: false,
        });
        true
    }

    /// Connects what is left once all nodes are there and marks what hangs on a missing node, or on
    /// itself. Returns the line of one node of each circle.
    pub fn connect(&mut self) -> Vec<u64> {
        for (index, parent) in std::mem::take(&mut self.forward) {
            match self.by_id.get(&parent) {
                Some(parent) => self.nodes[index].parent = Some(*parent),
                None => self.nodes[index].broken = true,
            }
        }
        self.spread()
    }

    /// Marks a node as unreadable, and all that hang on it.
    pub fn break_off(&mut self, index: usize) {
        self.nodes[index].broken = true;
        // Circles were cut when the tree was connected.
        self.spread();
    }

    /// The newest node whose ancestors are all there.
    pub fn newest(&self) -> Option<usize> {
        self.nodes.iter().rposition(|node| !node.broken)
    }

    /// The node with an id, if its ancestors are all there.
    pub fn whole(&self, id: &str) -> Option<usize> {
        self.find(id).filter(|index| !self.is_broken(*index))
    }

    /// How many nodes cannot be reached.
    pub fn unreachable(&self) -> usize {
        self.nodes.iter().filter(|node| node.broken).count()
    }

    /// The nodes from the root to `index`.
    pub fn path(&self, index: usize) -> Vec<usize> {
        let mut path: Vec<_> =
            std::iter::successors(Some(index), |index| self.nodes[*index].parent).collect();
        path.reverse();
        path
    }

    /// The node with an id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The ids of all nodes, in file order.
    pub fn ids(&self) -> Vec<&str> {
        let mut ids = vec![""; self.nodes.len()];
        for (id, index) in &self.by_id {
            ids[*index] = id;
        }
        ids
    }

    /// The node that a node follows.
    pub fn parent(&self, index: usize) -> Option<usize> {
        self.nodes[index].parent
    }

    /// Whether a node or one before it cannot be read.
    pub fn is_broken(&self, index: usize) -> bool {
        self.nodes[index].broken
    }

    /// Where a node's line is.
    pub fn place(&self, index: usize) -> Place {
        self.nodes[index].place
    }

    /// Whether a node is a summary.
    pub fn is_compact(&self, index: usize) -> bool {
        self.nodes[index].compact
    }

    /// Whether there is no node at all.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Hands brokenness down every branch, each node once, whatever the order in the file. Cuts
    /// circles, and returns where.
    fn spread(&mut self) -> Vec<u64> {
        const NEW: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let mut state = vec![NEW; self.nodes.len()];
        let (mut trail, mut cut) = (Vec::new(), Vec::new());
        for start in 0..self.nodes.len() {
            let mut at = Some(start);
            while let Some(index) = at.filter(|index| state[*index] != DONE) {
                if state[index] == OPEN {
                    let node = &mut self.nodes[index];
                    (node.parent, node.broken) = (None, true);
                    cut.push(node.place.line);
                    break;
                }
                state[index] = OPEN;
                trail.push(index);
                at = self.nodes[index].parent;
            }
            while let Some(index) = trail.pop() {
                let above = self.nodes[index].parent;
                self.nodes[index].broken |= above.is_some_and(|above| self.nodes[above].broken);
                state[index] = DONE;
            }
        }
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(nodes: &[(&str, Option<&str>)]) -> Tree {
        let mut tree = Tree::default();
        for (n, (id, parent)) in nodes.iter().enumerate() {
            let place = Place {
                offset: 0,
                len: 0,
                line: n as u64 + 2,
            };
            assert!(tree.add(id, *parent, place, false));
        }
        tree
    }

    #[test]
    fn the_path_follows_the_newest_branch() {
        let mut tree = tree(&[
            ("a", None),
            ("b", Some("a")),
            ("c", Some("b")),
            ("d", Some("a")),
        ]);
        assert!(tree.connect().is_empty());
        assert_eq!(tree.path(tree.newest().unwrap()), [0, 3]);
        assert!(!tree.add("a", None, tree.place(0), false));
    }

    #[test]
    fn a_missing_parent_costs_its_descendants() {
        let mut tree = tree(&[
            ("a", None),
            ("c", Some("b")),
            ("d", Some("c")),
            ("e", Some("a")),
        ]);
        assert!(tree.connect().is_empty());
        assert_eq!(tree.unreachable(), 2);
        assert_eq!(tree.path(tree.newest().unwrap()), [0, 3]);
        tree.break_off(3);
        assert_eq!(tree.newest(), Some(0));
        tree.break_off(0);
        assert_eq!(tree.newest(), None);
    }

    #[test]
    fn order_in_the_file_does_not_matter_and_cycles_are_found() {
        let mut reversed = tree(&[("c", Some("b")), ("b", Some("a")), ("a", None)]);
        assert!(reversed.connect().is_empty());
        assert_eq!(reversed.path(0), [2, 1, 0]);

        for (nodes, cut, unreachable, newest) in [
            (&[("a", Some("a"))][..], 2, 1, None),
            (
                &[("r", None), ("a", Some("b")), ("b", Some("a"))],
                3,
                2,
                Some(0),
            ),
            (
                &[
                    ("e", Some("b")),
                    ("a", Some("c")),
                    ("b", Some("a")),
                    ("c", Some("b")),
                    ("d", None),
                    ("f", Some("e")),
                ],
                4,
                5,
                Some(4),
            ),
        ] {
            let mut tree = tree(nodes);
            assert_eq!(tree.connect(), [cut], "{nodes:?}");
            assert_eq!(tree.unreachable(), unreachable, "{nodes:?}");
            assert_eq!(tree.newest(), newest, "{nodes:?}");
            (0..tree.len()).for_each(|index| drop(tree.path(index)));
        }
    }
}
