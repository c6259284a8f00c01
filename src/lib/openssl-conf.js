/** Renders an openssl.cnf that pins the groups, in order: Pipy 2.0's OpenSSL offers X25519MLKEM768 first. @param {string[]} groups */
export const renderOpensslConf = groups => `openssl_conf = main
[main]
ssl_conf = ssl
[ssl]
system_default = tls
[tls]
Groups = ${groups.join(':')}
`
