#!/bin/sh
# Makes key.pem and cert.pem, which sign test fixtures and nothing else. Run once; the result is committed,
# since a new key would change every signed fixture. The dates are fixed, so that the age of the certificate
# plays no part in any test.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: > "$work/index.txt"
echo 01 > "$work/serial"
cat > "$work/ca.conf" <<CONF
[ca]
default_ca = it
[it]
database = $work/index.txt
serial = $work/serial
new_certs_dir = $work
default_md = sha256
policy = any
x509_extensions = extensions
[any]
commonName = supplied
[extensions]
basicConstraints = critical, CA:TRUE
keyUsage = critical, digitalSignature, keyCertSign
extendedKeyUsage = codeSigning
[req]
distinguished_name = names
[names]
CONF
openssl genrsa -out key.pem 2048
openssl req -new -config "$work/ca.conf" -key key.pem -subj "/CN=fixnvpe test fixtures" -out "$work/request.pem"
openssl ca -batch -notext -selfsign -config "$work/ca.conf" -keyfile key.pem -in "$work/request.pem" \
  -startdate 20240101000000Z -enddate 21240101000000Z -out cert.pem
