//! Numbers that look random and are the same in every run, so that a failure comes again.

/// A linear congruential generator (the constants of Knuth's MMIX) of numbers below a bound.
pub fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |below| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    }
}
