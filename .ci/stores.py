"""The checks of `.ci/stores`: usage: stores.py PROGRAM."""

import base64
import email.utils
import glob
import hmac
import http.client
import http.server
import io
import json
import logging
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

import boto3
import pyarrow.parquet
from moto.server import ThreadedMotoServer

PROGRAM = os.path.abspath(sys.argv[1])
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}
HOP = ("connection", "keep-alive", "transfer-encoding")
failures = checks = 0


def check(what, is_true, detail=""):
    global failures, checks
    checks += 1
    if not is_true:
        failures += 1
        print(f"FAILED: {what}\n{detail}")


class Proxy(http.server.BaseHTTPRequestHandler):
    """Forwards requests to `server.upstream`. `server.rule(self)` returns what to do instead, or None."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def cut(self):
        # A reset, not an orderly end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def handle_any(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length) if length else b""
        with self.server.lock:
            self.server.log.append((self.command, self.path, dict(self.headers)))
            action = self.server.rule(self) or ""
        if action.isdigit():
            text = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"
            self.send_response(int(action))
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else text)
            return
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
        if action == "without If-Match":
            headers = {name: value for name, value in headers.items() if name.lower() != "if-match"}
        upstream.request(self.command, self.path, body, headers)
        answer = upstream.getresponse()
        data = answer.read()
        if action == "cut after":
            self.cut()
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in (*HOP, "content-length"):
                self.send_header(name, '"another"' if action == "wrong ETag" and name.lower() == "etag" else value)
        size = answer.getheader("content-length") if self.command == "HEAD" else str(len(data))
        self.send_header("content-length", size or "0")
        self.end_headers()
        if action == "cut":
            self.wfile.write(data[: len(data) // 2])
            self.wfile.flush()
            time.sleep(0.05)
            self.cut()
        elif action == "slow":
            step = max(1, len(data) // 40)
            for at in range(0, len(data), step):
                self.wfile.write(data[at : at + step])
                self.wfile.flush()
                time.sleep(0.02)
        else:
            self.wfile.write(data)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = lambda self: self.handle_quietly()

    def handle_quietly(self):
        try:
            self.handle_any()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


class Files(http.server.BaseHTTPRequestHandler):
    """Serves `server.files`, with or without ranges, and without ETag."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, has_body):
        data = self.server.files.get(self.path)
        status, more = (200, {}) if data is not None else (404, {})
        data = data or b""
        asked = self.headers.get("range")
        if asked and status == 200 and self.server.has_ranges:
            first, last = asked.removeprefix("bytes=").split("-")
            more = {"content-range": f"bytes {first}-{last}/{len(data)}"}
            status, data = 206, data[int(first) : int(last) + 1]
        try:
            self.send_response(status)
            self.send_header("last-modified", "Mon, 02 Mar 2026 10:00:00 GMT")
            for name, value in {**more, "content-length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            if has_body:
                self.wfile.write(data)
        except OSError:
            self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass


def serve(handler, **fields):
    server = Server(("127.0.0.1", 0), handler)
    server.lock, server.log = threading.RLock(), []
    for name, value in fields.items():
        setattr(server, name, value)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


folder = tempfile.mkdtemp(prefix="reptile-stores-")
temporary = os.path.join(folder, "tmp")
os.mkdir(temporary)
logging.disable(logging.CRITICAL)  # `moto` writes a line for each request.
moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
moto.start()
upstream = moto.get_host_and_port()[1]
proxy = serve(Proxy, upstream=upstream, rule=lambda _: None)
s3 = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{upstream}", aws_access_key_id="key",
                  aws_secret_access_key="secret", region_name="us-east-1")
s3.create_bucket(Bucket="box")
ENV = {**os.environ, **KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.server_port}", "AWS_ALLOW_HTTP": "true",
       "REPTILE_ALLOW_HTTP": "true", "TMPDIR": temporary}


def command(*arguments):
    return [PROGRAM, *map(str, arguments)]


