//! The bash script does complete: it is sourced and asked, as readline would.

use crate::support::Place;

/// What bash offers for the last of these words.
fn offers(place: &Place, words: &[&str]) -> Vec<String> {
    let script = place
        .e()
        .args(["--generate", "complete-bash"])
        .run()
        .ends_with(0)
        .stdout;
    let script = format!(
        "{script}\nCOMP_WORDS=(\"$@\")\nCOMP_CWORD=$(($# - 1))\n_e\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    );
    let run = place
        .bash(&script)
        .arg("bash")
        .args(words)
        .run()
        .ends_with(0);
    assert_eq!(run.stderr, "");
    let mut offers: Vec<String> = run
        .stdout
        .lines()
        .filter(|line| !line.is_empty())
        .map(String::from)
        .collect();
    offers.sort();
    offers
}

#[test]
fn bash_offers_what_fits() {
    let place = Place::new();
    place.write("a picture.png", "");
    place.write("some dir/file", "");
    place.write("some*star", "");
    for (words, expected) in [
        (&["e", "do"][..], &["docs", "doctor"][..]),
        (
            &["e", "--max"],
            &["--max-cost", "--max-seconds", "--max-steps"],
        ),
        (&["e", "-p", "--no-t"], &["--no-tools"]),
        (&["e", "docs", "tr"], &["trust"]),
        (&["e", "-p", "-i", "a"], &["a picture.png"]),
        (&["e", "-p", "--image", "some"], &["some dir", "some*star"]),
        (&["e", "trust", "so"], &["some dir"]),
        (&["e", "untrust", "so"], &["some dir"]),
        (&["e", "--model", "x"], &[]),
        (&["e", "-p", "do"], &[]),
        (&["e", "--gen"], &[]),
    ] {
        assert_eq!(offers(&place, words), expected, "{words:?}");
    }
    // A word that is also the name of a folder stays a word: readline adds a slash to file names.
    let script = place.e().args(["--generate", "complete-bash"]).run();
    let script = script.ends_with(0).stdout;
    let asked = format!("{script}\ncomplete -p e");
    assert_eq!(place.bash(&asked).run().stdout, "complete -F _e e\n");
    assert!(offers(&place, &["e", ""]).contains(&"models".to_string()));
    assert!(offers(&place, &["e", "docs", ""]).len() >= 8);
}
