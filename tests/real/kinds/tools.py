# SPDX-License-Identifier: Apache-2.0
"""Programs of everyday work."""
from .kind import kind

TEXT = 'seq 400000 | sed "s/7/seven/g" >text'

kind("git", r"git", packages="git", make="""
git init -q . ; for i in $(seq 120); do seq "$i" $((i * 40)) >f$((i % 7)); git add .; git -c user.name=x -c user.email=x@y commit -q -m "$i"; done
""", script="""
again sh -c 'git log -p --stat; git blame f3; git gc -q --force --aggressive; git fsck'
""")
kind("gzip", r"gzip", packages="gzip", make=TEXT, script="again gzip -9 -c text")
kind("xz", r"xz", packages="xz:xz-utils", make=TEXT, script="again xz -6 -c text")
kind("zstd", r"zstd", packages="zstd", make=TEXT, script="again zstd -15 -q -c text")
kind("bzip2", r"bzip2", packages="bzip2", make=TEXT, script="again bzip2 -c text")
kind("openssl", r"openssl", packages="openssl", script="""
work sh -c 'for n in sha256 sha512 aes-256-gcm chacha20-poly1305; do openssl speed -seconds 1 -evp $n; done; openssl speed -seconds 1 rsa2048 ecdsap256 ed25519 ecdhx25519'
""")
kind("sqlite", r"sqlite3", packages="sqlite3", script="""
again sqlite3 :memory: "create table t as with recursive c(x) as (select 1 union all select x + 1 from c limit 300000) select x, x * 7919 % 10007 y, hex(x) z from c;
create index i on t(y); select y, count(*), max(z), group_concat(substr(z, 1, 2)) from t group by y order by 2, 1; select count(*) from t a join t b on a.y = b.x where b.z like '%7%';"
""")
kind("jq", r"jq", packages="jq", make="seq 60000 | sed 's/.*/{\"a\": &, \"b\": \"x&\"}/' >t.json", script="""again jq -s 'group_by(.a % 17) | map({n: length, t: (map(.b) | join(" "))})' t.json""")
kind("sort, grep, sed", r"sort|grep|sed|awk|mawk", make=TEXT, script="""again sh -c 'sort -k1 -r text | sed -E "s/(seven)+/7/g" | grep -cE "(12|34).*5"; awk "{ n += length(\\$1) } END { print n }" text'""")
kind("gdb", r"gdb", packages="gdb", script="again gdb -batch -nx -ex 'info functions ^a' -ex 'info types x' \"$HOSTPROF\"")
kind("imagemagick", r"convert.*", packages="convert-im6.q16:imagemagick-6.q16",
     script="again convert-im6.q16 -size 900x700 plasma:red-blue -blur 0x6 -rotate 17 -sharpen 0x2 -quality 90 x.jpg")
kind("qemu-user", r"qemu-.*", packages="qemu-x86_64:qemu-user", make=TEXT, script="again qemu-x86_64 /bin/gzip -9 -c text",
     impossible="the guest's code is left as it returns; what goes on by a register tells nobody where to", least=0.9)
