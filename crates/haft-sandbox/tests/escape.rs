//! Attempts to get out, for real. Each is tried unconfined first where that harms nobody, to know that it works.
#![allow(clippy::unwrap_used, reason = "these are tests, though not all in test functions")]

mod common;

use std::fs::{self, File, OpenOptions};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Child, Command};

use common::{World, is_full, listing, machine, prepare};
use haft_sandbox::{Network, Profile};

/// Whether an attempt is made unconfined first.
enum Control {
    /// It then succeeds.
    Works,
    /// It would do harm, or needs what this machine may lack.
    Skipped,
}
use Control::{Skipped, Works};

/// Prints `ESCAPED` if it got out. `OUT` is outside, the working directory is the workspace.
const ATTEMPTS: &[(&str, Control, &str)] = &[
    ("write", Works, "echo x > $OUT/new && echo ESCAPED"),
    ("append", Works, "echo x >> $OUT/file && echo ESCAPED"),
    ("truncate", Works, "truncate -s 0 $OUT/file && echo ESCAPED"),
    ("unlink", Works, "rm -f $OUT/file && echo ESCAPED"),
    ("make a directory", Works, "mkdir $OUT/d && echo ESCAPED"),
    ("make a pipe", Works, "mkfifo $OUT/p && echo ESCAPED"),
    (
        "rename in",
        Works,
        "python3 -c 'import os;os.rename(os.environ[\"OUT\"]+\"/file\",\"f\")' && echo ESCAPED",
    ),
    (
        "rename out",
        Works,
        "echo x > f; python3 -c 'import os;os.rename(\"f\",os.environ[\"OUT\"]+\"/f\")' && echo ESCAPED",
    ),
    ("rename the workspace", Works, "mv $WS $WS.2 && echo ESCAPED; mv $WS.2 $WS"),
    ("hard link in", Works, "ln $OUT/file l && echo ESCAPED"),
    ("hard link out", Works, "echo x > f; ln f $OUT/l && echo ESCAPED"),
    ("write through a link", Works, "ln -s $OUT o; echo x > o/new && echo ESCAPED"),
    ("write through a link to a file", Works, "ln -s $OUT/file o; echo x > o && echo ESCAPED"),
    ("write through /proc/self/root", Works, "echo x > /proc/self/root$OUT/new && echo ESCAPED"),
    ("write through /proc/self/cwd", Works, "cd $OUT; echo x > /proc/self/cwd/new && echo ESCAPED"),
    ("write through standard input", Works, "echo x > /proc/self/fd/0 && echo ESCAPED"),
    ("write through /dev/stdin", Works, "echo x >> /dev/stdin && echo ESCAPED"),
    ("write to a pipe of the host", Works, "echo x > $OUT/fifo && echo ESCAPED"),
    ("chmod", Works, "chmod 777 $OUT/file && echo ESCAPED"),
    ("touch", Works, "touch -d 2001-01-01 $OUT/file && echo ESCAPED"),
    (
        "xattr",
        Works,
        "python3 -c 'import os;os.setxattr(os.environ[\"OUT\"]+\"/file\",\"user.x\",b\"1\")' && echo ESCAPED",
    ),
    ("chown", Skipped, "chown 1 $OUT/file && echo ESCAPED"),
    ("write as root", Skipped, "echo x > /etc/haft-escape && echo ESCAPED"),
    ("tcp", Works, "(echo hi > /dev/tcp/127.0.0.1/$TCP) && echo ESCAPED"),
    (
        "udp",
        Works,
        "python3 -c 'import os,socket;s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);s.sendto(b\"x\",(\"127.0.0.1\",int(os.environ[\"UDP\"])))' && echo ESCAPED",
    ),
    (
        "tcp over ipv6",
        Skipped,
        "python3 -c 'import socket;socket.socket(socket.AF_INET6,socket.SOCK_STREAM)' && echo ESCAPED",
    ),
    (
        "packets",
        Skipped,
        "python3 -c 'import socket;socket.socket(socket.AF_PACKET,socket.SOCK_RAW)' && echo ESCAPED",
    ),
    (
        "virtual machine sockets",
        Skipped,
        "python3 -c 'import socket;socket.socket(socket.AF_VSOCK,socket.SOCK_STREAM)' && echo ESCAPED",
    ),
    (
        "unix socket outside",
        Works,
        "python3 -c 'import os,socket;socket.socket(socket.AF_UNIX).connect(os.environ[\"OUT\"]+\"/s\")' && echo ESCAPED",
    ),
    (
        "unix socket of the host in the workspace",
        Works,
        "python3 -c 'import socket;socket.socket(socket.AF_UNIX).connect(\"s\")' && echo ESCAPED",
    ),
    (
        "abstract unix socket",
        Works,
        "python3 -c 'import os,socket;socket.socket(socket.AF_UNIX).connect(\"\\0\"+os.environ[\"ABSTRACT\"])' && echo ESCAPED",
    ),
    ("signal", Works, "kill -0 $HOST && echo ESCAPED"),
    ("signal everybody", Skipped, "trap '' TERM; kill -TERM -1; true"),
    (
        "ptrace",
        Skipped,
        "python3 -c 'import ctypes,os,sys;sys.exit(ctypes.CDLL(None).ptrace(16,int(os.environ[\"HOST\"]),0,0) != 0)' && echo ESCAPED",
    ),
    (
        "ptrace of its own",
        Works,
        "sleep 5 & python3 -c 'import ctypes,sys;sys.exit(ctypes.CDLL(None).ptrace(16,int(sys.argv[1]),0,0) != 0)' $! && echo ESCAPED; kill $!",
    ),
    (
        "environment of the host",
        Works,
        "tr '\\0' '\\n' < /proc/$HOST/environ | grep -q HOST_CANARY && echo ESCAPED",
    ),
    ("environment of the parent", Skipped, "cat /proc/1/environ /proc/$PPID/environ && echo ESCAPED"),
    ("memory of the parent", Skipped, "head -c1 /proc/1/mem /proc/1/maps && echo ESCAPED"),
    ("root of the parent", Skipped, "ls /proc/1/root/ /proc/1/cwd/ /proc/1/fd/ && echo ESCAPED"),
    ("processes of the host", Works, "[ $(ls /proc | grep -c '^[0-9]') -gt 12 ] && echo ESCAPED"),
    ("user namespace", Works, "unshare -U true && echo ESCAPED"),
    ("mount namespace", Skipped, "unshare -m true && echo ESCAPED"),
    ("network namespace", Skipped, "unshare -n true && echo ESCAPED"),
    ("mount", Skipped, "mount -t tmpfs x $WS && echo ESCAPED"),
    ("remount", Skipped, "mount -o remount,rw / && echo ESCAPED"),
    ("unmount", Skipped, "umount -l /proc || umount -l /run || umount -l $WS && echo ESCAPED"),
    ("chroot", Skipped, "chroot / true && echo ESCAPED"),
    ("device node", Skipped, "mknod n b 254 0 && echo ESCAPED"),
    (
        "disks",
        Skipped,
        "ls /dev/vda /dev/sda /dev/nvme0 /dev/mem /dev/kmsg /dev/fuse /dev/kvm 2>/dev/null | grep . && echo ESCAPED",
    ),
    (
        "kernel settings",
        Skipped,
        "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern && echo ESCAPED",
    ),
    ("host name", Skipped, "hostname haft-escape && echo ESCAPED"),
    (
        "control groups",
        Skipped,
        "mkdir /sys/fs/cgroup/haft-escape /sys/fs/cgroup/*/haft-escape 2>/dev/null && echo ESCAPED",
    ),
    ("capabilities", Works, "grep -q 'NoNewPrivs:.0' /proc/self/status && echo ESCAPED"),
    (
        "capabilities by exec",
        Skipped,
        "grep -E 'Cap(Eff|Prm|Bnd|Amb|Inh)' /proc/self/status | grep -qv 0000000000000000 && echo ESCAPED",
    ),
    ("a secret", Works, "grep -q SECRET $HOME/.ssh/id && echo ESCAPED"),
    ("a secret through a link", Works, "ln -s $HOME/.ssh k; grep -q SECRET k/id && echo ESCAPED"),
    ("the home directory", Works, "echo x > $HOME/note && echo ESCAPED"),
    ("repository configuration", Works, "git config core.fsmonitor evil && echo ESCAPED"),
    ("repository configuration, renamed over", Works, "echo x > c; mv c .git/config && echo ESCAPED"),
    ("a hook", Works, "echo x > .git/hooks/pre-commit && echo ESCAPED"),
    ("repository moved away", Works, "mv .git moved && echo ESCAPED"),
    ("repository removed", Works, "rm -rf .git; [ -e .git/config ] || echo ESCAPED"),
    ("an editor's settings", Works, "echo x > .vscode/tasks.json && echo ESCAPED"),
    ("an editor's settings moved away", Works, "mv .vscode v && echo ESCAPED"),
    ("an editor's settings by hard link", Works, "ln .vscode/tasks.json t && echo ESCAPED"),
    ("protected by a chmod", Works, "chmod 777 .vscode/tasks.json && echo ESCAPED"),
];

