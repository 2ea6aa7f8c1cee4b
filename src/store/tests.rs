use super::*;
use std::path::PathBuf;

#[test]
fn a_file_over_its_limit_is_refused_and_one_at_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, b"12345").unwrap();
    assert_eq!(read(&path, 5).unwrap(), b"12345");
    assert!(matches!(read(&path, 4), Err(StoreError::TooLarge { .. })));
    assert!(matches!(read(folder.path(), 5), Err(StoreError::NoFile { .. } | StoreError::Read { .. })));
    assert!(matches!(read(&folder.path().join("none"), 5), Err(StoreError::Read { .. })));
}

#[cfg(unix)]
#[test]
fn a_device_is_never_read() {
    assert!(matches!(read(Path::new("/dev/zero"), 1 << 20), Err(StoreError::NoFile { .. })));
}

#[test]
fn a_new_file_is_put_whole_and_never_over_an_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = Folder::at(folder.path().join("deep/er"));
    assert_eq!(store.list(".zst").unwrap(), Vec::<String>::new());
    store.put_new("b.zst", b"1").unwrap();
    store.put_new("a.zst", b"2").unwrap();
    assert!(matches!(store.put_new("a.zst", b"3"), Err(StoreError::Exists { .. })));
    assert_eq!(store.get("a.zst", 10).unwrap(), b"2");
    assert_eq!(store.list(".zst").unwrap(), ["a.zst", "b.zst"]);
    assert_eq!(fs::read_dir(store.path()).unwrap().count(), 2, "no temporary file is left");
}

#[test]
fn replacing_leaves_the_new_bytes_alone_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    replace(folder.path(), "r", b"old").unwrap();
    replace(folder.path(), "r", b"new").unwrap();
    assert_eq!(fs::read(folder.path().join("r")).unwrap(), b"new");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    remove(folder.path(), "r").unwrap();
    remove(folder.path(), "r").unwrap();
}

#[cfg(unix)]
#[test]
fn files_of_a_spec_stay_at_or_below_its_folder_once_links_are_resolved() {
    let root = tempfile::tempdir().unwrap();
    let (specs, other) = (root.path().join("specs"), root.path().join("other"));
    fs::create_dir_all(specs.join("data")).unwrap();
    fs::create_dir_all(&other).unwrap();
    fs::write(specs.join("data/l.csv"), "x").unwrap();
    fs::write(other.join("secret"), "x").unwrap();
    std::os::unix::fs::symlink(other.join("secret"), specs.join("link")).unwrap();
    std::os::unix::fs::symlink(&other, specs.join("dir")).unwrap();
    let try_it = |named: &str, allowed: &[PathBuf]| confine(&specs, Path::new(named), allowed);
    assert!(try_it("data/l.csv", &[]).is_ok());
    for named in ["link", "dir/secret", "../other/secret", "/etc/hostname", "../other/none", "data/../../other/secret"] {
        assert!(matches!(try_it(named, &[]), Err(StoreError::Outside { .. })), "{named}");
    }
    assert!(matches!(try_it("none", &[]), Err(StoreError::Read { .. })));
    let absolute = other.join("secret");
    assert!(try_it("../other/secret", std::slice::from_ref(&other)).is_ok());
    assert!(try_it(absolute.to_str().unwrap(), std::slice::from_ref(&other)).is_ok());
    assert!(matches!(try_it("/etc/hostname", &[other]), Err(StoreError::Outside { .. })));
}

#[test]
fn a_run_file_is_untouched_until_its_first_piece() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("run"), b"earlier").unwrap();
    let mut file = RunFile::at(folder.path(), "run");
    assert_eq!(fs::read(file.path()).unwrap(), b"earlier");
    file.append(b"a").unwrap();
    file.append(b"b").unwrap();
    file.sync().unwrap();
    assert_eq!(fs::read(file.path()).unwrap(), b"ab");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_without_waiting_for_a_writer() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(matches!(read(&pipe, 10), Err(StoreError::NoFile { .. })));
}

#[cfg(target_os = "linux")]
#[test]
fn two_writers_never_share_a_folder_and_the_next_may_have_it() {
    let folder = tempfile::tempdir().unwrap();
    let held = open_out(folder.path()).unwrap();
    assert!(matches!(open_out(folder.path()), Err(StoreError::Busy { .. })));
    drop(held);
    open_out(folder.path()).unwrap();
}
