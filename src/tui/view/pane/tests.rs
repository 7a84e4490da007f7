//! The pane under keys, mouse and new content, as tables.

use super::*;
use crate::extension::ui::{Body, Item, Section};
use crate::text::testing::random;
use crate::tui::markdown::{Definitions, render};
use crate::tui::testing::{check, plain, styled};

fn section(id: &str, title: &str, body: Body) -> Section {
    Section {
        id: id.to_owned(),
        title: title.to_owned(),
        body,
    }
}

fn list(ids: &[&str], selected: Option<usize>) -> Body {
    let item = |id: &&str| Item {
        id: (*id).to_owned(),
        label: format!("src/{id}"),
        detail: "+1 -2".to_owned(),
        token: None,
    };
    Body::List {
        items: ids.iter().map(item).collect(),
        selected,
    }
}

fn pane(sections: Vec<Section>) -> ui::Pane {
    ui::Pane {
        id: "p".to_owned(),
        title: "Changes".to_owned(),
        side: None,
        hint: String::new(),
        sections,
    }
}

const PATCH: &str = "--- a/f.rs\n+++ b/f.rs\n@@ -7,2 +7,2 @@\n same\n-old line\n+new line here\n";

#[test]
fn a_review() {
    let files = section("files", "", list(&["a", "b"], Some(1)));
    let patch = section("patch", "f.rs", Body::Diff(PATCH.to_owned()));
    let mut pane = Pane::new(pane(vec![files, patch]));
    let shown = plain(&pane.rows(true, "", 30, 12));
    let expected = [
        "Changes                      ×",
        "src/a                    +1 -2",
        "src/b                    +1 -2",
        "──────────────────────────────",
        "f.rs",
        "    7   same",
        "    8 - old line",
        "    8 + new line here",
        "",
        "",
        "",
        "tab · enter · esc",
    ];
    assert_eq!(shown, expected);
    assert!(styled(&pane.rows(true, "", 30, 12))[2].contains("bold"));
    // Rows are scrolled under their numbers, and selected with what they are from.
    pane.next_section();
    pane.scroll(1);
    assert_eq!(plain(&pane.rows(true, "", 30, 12))[7], "    8 +  here");
    pane.step(1, false);
    pane.step(1, true);
    let entered = pane.enter();
    let expected = Entered::Attached {
        label: "[f.rs · 2 rows]".to_owned(),
        text: "f.rs:\n    8 - old line\n    8 + new line here".to_owned(),
    };
    assert_eq!(entered, expected);
    assert!(styled(&pane.rows(true, "", 30, 12))[7].contains("reverse"));
    assert!(pane.back() && !pane.back());
}

#[test]
fn a_refresh_keeps_the_place() {
    let text = |rows: usize| {
        let lines: Vec<String> = (0..rows).map(|row| format!("row {row}")).collect();
        Body::Text(lines.join("\n"))
    };
    let files = |ids: &[&str], selected| section("files", "", list(ids, selected));
    let first = vec![files(&["a", "b", "c"], None), section("log", "", text(50))];
    let mut shown = Pane::new(pane(first));
    shown.rows(true, "", 30, 12);
    shown.step(1, false);
    shown.next_section();
    shown.page(3, false);
    shown.step(1, true);
    let before = plain(&shown.rows(true, "", 30, 12));
    // Other files above, the same log below: everything is where it was.
    let again = vec![
        files(&["z", "a", "b"], Some(0)),
        section("log", "", text(50)),
    ];
    shown.refresh(pane(again));
    assert_eq!(plain(&shown.rows(true, "", 30, 12))[5..], before[5..]);
    assert!(matches!(shown.enter(), Entered::Attached { label, .. } if label.contains("2 rows")));
    let selected = |shown: &Pane| shown.sections[0].selected().map(|one| one.item);
    assert_eq!(selected(&shown).as_deref(), Some("b"));
    // A log that changed keeps its scroll and loses its selection.
    let again = vec![files(&["x", "y"], Some(1)), section("log", "", text(49))];
    shown.refresh(pane(again));
    assert_eq!(selected(&shown).as_deref(), Some("y"));
    assert_eq!(plain(&shown.rows(true, "", 30, 12))[4..10], before[5..11]);
    assert!(matches!(shown.enter(), Entered::Attached { label, .. } if label.contains("1 row]")));
    // Sections that are gone take the focus with them.
    shown.refresh(pane(vec![files(&[], None)]));
    assert_eq!(shown.enter(), Entered::Nothing);
    shown.refresh(pane(Vec::new()));
    assert_eq!(shown.enter(), Entered::Nothing);
}

