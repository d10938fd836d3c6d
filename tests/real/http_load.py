# SPDX-License-Identifier: Apache-2.0
"""Requests over connections that are kept, for hosts without wrk.

usage: http_load.py CONNECTIONS SECONDS URL
"""
import http.client
import sys
import threading
import time
import urllib.parse


def request_again(url, until):
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
    while time.monotonic() < until:
        connection.request("GET", url.path)
        connection.getresponse().read()


def main():
    connections, seconds = int(sys.argv[1]), float(sys.argv[2])
    url, until = urllib.parse.urlsplit(sys.argv[3]), time.monotonic() + seconds
    threads = [threading.Thread(target=request_again, args=(url, until))
               for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
