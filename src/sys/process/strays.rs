//! Finding processes again that left the group they were started in.
//!
//! The environment a process was started with names its owners and is inherited by all it
//! starts. Since e is a subreaper, a process whose parents are gone becomes e's child.

use std::ffi::OsString;
use std::sync::LazyLock;

use crate::sys::{Env, procfs};

/// The variable that holds the mark.
pub const VARIABLE: &str = "E_OWNER";

/// Names this process in every mark it gives, so that all its strays can be found at once.
static SELF: LazyLock<String> = LazyLock::new(|| uuid::Uuid::new_v4().to_string());

/// Settles the mark of this process before it is forked.
pub fn choose_mark() {
    LazyLock::force(&SELF);
}

/// The value of [`VARIABLE`] for a child. An e that was itself started by an e keeps that one's
/// mark, so that the outer one finds what an inner one that was killed has left.
pub fn mark(env: &Env, owner: &str) -> OsString {
    let mut mark = env.get(VARIABLE).unwrap_or_default().to_owned();
    mark.push(format!(",{},{owner}", *SELF));
    mark
}

/// Living processes that belong to `owner` but to none of the groups.
pub fn find(owner: &str, groups: &[u32]) -> Vec<u32> {
    let own = std::process::id();
    let outside: Vec<(u32, u32)> = procfs::pids()
        .filter_map(|pid| Some((pid, procfs::stat(pid)?)))
        .filter(|(pid, stat)| *pid != own && !stat.dead && !groups.contains(&stat.group))
        .map(|(pid, stat)| (pid, stat.parent))
        .collect();
    // Strays hang below a stray that is a child itself, once the group they left has ended.
    // Mostly there is none, and the environments need not be read.
    if !outside.iter().any(|(_, parent)| *parent == own) {
        return Vec::new();
    }
    let pids = outside.into_iter().map(|(pid, _)| pid);
    pids.filter(|pid| procfs::environment_has(*pid, VARIABLE, owner))
        .collect()
}

/// Whether there may be strays: a cheap look at the children, which can miss one that comes to
/// this process at the same moment.
pub fn may_exist(groups: &[u32]) -> bool {
    procfs::children().is_none_or(|pids| pids.into_iter().any(|pid| is_outside(pid, groups)))
}

/// All living processes with the mark of this process, for one that is not their parent.
pub fn marked() -> Vec<u32> {
    procfs::pids()
        .filter(|pid| procfs::stat(*pid).is_some_and(|stat| !stat.dead))
        .filter(|pid| procfs::environment_has(*pid, VARIABLE, &SELF))
        .collect()
}

/// The same for all that this process started.
pub fn find_all(groups: &[u32]) -> Vec<u32> {
    find(&SELF, groups)
}

/// Whether a process lives and is in none of the groups.
pub fn is_outside(pid: u32, groups: &[u32]) -> bool {
    procfs::stat(pid).is_some_and(|stat| !stat.dead && !groups.contains(&stat.group))
}

/// What is left of a process group whose leader was reaped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Group {
    /// Members that have not ended.
    pub alive: usize,
    /// Whether a member is a child of this process. It cannot disappear before it is reaped, so
    /// until then the number of the group cannot pass to somebody else.
    pub held: bool,
}

/// Looks at a process group.
pub fn group(id: u32) -> Group {
    if !procfs::is_available() {
        // Nothing can be known; the number was taken from a process that ended just now.
        return Group {
            alive: 1,
            held: true,
        };
    }
    let own = std::process::id();
    let members = procfs::pids()
        .filter_map(procfs::stat)
        .filter(|stat| stat.group == id);
    members.fold(Group::default(), |group, member| Group {
        alive: group.alive + usize::from(!member.dead),
        held: group.held || member.parent == own,
    })
}