#[test]
fn any_pane_fits_anywhere_whatever_is_done() {
    let mut random = random(7);
    let text = "日本語 wide\twords\n\n".repeat(40);
    for round in 0..300 {
        let body = |random: &mut dyn FnMut(usize) -> usize| match random(6) {
            0 => list(
                &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"],
                Some(99),
            ),
            1 => list(&[], None),
            2 => Body::Diff(if round % 2 == 0 {
                PATCH.to_owned()
            } else {
                text.clone()
            }),
            3 => Body::Text(text.clone()),
            4 => Body::Markdown(format!("# t\n\n- {text}")),
            _ => Body::Rows(vec![Vec::new(); 3]),
        };
        let sections = |random: &mut dyn FnMut(usize) -> usize| -> Vec<Section> {
            (0..random(5))
                .map(|at| section(&at.to_string(), ["", "title"][at % 2], body(random)))
                .collect()
        };
        let mut shown = Pane::new(pane(sections(&mut random)));
        for _ in 0..30 {
            let (columns, height) = (random(50), random(30));
            let rows = shown.rows(true, "ctrl+t back", columns, height);
            assert_eq!(rows.len(), height);
            // Markdown keeps a few columns for its text; the surface cuts what is over.
            if columns > 8 {
                check(&rows, columns);
            }
            let by = random(5) as isize - 2;
            match random(10) {
                0 => drop(shown.step(by, by > 0)),
                1 => drop(shown.page(by, by < 0)),
                2 => drop(shown.edge(by > 0, by % 2 == 0)),
                3 => drop(shown.scroll(by)),
                4 => shown.next_section(),
                5 => drop(shown.click(random(30), random(50))),
                6 => shown.drag(random(30)),
                7 => drop(shown.wheel(random(30), by)),
                8 => drop(shown.enter()),
                _ => {
                    shown.refresh(pane(sections(&mut random)));
                    // The pointer may be quicker than the next frame.
                    shown.click(random(30), random(50));
                    shown.drag(random(30));
                    shown.wheel(random(30), by);
                }
            }
        }
    }
}

#[test]
fn markdown_is_laid_out_as_far_as_it_is_seen() {
    let text = "# Title\n\nA paragraph of `words`.\n\n```rust\nlet x = 1;\n```\n\n- one\n- two\n\n[a]: http://b.c\n\n[a] link\n\n".repeat(50);
    let whole = plain(&render(&text, 30, &Definitions::default()));
    let markdown = section("notes", "", Body::Markdown(text));
    let mut pane = Pane::new(pane(vec![markdown]));
    // Also the first time it has all the room there is.
    assert_eq!(plain(&pane.rows(true, "", 30, 12))[1..11], whole[..10]);
    pane.page(2, false);
    pane.wheel(5, 1);
    let shown = plain(&pane.rows(true, "", 30, 12));
    assert!(whole.windows(10).any(|rows| *rows == shown[1..11]));
    pane.edge(true, false);
    let shown = plain(&pane.rows(true, "", 30, 12));
    assert_eq!(shown[1..11], whole[whole.len() - 10..]);
}

