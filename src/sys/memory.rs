//! How the allocator treats what is freed.

/// Blocks from this size on, in bytes, are the system's again as soon as they are freed.
#[cfg(target_env = "gnu")]
const LARGE: i32 = 512 << 10;
/// Free memory at the end of an arena, in bytes, that is kept for what is allocated next.
#[cfg(target_env = "gnu")]
const KEPT: i32 = 1 << 20;

/// Makes the allocator give large blocks back at once. glibc would learn from each one freed to
/// keep the next: the request of one long conversation would stay resident for ever. To be called
/// before there are threads. Other libraries are left as they are.
pub fn give_back_large_blocks() {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt takes numbers, and no other thread allocates yet.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}