def run(*arguments, code=0, env=None, rule=None, stdin=None):
    """Runs the command with a rule for the proxy, and checks the exit code. Returns standard output and error."""
    with proxy.lock:
        proxy.rule, proxy.log = rule or (lambda _: None), []
    done = subprocess.run(command(*arguments), capture_output=True, env={**ENV, **(env or {})}, timeout=300, input=stdin)
    check(f"{arguments}: exit code {done.returncode}, expected {code}", done.returncode == code, done.stderr.decode())
    check(f"{arguments}: a secret is shown", b"secret" not in done.stderr + done.stdout)
    return done.stdout, done.stderr.decode()


def path(name):
    return os.path.join(folder, name)


def put(key, data):
    s3.put_object(Bucket="box", Key=key, Body=data)


def get(key):
    return s3.get_object(Bucket="box", Key=key)["Body"].read()


def keys(prefix=""):
    return sorted(found["Key"] for found in s3.list_objects_v2(Bucket="box", Prefix=prefix).get("Contents", []))


def read(name):
    with open(path(name), "rb") as file:
        return file.read()


def write(name, data):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), "wb") as file:
        file.write(data)


def nothing_left(what):
    uploads = s3.list_multipart_uploads(Bucket="box").get("Uploads", [])
    check(f"{what}: parts are left", not uploads, uploads)
    check(f"{what}: temporary files are left", not glob.glob(temporary + "/.*") + os.listdir(temporary))


def data():
    """Writes the local inputs, and copies them to the store."""
    for number in range(20):
        write(f"robots/site{number}.example", b"user-agent: *\ndisallow: /p%d\nallow: /p%d/x\n" % (number, number))
    lines = [f"https://site{n % 23}.example/p{n % 7}/{'x' if n % 3 else 'y'}/{n:08d}" for n in range(1_000_000)]
    write("urls.txt", "\n".join(lines).encode() + b"\n")
    for part in range(3):
        write(f"lists/day={part}/part.txt", "\n".join(lines[part::300]).encode() + b"\n")
    run("compile", "-o", path("set.reptile"), path("robots"))
    run("classify", path("set.reptile"), path("urls.txt"), "--agent", "Bot", "-o", path("out.tsv"))
    run("classify", path("set.reptile"), path("urls.txt"), "--agent", "Bot", "-o", path("urls.parquet"))
    for name in ["set.reptile", "urls.txt", "urls.parquet", *(f"lists/day={part}/part.txt" for part in range(3))]:
        put(name, read(name))
    for number in range(20):
        put(f"robots/site{number}.example", read(f"robots/site{number}.example"))
    put("robots/.hidden", b"user-agent: *\ndisallow: /\n")
    # Begins with the folder's name, but is not in the folder.
    put("robots-old/site0.example", b"user-agent: *\ndisallow: /\n")


def every(count, action, methods=("GET",)):
    """A rule that applies an action to each request with a number divisible by `count`."""
    numbers = {"next": 0}

    def rule(request):
        if request.command not in methods:
            return None
        numbers["next"] += 1
        return action if numbers["next"] % count == 0 else None

    return rule


def both(*rules):
    return lambda request: next((action for action in (rule(request) for rule in rules) if action), None)


