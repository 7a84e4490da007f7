//! The way to a server: which proxy, which certificates, and how a URL may be shown.

use std::path::Path;

use ureq::Proxy;
use ureq::http::Uri;
use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

use super::{Cause, Failure, Stage};
use crate::error::io_text;
use crate::sys::Env;

/// Where systems keep their certificates in one file. The first that holds any is used.
const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt", // Debian, Arch, Gentoo
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Fedora, RHEL
    "/etc/pki/tls/certs/ca-bundle.crt",   // older RHEL
    "/etc/ssl/ca-bundle.pem",             // SUSE
    "/etc/ssl/certs/ca-bundle.crt",       // NixOS
    "/etc/ssl/cert.pem",                  // Alpine, macOS, OpenBSD
    "/usr/local/share/certs/ca-root-nss.crt", // FreeBSD
    "/etc/openssl/certs/ca-certificates.crt", // NetBSD
];

/// Largest certificate file that is read, in bytes.
const BUNDLE_LIMIT: u64 = 16 << 20;

/// A proxy, and the variable that named it.
#[derive(Clone, Debug)]
pub(super) struct Via {
    pub(super) proxy: Proxy,
    pub(super) variable: &'static str,
}

/// The proxy that the environment asks for on the way to `uri`.
pub(super) fn proxy(env: &Env, uri: &Uri) -> Result<Option<Via>, Failure> {
    let names = match uri.scheme_str() {
        Some("https") => ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        _ => ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
    };
    let Some((variable, value)) = names.iter().find_map(|name| Some((*name, env.text(name)?)))
    else {
        return Ok(None);
    };
    let exempt = ["no_proxy", "NO_PROXY"]
        .iter()
        .find_map(|name| env.text(name))
        .unwrap_or("");
    let host = uri.host().unwrap_or("").trim_matches(['[', ']']);
    if exempt
        .split([',', ' '])
        .any(|entry| is_exempt(entry, host, port(uri)))
    {
        return Ok(None);
    }
    match Proxy::new(value.trim()) {
        Ok(proxy) => Ok(Some(Via { proxy, variable })),
        Err(_) => Err(unusable(format!(
            "`{variable}` is no proxy address - write it like `http://host:port` or `socks5://host:port`"
        ))),
    }
}

/// The port that a URL leads to.
fn port(uri: &Uri) -> u16 {
    let default = if uri.scheme_str() == Some("https") {
        443
    } else {
        80
    };
    uri.port_u16().unwrap_or(default)
}

/// `*`, a host, or a domain with everything below it; either with a port or without.
fn is_exempt(entry: &str, host: &str, port: u16) -> bool {
    let entry = entry.trim();
    // A colon is a port only if there is one: IPv6 addresses have more.
    let (name, wanted) = match entry.rsplit_once(':') {
        Some((name, digits)) if !name.contains(':') || name.ends_with(']') => {
            (name, digits.parse::<u16>().ok())
        }
        _ => (entry, None),
    };
    if wanted.is_some_and(|wanted| wanted != port) {
        return false;
    }
    let name = name.trim_matches(['[', ']']);
    if name == "*" {
        return true;
    }
    let name = name.trim_start_matches('*').trim_start_matches('.');
    if name.is_empty() || name.len() > host.len() || !host.is_char_boundary(host.len() - name.len())
    {
        return false;
    }
    let (head, tail) = host.split_at(host.len() - name.len());
    tail.eq_ignore_ascii_case(name) && (head.is_empty() || head.ends_with('.'))
}

/// The certificates of `SSL_CERT_FILE` and `SSL_CERT_DIR` when set, else the system's, else
/// those built in.
pub(super) fn root_certificates(env: &Env) -> Result<RootCerts, Failure> {
    let mut certificates = Vec::new();
    let (file, dir) = (env.path("SSL_CERT_FILE"), env.path("SSL_CERT_DIR"));
    if file.is_none() && dir.is_none() {
        let found = BUNDLES
            .iter()
            .find_map(|path| read_bundle(Path::new(path)).ok().filter(|c| !c.is_empty()));
        return Ok(found.map_or(RootCerts::WebPki, RootCerts::from));
    }
    let explain = |name: &str, path: &Path, text: String| {
        unusable(format!(
            "`{name}`: `{}`: {text} - correct the variable or unset it",
            path.display()
        ))
    };
    if let Some(path) = &file {
        let found =
            read_bundle(path).map_err(|error| explain("SSL_CERT_FILE", path, io_text(&error)))?;
        if found.is_empty() {
            return Err(explain(
                "SSL_CERT_FILE",
                path,
                "holds no certificate in PEM form".to_owned(),
            ));
        }
        certificates.extend(found);
    }
    if let Some(list) = &dir {
        for path in std::env::split_paths(list) {
            let entries = std::fs::read_dir(&path)
                .map_err(|error| explain("SSL_CERT_DIR", &path, io_text(&error)))?;
            for entry in entries.flatten() {
                certificates.extend(read_bundle(&entry.path()).unwrap_or_default());
            }
        }
    }
    Ok(RootCerts::from(certificates))
}

fn read_bundle(path: &Path) -> std::io::Result<Vec<Certificate<'static>>> {
    let bytes = crate::sys::fs::read_regular(path, BUNDLE_LIMIT)?;
    let items = parse_pem(&bytes).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    Ok(items.collect())
}

/// A request that cannot be made as things are set up.
pub(super) fn unusable(text: impl Into<String>) -> Failure {
    Failure::new(Cause::Rejected, Stage::Request, text)
}

/// A URL without user info, query and fragment: the parts that may hold a secret.
pub(super) fn safe_url(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or("");
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or("");
    format!("{scheme}{host}{path}")
}

