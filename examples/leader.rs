// SPDX-License-Identifier: Apache-2.0
//! From Rust, through plain FFI: leads, watches a node, and writes it as long
//! as the term lasts.
//!
//!     rustc leader.rs -l dylib=zkrecipes && ./leader 127.0.0.1:2181 /services/mail
//!
//! What it repeats of the headers it compares with layout.txt of the
//! installation, which has more structures. What C calls an enum is a number here: a later library may tell
//! others than today's names. Each call that fails leaves its sentence with the
//! thread: so it is read at once.
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::mem::{offset_of, size_of};
use std::ptr::{null, null_mut};
use std::sync::mpsc::{channel, Sender};
use std::time::Duration;

const ANY_VERSION: i32 = -1;
const ZNONODE: c_int = -101;
const WATCH_DATA: c_int = 1;
const GAINED: c_int = 1;

#[repr(C)]
struct TxnOpts {
    size: usize,
    guard: *mut c_void,
}

#[repr(C)]
struct LeaderEvent {
    kind: c_int,
    error: c_int,
    token: i64,
}

/// Of struct zkr_reply, as far as we read it: the library makes it.
#[repr(C)]
struct Reply {
    data: *const u8,
    len: usize,
}

fn check_layout() {
    let path = std::env::var("ZKRECIPES_LAYOUT").unwrap_or("/usr/share/zkrecipes/layout.txt".into());
    let Ok(listing) = std::fs::read_to_string(&path) else {
        return eprintln!("not compared: no {path}");
    };
    for (name, number) in [
        ("ZKR_ZNONODE", ZNONODE as isize),
        ("ZKR_WATCH_DATA", WATCH_DATA as isize),
        ("ZKR_LEADER_GAINED", GAINED as isize),
        ("zkr_txn_opts", size_of::<TxnOpts>() as isize),
        ("zkr_txn_opts.size", offset_of!(TxnOpts, size) as isize),
        ("zkr_txn_opts.guard", offset_of!(TxnOpts, guard) as isize),
        ("zkr_leader_event.kind", offset_of!(LeaderEvent, kind) as isize),
        ("zkr_leader_event.error", offset_of!(LeaderEvent, error) as isize),
        ("zkr_leader_event.token", offset_of!(LeaderEvent, token) as isize),
        ("zkr_reply.data", offset_of!(Reply, data) as isize),
        ("zkr_reply.len", offset_of!(Reply, len) as isize),
    ] {
        let fact = [name, &number.to_string()];
        assert!(listing.lines().any(|line| line.split(' ').take(2).eq(fact)), "{fact:?}");
    }
}

type LeaderFn = extern "C" fn(*mut c_void, *const LeaderEvent, *mut c_void);
type WatchFn = extern "C" fn(c_int, *const Reply, c_int, *mut c_void);

#[link(name = "zkrecipes")]
extern "C" {
    fn zkr_error_detail() -> *const c_char;
    fn zkr_session_open(hosts: *const c_char, opts: *const c_void, ret: *mut *mut c_void) -> c_int;
    fn zkr_session_close(session: *mut c_void) -> c_int;
    fn zkr_session_watch(
        session: *mut c_void, path: *const c_char, what: c_int, opts: *const c_void, told: WatchFn,
        user: *mut c_void, ret: *mut *mut c_void,
    ) -> c_int;
    fn zkr_watch_free(watch: *mut c_void);
    fn zkr_leader_new(
        session: *mut c_void, path: *const c_char, opts: *const c_void, told: LeaderFn,
        user: *mut c_void, ret: *mut *mut c_void,
    ) -> c_int;
    fn zkr_leader_campaign(leader: *mut c_void) -> c_int;
    fn zkr_leader_wait(leader: *mut c_void, timeout_ms: i64) -> c_int;
    fn zkr_leader_grant(leader: *mut c_void, ret: *mut *mut c_void) -> c_int;
    fn zkr_leader_leave(leader: *mut c_void) -> c_int;
    fn zkr_leader_free(leader: *mut c_void);
    fn zkr_grant_free(grant: *mut c_void);
    fn zkr_txn_new(session: *mut c_void, opts: *const TxnOpts, ret: *mut *mut c_void) -> c_int;
    fn zkr_txn_set(txn: *mut c_void, path: *const c_char, data: *const u8, len: usize, version: i32) -> c_int;
    fn zkr_txn_create(
        txn: *mut c_void, path: *const c_char, data: *const u8, len: usize, opts: *const c_void,
    ) -> c_int;
    fn zkr_txn_commit(txn: *mut c_void, timeout_ms: i64) -> c_int;
    fn zkr_txn_free(txn: *mut c_void);
}

