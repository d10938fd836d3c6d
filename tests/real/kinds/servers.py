# SPDX-License-Identifier: Apache-2.0
"""Servers under load on a socket of their own or on loopback."""
from .kind import kind

kind("postgresql", r"postgres|pgbench", packages="/usr/lib/postgresql/15/bin/pgbench:postgresql-15", make="""
chmod 777 . ; cd /
nobody /usr/lib/postgresql/15/bin/initdb -D "$DIR/data" -A trust -U x >/dev/null
""", script="""
cd /; bin=/usr/lib/postgresql/15/bin
nobody $bin/postgres -D "$DIR/data" -k "$DIR" -c listen_addresses= >"$DIR/log" 2>&1 &
wait_for '$bin/pg_isready -q -h "$DIR"'
$bin/createdb -h "$DIR" -U x t; $bin/pgbench -q -i -s 2 -h "$DIR" -U x t 2>/dev/null
$bin/pgbench -c 4 -T "$SECS" -h "$DIR" -U x t >/dev/null
kill $!; wait
""")

kind("nginx", r"nginx", packages="nginx wrk", make="""
mkdir -p logs www; seq 3000 >www/index.html
printf 'daemon off; worker_processes 1; pid nginx.pid; events {}
http { access_log logs/a; gzip on; gzip_types text/plain text/html; server { listen unix:%s/s; listen 127.0.0.1:%s; root www; } }' "$DIR" "$PORT" >c
""", script="""
nginx -p "$DIR" -c "$DIR/c" -e "$DIR/e" & wait_for 'test -S s'
wrk -t1 -c16 -d"${SECS}s" -H 'Accept-Encoding: gzip' "http://127.0.0.1:$PORT/index.html" >/dev/null; kill $!; wait
""")

kind("redis", r"redis-.*", packages="redis-server redis-benchmark:redis-tools", script="""
redis-server --port 0 --unixsocket "$DIR/s" --save '' >/dev/null & wait_for 'test -S s'
work redis-benchmark -s "$DIR/s" -n 100000000 -t set,get,lpush,zadd -r 10000 -q; kill $!; wait
""")

kind("memcached", r"memcached", packages="memcached", script="""
memcached -u root -s "$DIR/s" -t 2 & wait_for 'test -S s'
work python3 -c 'import socket
s = socket.socket(socket.AF_UNIX); s.connect("s")
while True:
    s.sendall(b"".join(b"set k%d 0 0 5\\r\\nhello\\r\\nget k%d\\r\\n" % (i, i) for i in range(300)))
    said = b""
    while said.count(b"END") < 300: said += s.recv(65536)'
kill $!; wait
""")

kind("mariadb", r"mariadbd|mysqld|mariadb-slap|mysqlslap", packages="mariadbd:mariadb-server mariadb-slap:mariadb-client", make="""
mariadb-install-db --no-defaults --user=root --datadir="$DIR/data" --auth-root-authentication-method=normal >/dev/null
""", script="""
mariadbd --no-defaults --user=root --datadir="$DIR/data" --socket="$DIR/s" --skip-networking >log 2>&1 & wait_for 'test -S s'
work mariadb-slap --no-defaults -S "$DIR/s" -u root --auto-generate-sql --auto-generate-sql-load-type=mixed --concurrency=4 --number-of-queries=10000000
kill $!; wait
""")

kind("apache", r"apache2", packages="apache2:apache2-bin wrk", make="""
seq 3000 >index.html; m=/usr/lib/apache2/modules
printf 'ServerName x\\nListen 127.0.0.1:%s\\nPidFile %s/p\\nDocumentRoot %s\\nErrorLog %s/e\\n' "$PORT" "$DIR" "$DIR" "$DIR" >c
for n in mpm_event authz_core dir; do echo "LoadModule ${n}_module $m/mod_$n.so" >>c; done
echo '<Directory />
Require all granted
</Directory>' >>c; chmod 755 .
""", script="""
apache2 -d "$DIR" -f "$DIR/c" -X & wait_for 'test -e p'
wrk -t1 -c16 -d"${SECS}s" "http://127.0.0.1:$PORT/index.html" >/dev/null; kill $!; wait || true
""")

kind("haproxy", r"haproxy", packages="haproxy wrk", make="""
seq 2000 >index.html
printf 'global\\n nbthread 1\\ndefaults\\n mode http\\n timeout connect 1s\\n timeout client 9s\\n timeout server 9s\\nfrontend f\\n bind 127.0.0.1:%s\\n http-request return status 200 content-type text/plain file index.html\\n' "$PORT" >c
""", script="""
haproxy -f c -db & sleep 1
wrk -t1 -c16 -d"${SECS}s" "http://127.0.0.1:$PORT/" >/dev/null; kill $!; wait || true
""")

kind("docker", r"dockerd|containerd.*|docker|runc.*", packages="dockerd:docker.io runc", script="""
dockerd --data-root "$DIR/data" --exec-root "$DIR/exec" -p "$DIR/pid" -H "unix://$DIR/s" --iptables=false --ip6tables=false \\
	--bridge=none --exec-opt native.cgroupdriver=cgroupfs >log 2>&1 & d=$!
wait_for 'docker -H "unix://$DIR/s" info >/dev/null 2>&1'
mkdir -p root/bin; cp "$(command -v busybox || command -v true)" root/bin/busybox; tar -C root -c . | docker -H "unix://$DIR/s" import - x:1 >/dev/null
again docker -H "unix://$DIR/s" run --rm --network none x:1 /bin/busybox true
kill $d; wait $d || true; umount "$DIR"/exec/netns/default 2>/dev/null || true
""", impossible="processes of some milliseconds, whose first stacks are walked when they are gone", least=0.95)
