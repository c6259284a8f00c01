/**
 * An openssl.cnf, for OPENSSL_CONF, that pins the group of a plane whose configuration cannot: Pipy 2.0's OpenSSL would
 * offer X25519MLKEM768 first.
 * @param {string} group
 */
export const renderOpensslConf = group => `openssl_conf = main
[main]
ssl_conf = ssl
[ssl]
system_default = tls
[tls]
Groups = ${group}
`
