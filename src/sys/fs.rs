//! File operations that the standard library of our minimum Rust does not offer.
//!
//! Locks, room on the disk, and everything about a file that is not its bytes. All of them work
//! on open files, so that what was checked and what is changed are the same inode.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Opens what must be a regular file, links followed. Everything else is refused without being
/// opened, because that alone can wake the other end of a pipe or move a device; and what takes
/// the file's place at this moment cannot make it wait.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<(File, Metadata)> {
    require_regular(&std::fs::metadata(path)?)?;
    let file = options.custom_flags(libc::O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    require_regular(&metadata)?;
    Ok((file, metadata))
}

/// All bytes of a regular file, when they are no more than `limit`.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, _) = open_regular(path, OpenOptions::new().read(true))?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let text = format!("it is larger than {} MiB", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// `Unsupported`, with what it is, for everything that is not a regular file.
pub fn require_regular(metadata: &Metadata) -> io::Result<()> {
    let what = match metadata.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a named pipe",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_char_device() || kind.is_block_device() => "a device",
        _ => "something else",
    };
    let text = format!("it is {what}, not a regular file");
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}

/// Whether the error says that nothing has this name, also because what should be a directory on
/// the way is something else.
pub fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// A file whose lock is given back at once when this is dropped. Closing the descriptor alone is
/// not enough: a child that is being started holds a copy of it for a moment.
#[derive(Debug)]
pub struct Locked(File);

impl Locked {
    /// Owns a lock that [`lock_exclusive`] took.
    pub fn new(file: File) -> Self {
        Self(file)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: flock takes an open descriptor and a constant. What can fail here is nothing
        // that closing the file would not mend.
        unsafe { libc::flock(self.0.as_raw_fd(), libc::LOCK_UN) };
    }
}

/// Takes the exclusive advisory lock of a file. Without `wait`, `false` says that somebody else holds it.
pub fn lock_exclusive(file: &File, wait: bool) -> io::Result<bool> {
    let operation = if wait {
        libc::LOCK_EX
    } else {
        libc::LOCK_EX | libc::LOCK_NB
    };
    loop {
        // SAFETY: flock takes an open descriptor and a constant.
        if unsafe { libc::flock(file.as_raw_fd(), operation) } == 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::Interrupted => {}
            io::ErrorKind::WouldBlock => return Ok(false),
            _ => return Err(error),
        }
    }
}

/// Reserves room for the first `len` bytes without changing the file's length, so that writing
/// them cannot run out of space. File systems that cannot promise this are taken as they are.
pub fn allocate(file: &File, len: u64) -> io::Result<()> {
    if len == 0 {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    {
        let len = libc::off_t::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        loop {
            // SAFETY: fallocate takes an open descriptor and numbers.
            let status =
                unsafe { libc::fallocate(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, 0, len) };
            if status == 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL) => return Ok(()),
                _ => return Err(error),
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        Ok(())
    }
}

/// Gives `to` the owner, group, mode, access list and extended attributes of `from`. An error
/// means that at least one of them could not be set and `to` must not take the place of `from`.
pub fn copy_attributes(from: &File, to: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    let (source, target) = (from.metadata()?, to.metadata()?);
    if (source.uid(), source.gid()) != (target.uid(), target.gid()) {
        std::os::unix::fs::fchown(to, Some(source.uid()), Some(source.gid()))?;
    }
    // Before the mode: attributes need a writable file, and an access list changes the mode.
    xattr::copy(from, to)?;
    // After the owner: a change of owner drops the set-user-id bits.
    to.set_permissions(std::fs::Permissions::from_mode(source.mode() & 0o7777))
}

/// Makes the entries of a directory durable, where the file system knows how.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOTSUP)) => Ok(()),
        result => result,
    }
}

/// Whether the mode lets anybody write. Asked of the mode because root may write to everything,
/// and a file without a write bit is meant to stay as it is.
pub fn is_writable_mode(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o222 != 0
}

#[cfg(target_os = "linux")]
mod xattr {
    use std::collections::BTreeMap;
    use std::ffi::{CStr, CString};
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::ptr;

    /// Makes the attributes of `to` equal to those of `from`. What is equal already (a security
    /// label, mostly) is not touched, since setting it may need a privilege.
    pub fn copy(from: &File, to: &File) -> io::Result<()> {
        let (wanted, mut present) = (all(from)?, all(to)?);
        for (name, value) in &wanted {
            if present.remove(name).as_ref() != Some(value) {
                set(to, name, value)?;
            }
        }
        // What is left came with the directory, such as its default access list.
        present.keys().try_for_each(|name| remove(to, name))
    }