def reads_and_writes():
    expected, parquet = read("out.tsv"), None
    run("classify", path("set.reptile"), path("urls.parquet"), "--agent", "Bot", "-o", path("parquet.tsv"))
    parquet = read("parquet.tsv")
    is_part = lambda request: request.command == "PUT" and "partNumber" in request.path
    faults = {
        "no failures": None,
        "resets": every(3, "cut"),
        "SlowDown": every(2, "503", ("GET", "HEAD", "PUT", "POST")),
        "500 for every second part": lambda request, numbers=[0]: (
            is_part(request) and (numbers.append(0), "500" if len(numbers) % 2 else None)[1]),
        "slow": every(4, "slow"),
        "lost responses to parts": lambda request, numbers=[0]: (
            is_part(request) and (numbers.append(0), "cut after" if len(numbers) % 3 == 0 else None)[1]),
        "all": both(every(5, "cut"), every(7, "503", ("GET", "PUT", "POST", "HEAD")), every(6, "slow")),
    }
    for name, rule in faults.items():
        run("classify", "s3://box/set.reptile", "s3://box/urls.txt", "--agent", "Bot", "--force", "-o",
            "s3://box/out.tsv", rule=rule)
        check(f"text with {name} differs from the local run", get("out.tsv") == expected)
        nothing_left(name)
        parts = [line for line in proxy.log if "partNumber" in line[1]]
        check(f"text with {name} was not written in parts", len(parts) >= 3, len(parts))
        run("classify", "s3://box/set.reptile", "s3://box/urls.parquet", "--agent", "Bot", "--force", "-o",
            "s3://box/parquet.tsv", rule=rule)
        check(f"Parquet with {name} differs from the local run", get("parquet.tsv") == parquet)
        ranged = [headers for method, url, headers in proxy.log
                  if method == "GET" and "urls.parquet" in url and "range" in {key.lower() for key in headers}]
        check(f"Parquet with {name} was not read by ranges", len(ranged) > 1, len(ranged))
        check(f"Parquet with {name}: a range without If-Match",
              all("if-match" in {key.lower() for key in headers} for headers in ranged))
    # Parquet and compressed outputs, and inputs in other commands.
    run("classify", "s3://box/set.reptile", "s3://box/urls.txt", "--agent", "Bot", "-o", "s3://box/again.parquet")
    # The files differ in their metadata, which names the inputs.
    tables = [pyarrow.parquet.read_table(io.BytesIO(file)) for file in (get("again.parquet"), read("urls.parquet"))]
    check("Parquet output differs", tables[0].num_rows == 1_000_000 and tables[0].equals(tables[1]))
    run("compile", "-o", "s3://box/new.reptile", "s3://box/robots/")
    check("the set differs", get("new.reptile") == read("set.reptile"))
    check("no record of the set", "new.reptile.made.json" in keys())
    shown = run("inspect", "s3://box/new.reptile")[0]
    check("inspect shows no record", b"made by" in shown or b"s3://box/robots/" in shown, shown)
    run("verify", "s3://box/new.reptile")
    run("merge", "-o", "s3://box/merged.reptile", "s3://box/new.reptile", "s3://box/set.reptile")
    run("summarize", "s3://box/new.reptile", "--agent", "Bot", "-o", "s3://box/sites.tsv")
    run("summarize", path("set.reptile"), "--agent", "Bot", "-o", path("sites.tsv"))
    check("the summary differs", get("sites.tsv") == read("sites.tsv"))


def changes():
    original = read("urls.parquet")
    state = {}

    def replace(request):
        """Replaces the object between two ranged reads."""
        if request.command == "GET" and "urls.parquet" in request.path and request.headers.get("range"):
            state["ranges"] = state.get("ranges", 0) + 1
            if state["ranges"] == 3:
                # The same length as before.
                put("urls.parquet", original[:-1] + b"?")
        return state.get("action")

    for action in [None, "without If-Match"]:
        state.clear()
        state["action"] = action
        put("urls.parquet", original)
        _, error = run("classify", "s3://box/set.reptile", "s3://box/urls.parquet", "--agent", "Bot", "-o",
                       "s3://box/changed.tsv", code=2, rule=replace)
        check(f"a changed input, {action}: the message", "urls.parquet" in error and "changed while it was read" in error, error)
        check(f"a changed input, {action}: an output", "changed.tsv" not in keys())
        nothing_left("a changed input")
    put("urls.parquet", original)
    is_range = lambda request: request.command == "GET" and request.headers.get("range") and "urls.parquet" in request.path
    _, error = run("classify", "s3://box/set.reptile", "s3://box/urls.parquet", "--agent", "Bot", "-o",
                   "s3://box/changed.tsv", code=2, rule=lambda request: "wrong ETag" if is_range(request) else None)
    check("a wrong ETag", "changed while it was read" in error, error)
    # A stream that breaks while its object is replaced.
    def cut_and_replace(request):
        if request.command == "GET" and request.path.startswith("/box/urls.txt"):
            state["gets"] = state.get("gets", 0) + 1
            if state["gets"] == 2:
                put("urls.txt", read("urls.txt")[:-2] + b"?\n")
            return "cut" if state["gets"] <= 2 else None
    state.clear()
    _, error = run("classify", "s3://box/set.reptile", "s3://box/urls.txt", "--agent", "Bot", "-o",
                   "s3://box/changed.tsv", code=2, rule=cut_and_replace)
    check("a list replaced while it is resumed: the message", "changed while it was read" in error, error)
    check("a list replaced while it is resumed: an output", "changed.tsv" not in keys())
    put("urls.txt", read("urls.txt"))