/// System calls by number and name of the machine, with what is expected: they are made with no arguments.
const CALLS: &[(&str, u32, u32)] = &[
    ("io_uring_setup", 425, 425),
    ("bpf", 321, 280),
    ("keyctl", 250, 219),
    ("perf_event_open", 298, 241),
    ("clone3", 435, 435),
];

/// What the host has that could be reached, for as long as this lives.
struct Host {
    world: World,
    sleeper: Child,
    _held: (TcpListener, UdpSocket, UnixListener, UnixListener, UnixListener, File),
}

impl Host {
    fn new() -> Host {
        let mut world = World::new();
        prepare(
            &world,
            "git init -q . && mkdir .vscode $HOME/.ssh && echo old > .vscode/tasks.json && \
             echo SECRET > $HOME/.ssh/id && mkfifo $OUT/fifo && chmod 640 $OUT/file",
        );
        let sleeper = Command::new("sleep").arg("600").env("HOST_CANARY", "1").spawn().unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let abstract_name = format!("haft-sandbox-{}", sleeper.id());
        world.env = vec![
            ("HOST".to_owned(), sleeper.id().to_string()),
            ("TCP".to_owned(), tcp.local_addr().unwrap().port().to_string()),
            ("UDP".to_owned(), udp.local_addr().unwrap().port().to_string()),
            ("ABSTRACT".to_owned(), abstract_name.clone()),
        ];
        let bind = |directory: &std::path::Path| UnixListener::bind(directory.join("s")).unwrap();
        let outside = bind(&world.out);
        let within = bind(&world.ws);
        let hidden =
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(abstract_name).unwrap()).unwrap();
        let fifo = OpenOptions::new().read(true).write(true).open(world.out.join("fifo")).unwrap();
        Host { world, sleeper, _held: (tcp, udp, outside, within, hidden, fifo) }
    }

    fn attempt(&self, profile: &Profile, script: &str) -> String {
        let stdin = Some(File::open(self.world.out.join("file")).unwrap().into());
        self.world.try_run(machine(), profile, script, stdin).unwrap().output
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.sleeper.kill().ok();
        self.sleeper.wait().ok();
    }
}

