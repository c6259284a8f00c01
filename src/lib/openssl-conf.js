/** Renders an openssl.cnf that pins the group: Pipy 2.0's OpenSSL offers X25519MLKEM768 first. @param {string} group */
export const renderOpensslConf = group => `openssl_conf = main
[main]
ssl_conf = ssl
[ssl]
system_default = tls
[tls]
Groups = ${group}
`
