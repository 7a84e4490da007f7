//! No unasked network: e connects to the model's endpoint for a turn, and to nothing else.

use serde_json::json;

use crate::support::{Place, Provider, call, say};

#[test]
fn a_turn_makes_one_connection_to_its_provider_and_none_elsewhere() {
    let place = Place::new();
    // Everything that is not the provider would go through here.
    let elsewhere = Provider::start();
    let read = || call("read", json!({"path": "none"}));
    place.provider.script([read(), read(), say("done")]);
    let mut run = place.p(&["hi"]);
    for name in [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ] {
        run = run.env(name, elsewhere.url());
    }
    run.run().ends_with(0);
    assert_eq!(place.provider.received().len(), 3);
    assert_eq!(place.provider.connections(), 1, "steps share a connection");
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn nothing_is_connected_to_before_there_is_something_to_ask() {
    let place = Place::new();
    place.p(&[]).run().ends_with(2);
    place.p(&["--bogus", "hi"]).run().ends_with(2);
    place.p(&["--image", "none", "hi"]).run().ends_with(2);
    place.p(&["hi"]).in_dir(place.root()).run().ends_with(1);
    for args in [
        &["--version"][..],
        &["--help"],
        &["docs"],
        &["doctor"],
        &["providers"],
        &["models"],
        &["auth"],
        &["trust"],
    ] {
        place.e().args(args).run().ends_with(0);
    }
    assert_eq!(place.provider.connections(), 0);
}

#[test]
fn the_request_carries_the_key_and_names_e() {
    let place = Place::new();
    place.p(&["hi"]).run().ends_with(0);
    let request = &place.provider.received()[0];
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(
        request.header("authorization"),
        Some("Bearer secret-key-of-mock")
    );
    let agent = request.header("user-agent").expect("an agent");
    assert_eq!(agent, concat!("e/", env!("CARGO_PKG_VERSION")));
    assert_eq!(request.body["model"], "test");
    assert_eq!(request.body["stream"], true);
}

#[test]
fn the_offline_models_connect_to_nothing() {
    let place = Place::new();
    let run = place.e().args(["-p", "-m", "offline/echo", "hello"]).run();
    assert_eq!(run.ends_with(0).stdout, "hello\n");
    assert_eq!(place.provider.connections(), 0);
}
