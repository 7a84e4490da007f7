//! From the shell to the first prompt.

use super::{open, ready};
use crate::support::{Place, Pty};

#[test]
fn the_first_frame_is_a_prompt_with_the_model_below() {
    let place = Place::new();
    let pty = open(&place, 60, 12);
    println!("{}", pty.screen.golden());
    println!("{:?}", pty.screen.seen());
    panic!();
}

#[test]
fn a_terminal_that_answers_nothing_is_painted_all_the_same() {
    let place = Place::new();
    let mut pty = Pty::open(60, 12);
    pty.screen.seen_mut().is_mute = true;
    pty.start(place.app(&[]));
    ready(&mut pty);
}