def outputs():
    put("old.tsv", b"old")
    arguments = ["classify", "s3://box/set.reptile", "s3://box/lists/day=0/part.txt", "--agent", "Bot", "-o"]
    _, error = run(*arguments, "s3://box/old.tsv", code=2)
    check("an existing object", "exists already; --force replaces it" in error and get("old.tsv") == b"old", error)

    def create(request):
        if request.command == "PUT" and request.path.startswith("/box/late.tsv"):
            put("late.tsv", b"late")
    _, error = run(*arguments, "s3://box/late.tsv", code=2, rule=create)
    check("an object created in the meantime", "in the meantime" in error and get("late.tsv") == b"late", error)
    run(*arguments, "s3://box/old.tsv", "--force")
    check("a replaced object", get("old.tsv") != b"old")
    _, error = run(*arguments[:-1], "-o", "s3://box/lists/day=0/part.txt", "--force", code=2)
    check("an output that is the input", "is the input" in error, error)
    _, error = run(*arguments, f"http://127.0.0.1:{proxy.server_port}/box/x.tsv", code=2)
    check("an output on a web server", "cannot be written to" in error, error)
    _, error = run(*arguments, "s3://absent/x.tsv", code=2)
    check("an absent bucket", "s3://absent/x.tsv" in error, error)
    # The response to the last request is lost, although the parts were joined.
    big = ["classify", "s3://box/set.reptile", "s3://box/urls.txt", "--agent", "Bot", "-o", "s3://box/lost.tsv"]
    lost = {}
    def lose(request):
        if request.command == "POST" and "uploadId" in request.path and not lost:
            lost["one"] = True
            return "cut after"
    run(*big, rule=lose)
    check("a lost response", lost and get("lost.tsv") == read("out.tsv"))
    # A part that never succeeds.
    _, error = run(*big[:-1], "s3://box/never.tsv", code=2,
                   rule=lambda request: "501" if "partNumber=2" in request.path else None)
    check("a part that fails", "s3://box/never.tsv: cannot be written" in error and "never.tsv" not in keys(), error)
    nothing_left("a part that fails")
    for stop in [signal.SIGKILL, signal.SIGTERM]:
        with proxy.lock:
            proxy.rule, proxy.log = (lambda request: "slow" if request.path.startswith("/box/urls.txt") else None), []
        running = subprocess.Popen(command(*big[:-1], "s3://box/killed.tsv"), env=ENV, stderr=subprocess.DEVNULL)
        for _ in range(600):
            time.sleep(0.05)
            if any("partNumber" in line[1] for line in proxy.log) or running.poll() is not None:
                break
        check("the run ended before it was stopped", running.poll() is None)
        running.send_signal(stop)
        code = running.wait(60)
        check(f"{stop.name}: exit code {code}", code == (130 if stop == signal.SIGTERM else -9))
        check(f"{stop.name}: an object is visible", "killed.tsv" not in keys())
        if stop == signal.SIGTERM:
            nothing_left(stop.name)
        for upload in s3.list_multipart_uploads(Bucket="box").get("Uploads", []):
            s3.abort_multipart_upload(Bucket="box", Key=upload["Key"], UploadId=upload["UploadId"])
        shutil.rmtree(temporary)
        os.mkdir(temporary)
    run(*big[:-1], "s3://box/killed.tsv")
    check("the run after a killed one", get("killed.tsv") == read("out.tsv"))