/// Takes the secret parts of a URL out of a failure's text.
pub(super) fn redact_url(failure: &mut Failure, url: &str) {
    let (rest, query) = url.split_once('?').unwrap_or((url, ""));
    failure.redact(query);
    let authority = rest
        .split_once("://")
        .map_or("", |(_, rest)| rest.split('/').next().unwrap_or(""));
    if let Some((info, _)) = authority.rsplit_once('@') {
        failure.redact(info);
        failure.redact(info.split_once(':').map_or("", |(_, password)| password));
    }
}

/// Where a path below a base URL is. A query of the base stays at the end.
pub(super) fn endpoint(base: &str, path: &str) -> String {
    let (base, query) = base
        .split_once('?')
        .map_or((base, String::new()), |(base, query)| {
            (base, format!("?{query}"))
        });
    format!("{}{path}{query}", base.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> Env {
        let mut env = Env::default();
        for (name, value) in vars {
            env.set(*name, *value);
        }
        env
    }

    #[test]
    fn proxies_in_both_spellings() {
        type Vars = &'static [(&'static str, &'static str)];
        let cases: &[(&str, Vars, Option<&str>)] = &[
            ("https://a.test/v1", &[], None),
            (
                "https://a.test/v1",
                &[("HTTPS_PROXY", "http://p:1")],
                Some("HTTPS_PROXY"),
            ),
            (
                "https://a.test/v1",
                &[("https_proxy", "p:1"), ("HTTPS_PROXY", "q:1")],
                Some("https_proxy"),
            ),
            ("https://a.test/v1", &[("HTTP_PROXY", "http://p:1")], None),
            (
                "http://a.test/v1",
                &[("HTTP_PROXY", "http://p:1")],
                Some("HTTP_PROXY"),
            ),
            (
                "http://a.test/v1",
                &[("ALL_PROXY", "socks5://p:1")],
                Some("ALL_PROXY"),
            ),
            (
                "http://a.test/v1",
                &[("all_proxy", "p:1"), ("NO_PROXY", "b.test,.test")],
                None,
            ),
            (
                "http://a.test/v1",
                &[("all_proxy", "p:1"), ("no_proxy", "a.test:81")],
                Some("all_proxy"),
            ),
            ("http://a.test/v1", &[("ALL_PROXY", "  ")], None),
        ];
        for (url, vars, expected) in cases {
            let found = proxy(&env(vars), &url.parse().unwrap()).unwrap();
            assert_eq!(found.map(|via| via.variable), *expected, "{url} {vars:?}");
        }
        let failure = proxy(
            &env(&[("HTTP_PROXY", "gopher://u:pass@p")]),
            &"http://a.test".parse().unwrap(),
        );
        let text = failure.unwrap_err().message;
        assert!(
            text.contains("HTTP_PROXY") && !text.contains("pass"),
            "{text}"
        );
    }

    #[test]
    fn exempt_hosts() {
        for (entry, host, expected) in [
            ("*", "a.test", true),
            ("a.test", "a.test", true),
            ("A.Test", "a.test", true),
            ("a.test", "b.a.test", true),
            (".a.test", "b.a.test", true),
            ("*.a.test", "b.a.test", true),
            ("a.test", "ba.test", false),
            ("a.test:443", "a.test", true),
            ("a.test:80", "a.test", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("::1", "::1", true),
            ("[::1]:443", "::1", true),
            ("", "a.test", false),
            (".", "a.test", false),
        ] {
            assert_eq!(is_exempt(entry, host, 443), expected, "{entry} {host}");
        }
    }

    #[test]
    fn urls_are_shown_without_secrets() {
        for (url, expected) in [
            ("https://u:p@h:1/v1?key=x#y", "https://h:1/v1"),
            ("https://h/v1", "https://h/v1"),
            ("u@h", "h"),
            ("", ""),
        ] {
            assert_eq!(safe_url(url), expected);
        }
        assert_eq!(endpoint("https://h/v1/", "/models"), "https://h/v1/models");
        assert_eq!(
            endpoint("https://h/v1?a=b", "/models"),
            "https://h/v1/models?a=b"
        );
        let mut failure = unusable("no way to https://user:secret1@h/v1?key=secret2 (secret1)");
        redact_url(&mut failure, "https://user:secret1@h/v1?key=secret2");
        assert!(!failure.message.contains("secret"), "{}", failure.message);
    }

    #[test]
    fn certificate_files() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("ca.pem");
        let pem = "-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n";
        std::fs::write(&file, format!("{pem}{pem}")).unwrap();
        let count = |vars: &[(&str, &str)]| match root_certificates(&env(vars)) {
            Ok(RootCerts::Specific(list)) => list.len(),
            other => panic!("{other:?}"),
        };
        let (file, dir) = (file.to_str().unwrap(), dir.path().to_str().unwrap());
        assert_eq!(count(&[("SSL_CERT_FILE", file)]), 2);
        assert_eq!(count(&[("SSL_CERT_DIR", dir)]), 2);
        assert_eq!(count(&[("SSL_CERT_FILE", file), ("SSL_CERT_DIR", dir)]), 4);
        for (name, path) in [
            ("SSL_CERT_FILE", "/missing"),
            ("SSL_CERT_FILE", "/dev/null"),
            ("SSL_CERT_FILE", dir),
            ("SSL_CERT_DIR", "/missing"),
        ] {
            let failure = root_certificates(&env(&[(name, path)])).unwrap_err();
            assert!(
                failure.message.contains(name) && failure.message.contains(path),
                "{}",
                failure.message
            );
        }
    }
}
