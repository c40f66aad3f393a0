# SPDX-License-Identifier: Apache-2.0
# To be sourced by a script that has $root and $tmp: a server of tools/zk-dev, whose
# port takes connections with TLS, and without; for TLS with keys of keys.sh.

start_server() { # sets $hosts
    jars=/usr/share/java
    factory=org.apache.zookeeper.server.NettyServerCnxnFactory
    mkdir "$tmp/keys"
    "$root/tests/lib/keys.sh" "$tmp/keys"
    ZKR_SERVER_CLASS_PATH=$jars/zookeeper.jar:$jars/slf4j-simple.jar$(printf ':%s' $jars/netty-*.jar) \
        ZK_DEV_JAVA_OPTS="-Dzookeeper.serverCnxnFactory=$factory \
        -Dzookeeper.client.portUnification=true \
        -Dzookeeper.authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider \
        -Dzookeeper.ssl.keyStore.location=$tmp/keys/server.p12 \
        -Dzookeeper.ssl.keyStore.password=secret \
        -Dzookeeper.ssl.trustStore.location=$tmp/keys/trust.p12 \
        -Dzookeeper.ssl.trustStore.password=secret" \
        "$root/tools/zk-dev" up --dir "$tmp/zk" >"$tmp/servers"
    hosts=$(sed -n 's/^ZK_SERVERS=//p' "$tmp/servers")
}

uses_tls() { # zk-lockctl...
    "$@" --servers "$hosts" --tls-ca "$tmp/keys/ca.pem" --tls-cert "$tmp/keys/client.pem" \
        --tls-key "$tmp/keys/client.key" ls /
}

stop_server() {
    [ ! -e "$tmp/zk" ] || "$root/tools/zk-dev" down --dir "$tmp/zk"
}
