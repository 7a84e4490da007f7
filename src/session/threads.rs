//! The same work on many things, on a few threads.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// More threads than this gain nothing: much of the time goes into the system's own work.
const MAX_THREADS: usize = 4;

/// Does the work on each item; each thread has something of its own that it keeps from one item to
/// the next. The results are in the order of the items.
pub fn map<I: Sync, S: Default, T: Send>(
    items: &[I],
    work: impl Fn(&mut S, &I) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let run = || {
        let (mut own, mut done) = (S::default(), Vec::new());
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            match items.get(index) {
                Some(item) => done.push((index, work(&mut own, item))),
                None => return done,
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(MAX_THREADS).min(items.len());
    let mut done = thread::scope(|scope| {
        // Where no thread can be had, this one does the work alone.
        let others: Vec<_> = (1..threads)
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, run).ok())
            .collect();
        let mut done = run();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order() {
        for count in [0_usize, 1, 2, 1000] {
            let items: Vec<_> = (0..count).collect();
            let doubled: Vec<_> = items.iter().map(|n| n * 2).collect();
            assert_eq!(map(&items, |(), n| n * 2), doubled);
        }
    }
}