def folders():
    lists = [path(f"lists/day={part}/part.txt") for part in range(3)]
    for part in range(3):
        shutil.copy(lists[part], path(f"part{part}.txt"))
        put(f"flat/part{part}.txt", read(f"part{part}.txt"))
    put("flat/more/part9.txt", b"https://a.example/\n")
    put("flat/note.md", b"no list")
    arguments = ["classify", "s3://box/set.reptile", "s3://box/flat/*.txt", "--agent", "Bot", "-o"]
    run(*arguments, "s3://box/verdicts/")
    expected = [f"verdicts/part{part}.txt.tsv" for part in range(3)]
    check("the files of a folder", keys("verdicts/") == sorted(expected + [name + ".made.json" for name in expected]), keys("verdicts/"))
    for part in range(3):
        run("classify", path("set.reptile"), path(f"part{part}.txt"), "--agent", "Bot", "-o", path(f"v{part}.tsv"))
        check(f"part {part} differs", get(expected[part]) == read(f"v{part}.tsv"))
    record = json.loads(get(expected[0] + ".made.json"))
    check("the record has no ETag", record["inputs"][0]["etag"] == s3.head_object(Bucket="box", Key="flat/part0.txt")["ETag"], record)
    _, error = run(*arguments, "s3://box/verdicts/", code=2)
    check("an existing file in the folder", "exists already" in error, error)
    _, error = run(*arguments, "s3://box/verdicts/", "--resume")
    check("--resume", "done before  3" in " ".join(error.split("\n")).replace("done before   ", "done before") or "done before" in error, error)
    s3.delete_object(Bucket="box", Key=expected[1])
    run(*arguments, "s3://box/verdicts/", "--resume")
    check("--resume writes the absent file", get(expected[1]) == read("v1.tsv"))
    put("flat/part2.txt", read("part2.txt")[::-1])
    _, error = run(*arguments, "s3://box/verdicts/", "--resume", code=2)
    check("--resume with a changed list", "from another input, or the input has changed" in error, error)
    _, error = run("classify", "s3://box/set.reptile", "s3://box/none/*.txt", "--agent", "Bot", "-o", path("x/"), code=2)
    check("a pattern without a match", "no object matches this pattern" in error, error)
    # `**`, and a key that contains wildcards.
    put("flat/[x].jsonl", json.dumps({"url": "http://one.example/robots.txt", "status": 200, "body": "user-agent: *\ndisallow: /\n"}).encode())
    put("flat/deep/y.jsonl", json.dumps({"url": "http://two.example/robots.txt", "status": 200, "body": "user-agent: *\ndisallow: /\n"}).encode())
    _, error = run("compile", "-o", path("two.reptile"), "s3://box/flat/**/*.jsonl")
    check("a pattern for subfolders", "origins                   2" in error, error)
    _, error = run("compile", "-o", path("one.reptile"), "s3://box/flat/[x].jsonl")
    check("a key with wildcards", "origins                   1" in error, error)
    _, error = run("compile", "-o", path("none.reptile"), "s3://box/empty/", code=2)
    check("an empty folder", "no robots.txt found" in error, error)


def web():
    key, certificate = path("key.pem"), path("certificate.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    files = {"/urls.txt": read("urls.txt"), "/urls.parquet": read("urls.parquet"), "/set.reptile": read("set.reptile"),
             "/a%20b.txt?sig=s3cr3t&part=1": read("part0.txt")}
    for is_tls in [True, False]:
        for has_ranges in [True, False]:
            server = serve(Files, files=files, has_ranges=has_ranges)
            if is_tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(certificate, key)
                server.socket = context.wrap_socket(server.socket, server_side=True)
            start = f"{'https' if is_tls else 'http'}://localhost:{server.server_port}"
            env = {"SSL_CERT_FILE": certificate}
            what = f"{start}, ranges {has_ranges}"
            run("classify", start + "/set.reptile", start + "/urls.txt", "--agent", "Bot", "-o", path("web.tsv"), "--force", env=env)
            check(f"{what}: text differs", read("web.tsv") == read("out.tsv"))
            arguments = ["classify", path("set.reptile"), start + "/urls.parquet", "--agent", "Bot", "-o", path("web.tsv"), "--force"]
            if has_ranges:
                run(*arguments, env=env)
                check(f"{what}: Parquet differs", read("web.tsv") == read("parquet.tsv"))
            else:
                _, error = run(*arguments, env=env, code=2)
                check(f"{what}: Parquet", "does not send ranges of bytes" in error, error)
            signed = start + "/a%20b.txt?sig=s3cr3t&part=1"
            _, error = run("classify", path("set.reptile"), signed, "--agent", "Bot", "-o", path("web.tsv"), "--force", env=env)
            check(f"{what}: a signed URL", read("web.tsv") == read("v0.tsv") and "s3cr3t" not in error, error)
            run("classify", path("set.reptile"), signed, "--agent", "Bot", "-o", path("signed/"), "--force", env=env)
            check(f"{what}: a record with a secret", not any(b"s3cr3t" in open(name, "rb").read() for name in glob.glob(path("signed/*.json"))))
            for name in ["/none?sig=s3cr3t", "/urls.txt?sig=s3cr3t"]:
                _, error = run("classify", path("set.reptile"), start + name, "--agent", "Bot", code=2, env=env)
                check(f"{what}: {name}: the message", "no such object" in error and "s3cr3t" not in error, error)
            if is_tls:
                _, error = run("classify", path("set.reptile"), start + "/urls.txt", "--agent", "Bot", code=2)
                check(f"{what}: an unknown certificate", "ertificate" in error, error)
            else:
                _, error = run("classify", path("set.reptile"), start + "/urls.txt", "--agent", "Bot", code=2, env={"REPTILE_ALLOW_HTTP": ""})
                check(f"{what}: http", "REPTILE_ALLOW_HTTP=true" in error, error)
            server.shutdown()
    for name in ["https://me:s3cr3t@localhost/x", "s3://key:s3cr3t@box/x", "https://localhost/folder/", "s3://box/none.txt"]:
        _, error = run("classify", path("set.reptile"), name, "--agent", "Bot", code=2)
        check(f"{name}: the message", "s3cr3t" not in error and error.count("\n") == 1, error)


