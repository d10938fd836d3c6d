# SPDX-License-Identifier: Apache-2.0
"""A debuginfod of files that the test has: /buildid/ID/debuginfo, over HTTP on this host. Who asks is noted."""
import http.server
import os
import re
import subprocess
import threading
import time

from hp import cleanup


class DebugServer:
    """FILES: {build id: path}. SLOW: seconds until it answers."""

    def __init__(self, files, slow=0):
        self.files, self.asked, self.askers = files, [], []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.path)
                server.askers.append(users_of("hostprof-fetch"))
                time.sleep(slow)
                found = re.fullmatch(r"/buildid/([0-9a-f]+)/debuginfo", self.path)
                path = found and server.files.get(found.group(1))
                if not path:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(os.path.getsize(path)))
                self.end_headers()
                with open(path, "rb") as file:
                    self.wfile.write(file.read())

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        cleanup(self.http.shutdown)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def environment(self, **more):
        return {**os.environ, "DEBUGINFOD_URLS": self.url, "no_proxy": "127.0.0.1", **more}


def users_of(comm):
    """Uid and effective capabilities of each process of this name."""
    found = []
    for pid in subprocess.run(["pgrep", "-x", comm], capture_output=True, text=True).stdout.split():
        try:
            with open(f"/proc/{pid}/status", encoding="ascii") as file:
                fields = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
            found.append((int(fields["Uid"].split()[1]), int(fields["CapPrm"], 16), int(fields["NoNewPrivs"])))
        except (OSError, ValueError):
            pass
    return found