#[test]
fn every_attempt_fails_confined_that_works_unconfined() {
    if !is_full() {
        return;
    }
    let mut wrong = Vec::new();
    for (name, control, script) in ATTEMPTS {
        if let Works = control {
            let host = Host::new();
            let output = host.attempt(&Profile::full_access(), script);
            if !output.contains("ESCAPED") {
                wrong.push(format!("{name}: proves nothing, it fails unconfined too: {output}"));
            }
        }
        let mut host = Host::new();
        let before = listing(&host.world.out);
        let git = listing(&host.world.ws.join(".git"));
        let output = host.attempt(&host.world.profile(), script);
        if output.contains("ESCAPED") {
            wrong.push(format!("{name}: {output}"));
        }
        if listing(&host.world.out) != before {
            wrong.push(format!("{name}: changed what is outside: {output}"));
        }
        let protected = |listing: &str| {
            let lines =
                listing.lines().filter(|line| line.starts_with("hooks") || line.starts_with("config"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        if protected(&listing(&host.world.ws.join(".git"))) != protected(&git) {
            wrong.push(format!("{name}: changed the repository: {output}"));
        }
        if host.sleeper.try_wait().unwrap().is_some() {
            wrong.push(format!("{name}: ended a process of the host"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn calls_that_are_often_the_way_through_a_kernel_are_refused() {
    if !is_full() {
        return;
    }
    let world = World::new();
    for (name, x86, arm) in CALLS {
        let number = if cfg!(target_arch = "x86_64") { x86 } else { arm };
        let script = format!(
            "python3 -c 'import ctypes;c=ctypes.CDLL(None,use_errno=True);print(c.syscall({number},0,0,0,0,0,0),ctypes.get_errno())'"
        );
        let output = world.run(&world.profile(), &script).output;
        assert!(output.trim() == "-1 38" || output.trim() == "-1 1", "{name}: {output}");
    }
}

#[test]
fn nothing_is_inherited_but_the_standard_streams() {
    let world = World::new();
    // A descriptor that this process forgot to close on exec.
    let leak = File::open("/etc/passwd").unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    let ran = world.run(&Profile::full_access(), "ls -l /proc/self/fd");
    assert!(!ran.output.contains("passwd"), "{}", ran.output);
    if is_full() {
        let ran =
            world.run(&world.profile(), "ls -l /proc/self/fd; grep -E 'Sig(Ign|Blk)' /proc/self/status");
        assert!(!ran.output.contains("passwd") && !ran.output.contains("socket:"), "{}", ran.output);
        assert_eq!(ran.output.matches("0000000000000000").count(), 2, "{}", ran.output);
    }
}

#[test]
fn the_read_only_profile_changes_nothing() {
    if !is_full() {
        return;
    }
    let world = World::new();
    let mut profile = Profile::read_only();
    profile.readable.push(world.ws.clone());
    let ran = world
        .run(&profile, "echo x > f; mkdir d; echo t > /tmp/t && cat /tmp/t && cat /etc/passwd | head -1");
    assert_eq!(listing(&world.ws), "");
    assert!(ran.output.contains("Read-only file system") && ran.output.contains("root:"), "{}", ran.output);
}

#[test]
fn a_loopback_is_private_and_a_host_network_is_the_hosts() {
    if !is_full() {
        return;
    }
    let host = Host::new();
    let reach = "(echo hi > /dev/tcp/127.0.0.1/$TCP) && echo REACHED";
    let serve = "python3 -c 'import socket;l=socket.create_server((\"127.0.0.1\",0));c=socket.create_connection(l.getsockname());print(\"SERVED\")'";
    let with = |network| Profile { network, ..host.world.profile() };
    let loopback = host.attempt(&with(Network::Loopback), &format!("{serve}; {reach}"));
    assert!(loopback.contains("SERVED") && !loopback.contains("REACHED"), "{loopback}");
    let open = host.attempt(&with(Network::Host), &format!("{serve}; {reach}"));
    assert!(open.contains("SERVED") && open.contains("REACHED"), "{open}");
    // The host's network does not bring its unix sockets with it.
    let local = host.attempt(
        &with(Network::Host),
        "python3 -c 'import os,socket;socket.socket(socket.AF_UNIX).connect(\"\\0\"+os.environ[\"ABSTRACT\"])' && echo ESCAPED",
    );
    assert!(!local.contains("ESCAPED"), "{local}");
}

#[test]
fn what_is_protected_but_absent_cannot_come_to_be() {
    if !is_full() {
        return;
    }
    let attempts = [
        "mkdir -p .haft && echo '{}' > .haft/haft.json",
        "echo x > .envrc",
        "mkdir d; echo x > d/tasks.json; mv d .vscode",
        "ln -s $OUT .opencode; echo x > opencode.json",
        "rm -rf .haft .vscode .mcp.json; mkdir -p .husky/_",
        "mkdir -p .haft/a/b; echo x > .haft/a/b/c; chmod 0 .haft/a/b; chmod 555 .haft/a .haft; sleep 0.1",
        "for i in $(seq 40); do mkdir -p .haft 2> /dev/null; echo x > .haft/x; sleep 0.005; done 2> /dev/null",
    ];
    for script in attempts {
        for is_masked in [false, true] {
            let world = World::new();
            let profile = if is_masked { world.profile().with_masks() } else { world.profile() };
            let ran = world.run(&profile, script);
            let left =
                fs::read_dir(&world.ws).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
            assert!(left.iter().all(|name| name == "d"), "{script}: {left:?}");
            assert_eq!(listing(&world.out).lines().count(), 1, "{script}");
            // By a mask the command is told; otherwise the caller is.
            assert!(is_masked || !ran.finished.removed.is_empty(), "{script}");
            assert!(!is_masked || ran.finished.removed.is_empty(), "{script}");
        }
    }
}

#[test]
fn hooks_that_are_absent_in_a_repository_stay_so_and_a_pointer_stays_what_it_is() {
    if !is_full() {
        return;
    }
    let world = World::new();
    prepare(&world, "git init -q . && rm -r .git/hooks");
    let ran = world.run(
        &world.profile(),
        "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; echo ../x > .git/commondir",
    );
    assert!(ran.output.contains("Read-only file system"), "{}", ran.output);
    assert!(!world.ws.join(".git/hooks").exists() && !world.ws.join(".git/commondir").exists());

    let world = World::new();
    prepare(&world, "git init -q $OUT/real && echo gitdir: $OUT/real/.git > .git");
    world.run(&world.profile(), "echo gitdir: /tmp/evil > .git; rm -f .git; mv .git x; ln -sf /tmp .git");
    assert!(fs::read_to_string(world.ws.join(".git")).unwrap().contains("real"));

    let world = World::new();
    prepare(&world, "mkdir v && ln -s v .vscode && echo old > v/tasks.json");
    let ran = world.run(
        &world.profile(),
        "echo x > .vscode/tasks.json; rm .vscode; mkdir .vscode; echo x > .vscode/tasks.json",
    );
    assert_eq!(fs::read_to_string(world.ws.join(".vscode/tasks.json")).unwrap(), "old\n");
    assert_eq!(ran.removed(), [world.ws.join(".vscode")]);
}

#[test]
fn who_may_see_everything_sees_nothing_private() {
    if !is_full() {
        return;
    }
    let (mut world, hosts) = (World::new(), tempfile::tempdir_in("/tmp").unwrap());
    world.env.push(("HOSTS".to_owned(), hosts.path().to_string_lossy().into_owned()));
    let mut profile = world.profile();
    profile.readable.push("/".into());
    let ran =
        world.run(&profile, "ls -d /etc $OUT; ls -d $HOSTS || echo private; ls /proc | grep -c '^[0-9]'");
    assert!(ran.output.contains("/etc\n") && ran.output.contains("private"), "{}", ran.output);
    let processes: u32 = ran.output.lines().last().unwrap().parse().unwrap();
    assert!(processes < 10, "{}", ran.output);
}

#[test]
fn what_is_hidden_is_replaced_by_nothing_of_the_host() {
    if !is_full() {
        return;
    }
    let world = World::new();
    let (outer, inner) = (world.home.join("data"), world.home.join("data/inner"));
    fs::create_dir_all(&inner).unwrap();
    fs::write(inner.join("secret"), "x").unwrap();
    let mut profile = world.profile();
    profile.hidden.extend([outer, inner]);
    let ran = world.run(&profile, "find ~/data; ls ~/data/inner; touch ~/data/x; echo done");
    let shown = ran.output.lines().filter(|line| line.starts_with(world.home.to_str().unwrap())).count();
    assert!(ran.output.contains("done") && !ran.output.contains("secret") && shown <= 1, "{}", ran.output);
}

#[test]
fn what_is_hidden_stays_where_it_is_and_so_does_what_it_lies_in() {
    if !is_full() {
        return;
    }
    let world = World::new();
    fs::create_dir_all(world.ws.join("share/haft")).unwrap();
    fs::write(world.ws.join("share/haft/key"), "secret").unwrap();
    let mut profile = world.profile();
    profile.hidden.push(world.ws.join("share/haft"));
    let ran = world.run(
        &profile,
        "mv share moved; cat */haft/key; rm -rf share; mkdir -p share/haft; echo forged > share/haft/key",
    );
    assert!(!ran.output.contains("secret"), "{}", ran.output);
    assert_eq!(fs::read_to_string(world.ws.join("share/haft/key")).unwrap(), "secret", "{}", ran.output);
}