    fn all(file: &File) -> io::Result<BTreeMap<CString, Vec<u8>>> {
        let fd = file.as_raw_fd();
        // SAFETY: the kernel writes at most `size` bytes to the buffer, or none when it is null.
        let names = read(|buffer, size| unsafe { libc::flistxattr(fd, buffer.cast(), size) });
        let names = match names {
            Err(error) if error.raw_os_error() == Some(libc::ENOTSUP) => return Ok(BTreeMap::new()),
            names => names?,
        };
        names
            .split_inclusive(|byte| *byte == 0)
            .filter_map(|name| CStr::from_bytes_with_nul(name).ok())
            .map(|name| {
                // SAFETY: as above, and `name` ends with its only zero byte.
                let value = read(|buffer, size| unsafe {
                    libc::fgetxattr(fd, name.as_ptr(), buffer, size)
                })?;
                Ok((name.to_owned(), value))
            })
            .collect()
    }

    /// Asks for the size and then for the bytes, again when they grew in between.
    fn read(call: impl Fn(*mut libc::c_void, usize) -> isize) -> io::Result<Vec<u8>> {
        let check = |status| usize::try_from(status).map_err(|_| io::Error::last_os_error());
        loop {
            let mut buffer = vec![0_u8; check(call(ptr::null_mut(), 0))?];
            if buffer.is_empty() {
                return Ok(buffer);
            }
            match check(call(buffer.as_mut_ptr().cast(), buffer.len())) {
                Ok(length) => {
                    buffer.truncate(length);
                    return Ok(buffer);
                }
                Err(error) if error.raw_os_error() == Some(libc::ERANGE) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn set(file: &File, name: &CStr, value: &[u8]) -> io::Result<()> {
        let (data, size) = (value.as_ptr().cast(), value.len());
        // SAFETY: `data` points at `size` readable bytes, `name` ends with a zero byte.
        match unsafe { libc::fsetxattr(file.as_raw_fd(), name.as_ptr(), data, size, 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn remove(file: &File, name: &CStr) -> io::Result<()> {
        // SAFETY: `name` ends with a zero byte.
        match unsafe { libc::fremovexattr(file.as_raw_fd(), name.as_ptr()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn attributes_become_equal() -> io::Result<()> {
            let (from, to) = (tempfile::tempfile()?, tempfile::tempfile()?);
            match set(&from, c"user.e.kept", b"\0binary") {
                // Not every file system has attributes; there is nothing to test on those.
                Err(error) if error.raw_os_error() == Some(libc::ENOTSUP) => return Ok(()),
                result => result?,
            }
            set(&from, c"user.e.empty", b"")?;
            set(&to, c"user.e.kept", b"other")?;
            set(&to, c"user.e.extra", b"gone")?;
            copy(&from, &to)?;
            assert_eq!(all(&to)?, all(&from)?);
            Ok(())
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod xattr {
    use std::fs::File;
    use std::io;

    /// Attributes are not copied here, so the caller keeps the inode instead of replacing it.
    pub fn copy(_: &File, _: &File) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_lock_excludes_other_opens() -> io::Result<()> {
        let file = tempfile::NamedTempFile::new()?;
        let (first, second) = (File::open(file.path())?, File::open(file.path())?);
        assert!(lock_exclusive(&first, false)?);
        assert!(!lock_exclusive(&second, false)?);
        drop(first);
        assert!(lock_exclusive(&second, true)?);
        Ok(())
    }

    #[test]
    fn allocation_keeps_the_length() -> io::Result<()> {
        let file = tempfile::tempfile()?;
        for len in [0, 1, 100_000] {
            allocate(&file, len)?;
            assert_eq!(file.metadata()?.len(), 0);
        }
        assert!(allocate(&file, u64::MAX).is_err());
        Ok(())
    }

    #[test]
    fn mode_and_owner_are_copied() -> io::Result<()> {
        let (from, to) = (tempfile::tempfile()?, tempfile::tempfile()?);
        for mode in [0o400, 0o4755, 0o640, 0o000] {
            from.set_permissions(std::fs::Permissions::from_mode(mode))?;
            copy_attributes(&from, &to)?;
            let (source, target) = (from.metadata()?, to.metadata()?);
            assert_eq!(target.mode() & 0o7777, mode);
            assert_eq!((target.uid(), target.gid()), (source.uid(), source.gid()));
            assert_eq!(is_writable_mode(&target), mode & 0o222 != 0);
        }
        Ok(())
    }

    #[test]
    fn a_directory_can_be_synced() -> io::Result<()> {
        sync_dir(tempfile::tempdir()?.path())?;
        assert!(sync_dir(Path::new("/no/such/directory")).is_err());
        Ok(())
    }
}
