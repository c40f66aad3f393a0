#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the keys and certificates for servers and clients of a test.
#
#   keys.sh DIRECTORY
#
#   ca.pem                      the authority of the tests; its certificates
#                               are for 127.0.0.1, ::1 and localhost, or else:
#   elsewhere.p12               a keystore for elsewhere.example only
#   named.p12                   a keystore for localhost only
#   server.p12, expired.p12     keystores, signed by it; the latter has expired
#   client.p12                  a keystore with the certificate of the client
#   trust.p12                   the truststore of the servers: ca.pem
#   client.pem, client.key      signed by it
#   locked.key                  client.key with the password "open sesame"
#   other.pem                   another authority
#   stranger.pem, stranger.key  signed by that one
#
# The password of all stores is "secret".
set -eu
cd "$1"

key() { # name
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"
}

authority() { # name
    key "$1"
    openssl req -x509 -new -key "$1.key" -days 2 -subj "/CN=$1" -out "$1.pem"
}

# authority, name, whose (server, client), first day, last day, for which hosts
sign() {
    key "$2"
    openssl req -new -key "$2.key" -subj "/CN=$2" -out "$2.csr"
    printf '[ca]\ndatabase=index\nserial=serial\nnew_certs_dir=.\n%s\n%s\n' \
        'default_md=sha256' 'policy=any' >ca.cnf
    printf '[any]\ncommonName=supplied\n' >>ca.cnf
    printf '[use]\nextendedKeyUsage=%sAuth\nsubjectAltName=%s\n' "$3" \
        "${6-IP:127.0.0.1,IP:::1,DNS:localhost}" >>ca.cnf
    : >index
    openssl ca -batch -notext -rand_serial -config ca.cnf -name ca \
        -extensions use -startdate "$4" -enddate "$5" \
        -cert "$1.pem" -keyfile "$1.key" \
        -in "$2.csr" -out "$2.pem"
}

store() { # name
    openssl pkcs12 -export -name server -in "$1.pem" -inkey "$1.key" \
        -certfile ca.pem -passout pass:secret -out "$1.p12"
}

exec 2>keys.log
authority ca
authority other
sign ca server server 20200101000000Z 20991231235959Z
sign ca expired server 20200101000000Z 20200102000000Z
sign ca elsewhere server 20200101000000Z 20991231235959Z DNS:elsewhere.example
sign ca named server 20200101000000Z 20991231235959Z DNS:localhost
sign ca client client 20200101000000Z 20991231235959Z
sign other stranger client 20200101000000Z 20991231235959Z
openssl pkey -in client.key -aes128 -passout 'pass:open sesame' -out locked.key
store server
store expired
store client
store elsewhere
store named
keytool -J-XX:TieredStopAtLevel=1 -importcert -noprompt -alias ca -file ca.pem \
    -keystore trust.p12 -storetype PKCS12 -storepass secret >&2
