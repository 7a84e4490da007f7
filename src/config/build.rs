//! What this build of e is.

/// Its version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit it was built from, where the packager told by `E_COMMIT`.
pub const COMMIT: Option<&str> = option_env!("E_COMMIT");

/// `release` for an optimised build, `development` for another.
pub const CHANNEL: &str = if cfg!(debug_assertions) {
    "development"
} else {
    "release"
};

/// The system it was built for, such as `x86_64-linux`.
pub fn target() -> String {
    format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)
}