struct Error(c_int, String);

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}", self.1)
    }
}

fn check(code: c_int) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    let detail = unsafe { CStr::from_ptr(zkr_error_detail()) };
    Err(Error(code, detail.to_string_lossy().into_owned()))
}

/// An object, which is freed where its owner ends.
struct Owned(*mut c_void, Free);

type Free = unsafe extern "C" fn(*mut c_void);

impl Drop for Owned {
    fn drop(&mut self) {
        unsafe { (self.1)(self.0) }
    }
}

unsafe extern "C" fn close(session: *mut c_void) {
    zkr_session_close(session);
}

fn made(free: Free, call: impl FnOnce(*mut *mut c_void) -> c_int) -> Result<Owned, Error> {
    let mut object = null_mut();

    check(call(&mut object))?;
    Ok(Owned(object, free))
}

/// Refused when the term is over, even when we have not been told yet.
fn write(term: &Owned, node: &CStr, data: &str) -> Result<(), Error> {
    let opts = TxnOpts { size: size_of::<TxnOpts>(), guard: term.0 };
    let commit = |create: bool| unsafe {
        let txn = made(zkr_txn_free, |ret| zkr_txn_new(null_mut(), &opts, ret))?;

        check(if create {
            zkr_txn_create(txn.0, node.as_ptr(), data.as_ptr(), data.len(), null())
        } else {
            zkr_txn_set(txn.0, node.as_ptr(), data.as_ptr(), data.len(), ANY_VERSION)
        })?;
        check(zkr_txn_commit(txn.0, 5000))
    };

    match commit(false) {
        Err(Error(ZNONODE, _)) => commit(true),
        end => end,
    }
}

// Callbacks run on a thread of the library. A panic must not leave them.
extern "C" fn led(_: *mut c_void, event: *const LeaderEvent, _: *mut c_void) {
    let event = unsafe { &*event };

    println!("{}, term {}", if event.kind == GAINED { "it leads" } else { "do not act" }, event.token);
}

extern "C" fn seen(error: c_int, reply: *const Reply, _why: c_int, user: *mut c_void) {
    if error != 0 || unsafe { (*reply).data.is_null() } {
        return;
    }
    let data = unsafe { std::slice::from_raw_parts((*reply).data, (*reply).len) };
    let told = unsafe { &*(user as *const Sender<Vec<u8>>) };

    let _ = told.send(data.to_vec());
}

fn run(hosts: &str, path: &str) -> Result<(), Error> {
    let c = |text: &str| CString::new(text).expect("a NUL in an argument");
    let (hosts, node, path) = (c(hosts), c(&format!("{path}-state")), c(path));
    let (told, states) = channel::<Vec<u8>>();
    let step = format!("step of {}", std::process::id());

    unsafe {
        let session = made(close, |ret| zkr_session_open(hosts.as_ptr(), null(), ret))?;
        let user = &told as *const _ as *mut c_void;
        let _watch = made(zkr_watch_free, |ret| {
            zkr_session_watch(session.0, node.as_ptr(), WATCH_DATA, null(), seen, user, ret)
        })?;
        let leader = made(zkr_leader_free, |ret| {
            zkr_leader_new(session.0, path.as_ptr(), null(), led, null_mut(), ret)
        })?;

        check(zkr_leader_campaign(leader.0))?;
        check(zkr_leader_wait(leader.0, 60000))?;
        let term = made(zkr_grant_free, |ret| zkr_leader_grant(leader.0, ret))?;
        write(&term, &node, &step)?;
        while states.recv_timeout(Duration::from_secs(60)).expect("no news") != step.as_bytes() {}
        println!("{step}: written, and seen");
        check(zkr_leader_leave(leader.0))
    }
}

fn main() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().collect();
    let word = |i: usize, other| words.get(i).map_or(other, String::as_str);

    check_layout();
    run(word(1, "127.0.0.1:2181"), word(2, "/services/mail"))
}
