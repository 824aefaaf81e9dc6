"""Namespaces: no network, no other processes, and a file system that holds next to nothing.

Works without root where the kernel lets anybody make a user namespace; see ``user_namespaces(7)``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from . import libc

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
EVERY = (
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
)

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

OLD_ROOT = "/.outside"
FOLDER = "/tmp"
"""The one folder that can be written to."""

MOST_FILES = 1024
"""Files and folders that fit into it."""

_MOUNT_POINTS = ("/tmp", "/var/tmp", "/run", "/mnt", "/proc")


def unshare() -> None:
    """Leave the host's namespaces; the process's children are in a process namespace of their own.

    Raises:
        OSError: the kernel does not allow it.
    """
    user, group = os.getuid(), os.getgid()
    libc.call("unshare", EVERY)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def enter_new_root(readable: Sequence[str], hidden: Sequence[str], size: int) -> None:
    """Exchange the whole file system for the folders named, read-only, and an empty :data:`FOLDER`.

    Args:
        readable: folders and files that are there under their own names.
        hidden: folders below those that are there but empty.
        size: bytes that fit into the folder.

    Raises:
        OSError: the kernel does not allow it.
    """
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    base = next(place for place in _MOUNT_POINTS if os.path.isdir(place))
    _mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    os.mkdir(base + OLD_ROOT)
    _pivot(base)
    for path in _outermost(readable):
        _bind(path)
    for path in hidden:
        if os.path.isdir(path):
            _mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, "size=4k,mode=555")
    _copy_links()
    _unmount(OLD_ROOT)
    os.rmdir(OLD_ROOT)
    os.makedirs(FOLDER, exist_ok=True)
    flags = MS_NOSUID | MS_NODEV
    _mount("tmpfs", FOLDER, "tmpfs", flags | MS_NOEXEC, f"size={size},nr_inodes={MOST_FILES},mode=700")
    _mount("none", "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | flags)
    os.chdir(FOLDER)


def _outermost(paths: Sequence[str]) -> list[str]:
    """The paths without those that lie within others."""
    found: list[str] = []
    for path in sorted({os.path.realpath(OLD_ROOT + one).removeprefix(OLD_ROOT) for one in paths}):
        if not found or not path.startswith(found[-1] + "/"):
            found.append(path)
    return found


def _bind(path: str) -> None:
    """Show a folder or file of the old root under its own name, read-only."""
    source = OLD_ROOT + path
    if os.path.isdir(source):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii"):
            pass
    # Not MS_REC: what is mounted below stays outside.
    _mount(source, path, None, MS_BIND)
    kept = os.statvfs(path).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
    _mount("none", path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | kept)


def _copy_links() -> None:
    """``/lib`` and the like, where the host has links: the loader looks for libraries there."""
    for name in ("/lib", "/lib64", "/usr/lib64"):
        if os.path.islink(OLD_ROOT + name) and not os.path.lexists(name) and os.path.isdir("/usr"):
            os.symlink(os.readlink(OLD_ROOT + name), name)


def _pivot(base: str) -> None:
    number = SYS_PIVOT_ROOT[os.uname().machine]
    libc.call("syscall", number, base.encode(), (base + OLD_ROOT).encode())
    os.chdir("/")


def _mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    encoded = None if kind is None else kind.encode()
    libc.call("mount", source.encode(), target.encode(), encoded, flags, options.encode())


def _unmount(target: str) -> None:
    libc.call("umount2", target.encode(), MNT_DETACH)