/// A frame lays out a bounded part, and the next ones go on until the cursor is where it was sent.
#[test]
fn much_markdown_is_laid_out_frame_by_frame() {
    let text = "# Title\n\nWords of [a] link.\n\n- one\n\n".repeat(5000) + "[a]: http://b.c\n";
    let body = |text: &str| pane(vec![section("n", "", Body::Markdown(text.to_owned()))]);
    let settle = |pane: &mut Pane, columns| {
        for count in 1.. {
            let shown = plain(&pane.rows(true, "", columns, 12));
            if !pane.is_behind() {
                return (shown[1..11].to_vec(), count);
            }
        }
        unreachable!()
    };
    let (whole, other) = (
        plain(&render(&text, 30, &Definitions::default())),
        plain(&render(&text, 9, &Definitions::default())),
    );
    let end = |rows: &[String]| rows[rows.len() - 10..].to_vec();
    let mut pane = Pane::new(body(&text));
    assert_eq!(settle(&mut pane, 30), (whole[..10].to_vec(), 1));
    pane.edge(true, false);
    let (shown, frames) = settle(&mut pane, 30);
    assert_eq!(shown, end(&whole));
    assert!(frames > 5, "{frames}");
    // Another width begins anew; who goes elsewhere meanwhile is there at once.
    pane.rows(true, "", 9, 12);
    assert!(pane.is_behind());
    pane.edge(false, false);
    assert_eq!(settle(&mut pane, 9), (other[..10].to_vec(), 1));
    pane.edge(true, false);
    assert_eq!(settle(&mut pane, 9).0, end(&other));
    // Keys that come faster than frames act on what they would have seen.
    pane.rows(true, "", 30, 12);
    pane.edge(true, false);
    pane.step(-1, false);
    pane.step(-1, true);
    let Entered::Attached { label, text: rows } = pane.enter() else {
        panic!();
    };
    assert_eq!(label, "[Changes · 2 rows]");
    let last = whole.len() - 1;
    assert_eq!(rows.lines().nth(1), Some(&*whole[last - 2]));
    settle(&mut pane, 9);
    pane.edge(true, false);
    settle(&mut pane, 9);
    // What was laid out of the same beginning is not laid out again.
    let more = format!("{text}\nThe end.\n");
    pane.refresh(body(&more));
    assert_eq!(settle(&mut pane, 9).1, 1);
    pane.edge(true, false);
    let whole = plain(&render(&more, 9, &Definitions::default()));
    assert_eq!(settle(&mut pane, 9), (end(&whole), 1));
    pane.refresh(body(&text.replace("Title", "Other")));
    assert!(settle(&mut pane, 9).1 > 5);
}

#[test]
fn a_list_leaves_the_sides_to_its_owner() {
    let files = section("files", "", list(&["a"], None));
    let log = section("log", "", Body::Text("x".repeat(50)));
    let mut pane = Pane::new(pane(vec![files, log]));
    pane.rows(true, "", 30, 12);
    assert!(!pane.scroll(1));
    pane.next_section();
    assert!(pane.scroll(9));
    assert_eq!(plain(&pane.rows(true, "", 30, 12))[3], "x");
}

#[test]
fn the_last_row_tells_how_to_get_here_and_away() {
    let hint = |hint: &str, focused, switch: &str, columns| {
        let mut pane = Pane::new(ui::Pane {
            hint: hint.into(),
            ..pane(vec![section("f", "", list(&["a"], None))])
        });
        plain(&pane.rows(focused, switch, columns, 12))
            .pop()
            .unwrap()
    };
    let cases = [
        (
            "",
            true,
            "f2 conversation",
            45,
            "tab · enter · esc · f2 conversation",
        ),
        ("", true, "f2 conversation", 20, "tab · enter · esc"),
        ("", false, "f2 to go here", 45, "f2 to go here"),
        ("", true, "", 20, "tab · enter · esc"),
        (
            "x cuts",
            true,
            "f2 conversation",
            45,
            "x cuts · f2 conversation",
        ),
        ("x cuts", false, "", 45, "x cuts"),
        (
            "x cuts this into two parts",
            true,
            "f2 back",
            26,
            "x cuts this int… · f2 back",
        ),
        (
            "x cuts this into two parts",
            true,
            "f2 back",
            25,
            "x cuts this into two par…",
        ),
    ];
    for (said, focused, switch, columns, expected) in cases {
        assert_eq!(
            hint(said, focused, switch, columns),
            expected,
            "{said} {columns}"
        );
    }
}

#[test]
fn a_line_without_an_end_is_seen_in_part_and_attached_whole() {
    let body = "日本x".repeat(30_000);
    let mut pane = Pane::new(pane(vec![section("log", "", Body::Text(body.clone()))]));
    check(&pane.rows(true, "", 30, 12), 30);
    for _ in 0..1000 {
        pane.scroll(1);
    }
    check(&pane.rows(true, "", 30, 12), 30);
    assert!(matches!(pane.enter(), Entered::Attached { text, .. } if text.contains(&body)));
}
