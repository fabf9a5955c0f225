"""`hammerspace push` and `follow` against moto's S3 server, by way of a proxy that fails as networks do.

    moto.py HAMMERSPACE SCRATCH

Commands are killed with SIGKILL, answered 500 and 503, slowly, in part, or not at all after they took effect. After each
step the followed space must verify and be one published version, whole.
"""

import http.client
import http.server
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import boto3

HAMMERSPACE, SCRATCH = sys.argv[1], Path(sys.argv[2])
SEED = 20261125
BUCKET = "tables"
URL = f"s3://{BUCKET}/words"


class Proxy(http.server.BaseHTTPRequestHandler):
    """Forwards to the server, unless `faults` draws something else."""

    protocol_version = "HTTP/1.1"
    server_port = 0
    faults = {}
    rng = random.Random(SEED)
    lock = threading.Lock()
    drawn = 0

    def log_message(self, *_):
        pass

    def handle(self):
        """A killed command hangs up at any moment."""
        try:
            super().handle()
        except OSError:
            self.close_connection = True

    def draw(self):
        with Proxy.lock:
            at = Proxy.rng.random()
            for fault, share in Proxy.faults.items():
                if at < share:
                    Proxy.drawn += 1
                    return fault
                at -= share
        return None

    def forward(self):
        fault = self.draw()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if fault == "slow":
            time.sleep(0.3)
        if fault in ("500", "503"):
            self.answer(int(fault), [], b"<Error><Code>SlowDown</Code></Error>")
            return
        upstream = http.client.HTTPConnection("127.0.0.1", Proxy.server_port, timeout=30)
        # A torn upload: the server sees half of it, and the connection goes.
        if fault == "torn" and body:
            with socket.create_connection(("127.0.0.1", Proxy.server_port)) as half:
                head = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
                half.sendall(f"{self.command} {self.path} HTTP/1.1\r\n{head}\r\n".encode() + body[: len(body) // 2])
            self.drop()
            return
        upstream.request(self.command, self.path, body or None, dict(self.headers))
        answer = upstream.getresponse()
        payload = answer.read()
        upstream.close()
        if fault == "unanswered":
            self.drop()
            return
        self.answer(answer.status, answer.getheaders(), payload, cut=fault == "cut")

    def answer(self, status, headers, payload, cut=False):
        self.send_response(status)
        length = next((value for name, value in headers if name.lower() == "content-length"), len(payload))
        for name, value in headers:
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload[: len(payload) // 2] if cut else payload)
        if cut:
            self.drop()

    def drop(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = forward


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_server():
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(300):
        try:
            request = urllib.request.Request(f"http://127.0.0.1:{port}/{BUCKET}", method="PUT")
            urllib.request.urlopen(request, timeout=5).read()
            return server, port
        except urllib.error.HTTPError:
            raise
        except OSError:
            time.sleep(0.1)
    raise SystemExit("moto's server does not answer")


def run(*words, check=True):
    ran = subprocess.run([HAMMERSPACE, "--json", *map(str, words)], capture_output=True, text=True, timeout=120)
    if check and ran.returncode:
        raise SystemExit(f"{words}: {ran.returncode} {ran.stdout} {ran.stderr}")
    return ran


def begin(*words):
    return subprocess.Popen(
        [HAMMERSPACE, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def load(space, version, first, count, replace=False):
    rng = random.Random(version)
    lines = [f"version\t{version}"] + [f"key {at}\t{rng.randbytes(200).hex()}" for at in range(first, first + count)]
    table = SCRATCH / f"{space.name}.tsv"
    table.write_text("\n".join(lines) + "\n")
    run("load", space, table, *(["--replace"] if replace else []))
    return contents(space)


def contents(space):
    ran = subprocess.run([HAMMERSPACE, "export", str(space), "--format", "tsv"], capture_output=True, text=True, check=True)
    return ran.stdout


def check(space, published):
    if not (space / "current").is_symlink():
        return
    run("verify", space)
    assert contents(space) in published, "a mix"


def versions(port):
    s3 = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}")
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix="words/versions/")
    names = sorted(found["Key"] for page in pages for found in page.get("Contents", []))
    return [json.load(s3.get_object(Bucket=BUCKET, Key=name)["Body"]) for name in names]


def kills(source, target, published, rng):
    """Pushers and followers are killed at any moment; the next ones go on."""
    for version in range(2, 12):
        published.append(load(source, version, version % 4 * 3000, 4000, replace=version % 4 == 0))
        for command in (("push", source, URL), ("follow", URL, target, "--once", "--no-report")):
            for _ in range(2):
                process = begin(*command)
                time.sleep(rng.random() * 0.15)
                process.send_signal(signal.SIGKILL)
                process.wait()
                check(target, published)
            ran = run(*command, check=False)
            check(target, published)
            assert ran.returncode in (0, 4), ran.stderr


def races(port):
    """Sixteen pushers at once: each gets a number of its own, and none is lost."""
    spaces = [SCRATCH / f"racer-{at}" for at in range(16)]
    for at, space in enumerate(spaces):
        load(space, 1000 + at, 0, 20)
    before = versions(port)[-1]["number"]
    pushes = [
        subprocess.Popen([HAMMERSPACE, "--json", "push", str(space), URL], stdout=subprocess.PIPE, text=True)
        for space in spaces
    ]
    numbers = [json.loads(push.communicate(timeout=120)[0])["version"] for push in pushes]
    assert sorted(numbers) == list(range(before + 1, before + 17)), numbers


def linear(port):
    history = versions(port)
    assert [version["number"] for version in history] == list(range(1, len(history) + 1))
    assert all(version["parent"] == version["number"] - 1 for version in history)
    assert len({version["push"] for version in history}) == len(history), "a push took two numbers"


def main():
    server, Proxy.server_port = start_server()
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    proxy.daemon_threads = True
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    os.environ.update(
        AWS_ENDPOINT_URL=f"http://127.0.0.1:{proxy.server_port}",
        AWS_ACCESS_KEY_ID="testing",
        AWS_SECRET_ACCESS_KEY="testing",
        AWS_REGION="us-east-1",
        AWS_DEFAULT_REGION="us-east-1",
    )
    try:
        source, target = SCRATCH / "source", SCRATCH / "target"
        published = [load(source, 1, 0, 4000)]
        run("fleet", "check", URL)
        run("push", source, URL)
        run("follow", URL, target, "--once", "--name", "web-1")
        assert contents(target) == published[0]
        assert json.loads(run("fleet", "status", URL).stdout)["current_percent"] == 100

        Proxy.faults = {"500": 0.04, "503": 0.04, "slow": 0.02, "torn": 0.03, "unanswered": 0.03, "cut": 0.03}
        kills(source, target, published, random.Random(SEED))
        assert Proxy.drawn > 20, f"{Proxy.drawn} faults"
        Proxy.faults = {}
        run("push", source, URL)
        run("follow", URL, target, "--once", "--no-report")
        assert contents(target) == published[-1]
        races(Proxy.server_port)
        linear(Proxy.server_port)
        run("fleet", "rollback", URL, "1")
        run("follow", URL, target, "--once", "--no-report")
        assert contents(target) == published[0]
        print(f"fleet: {len(versions(Proxy.server_port))} versions, {Proxy.drawn} faults")
    finally:
        server.kill()
        server.wait()


main()