def azure():
    """One read and one write against Azure's emulator, if it is installed: the program in AZURITE, or `azurite-blob`."""
    program = os.environ.get("AZURITE") or shutil.which("azurite-blob")
    if not program:
        print("Azure: NOT RUN, because azurite is absent")
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    emulator = subprocess.Popen([program, "--blobPort", str(port), "--blobHost", "127.0.0.1", "--location", path("azurite"),
                                 "--silent", "--skipApiVersionCheck"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            time.sleep(0.1)
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
        account = "devstoreaccount1"
        secret = base64.b64decode("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==")
        date = email.utils.formatdate(usegmt=True)
        headers = {"x-ms-date": date, "x-ms-version": "2021-12-02"}
        text = "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:2021-12-02\n/{account}/{account}/box\nrestype:container"
        signature = base64.b64encode(hmac.new(secret, text.encode(), "sha256").digest()).decode()
        made = http.client.HTTPConnection("127.0.0.1", port)
        made.request("PUT", f"/{account}/box?restype=container", headers={**headers, "authorization": f"SharedKey {account}:{signature}"})
        check("the container of the emulator", made.getresponse().status == 201)
        env = {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": f"http://127.0.0.1:{port}"}
        run("compile", "-o", "az://box/set.reptile", path("robots"), env=env)
        run("classify", path("set.reptile"), path("urls.txt"), "--agent", "Bot", "-o", "az://box/out.tsv", env=env)
        run("classify", path("set.reptile"), path("urls.txt"), "--agent", "Bot", "-o", "az://box/urls.parquet", env=env)
        run("classify", "az://box/set.reptile", "az://box/urls.parquet", "--agent", "Bot", "-o", path("azure.tsv"), env=env)
        check("Azure: Parquet differs", read("azure.tsv") == read("parquet.tsv"))
        # The written text is a table with URLs in its first column.
        run("classify", "az://box/set.reptile", "az://box/out.tsv", "--url", "1", "--agent", "Bot", "-o", path("azure.tsv"), "--force", env=env)
        run("classify", path("set.reptile"), path("out.tsv"), "--url", "1", "--agent", "Bot", "-o", path("local.tsv"))
        check("Azure: text differs", read("azure.tsv") == read("local.tsv"))
        _, error = run("classify", path("set.reptile"), path("urls.txt"), "--agent", "Bot", "-o", "az://box/out.tsv", env=env, code=2)
        check("Azure: an existing object", "exists already" in error, error)
    finally:
        emulator.terminate()
        emulator.wait()


try:
    data()
    for step in [reads_and_writes, changes, outputs, folders, web, azure]:
        start = time.time()
        step()
        print(f"{step.__name__}: {checks} checks so far, {failures} failed, {time.time() - start:.1f} s", flush=True)
finally:
    moto.stop()
    shutil.rmtree(folder, ignore_errors=True)
if failures:
    sys.exit(f"{failures} of {checks} checks failed")
print(f"object stores: {checks} checks")
