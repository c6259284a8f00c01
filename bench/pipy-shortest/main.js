// The shortest Pipy script that does the mTLS hop of the link `pair`: no routes, no balancing, no
// timeouts, no retry, no check of identities. What the full sidecar costs is held against it.

var config = JSON.parse(os.read(pipy.argv.find(a => a.endsWith('.json'))).toString())
var { address, port } = config.inbound || config.outbound
var endpoint = config.clusters[0].endpoints[0]
var target = `${endpoint.address}:${endpoint.port}`
var options = { bufferSize: 16384 }
var muxOptions = { bufferSize: 16384, maxQueue: 1 }
var tls = {
  certificate: {
    cert: new crypto.CertificateChain(os.read(config.trust.certificatePath)),
    key: new crypto.PrivateKey(os.read(config.trust.keyPath)),
  },
  trusted: [new crypto.Certificate(os.read(config.trust.caPath))],
  minVersion: 'TLS1.3',
  ciphers: config.tls.suite,
}

if (config.inbound) {
  pipy.listen(`${address}:${port}`, $=>$
    .acceptTLS(tls).to($=>$
      .demuxHTTP(options).to($=>$
        .muxHTTP(() => target, muxOptions).to($=>$.connect(target))
      )
    )
  )
} else {
  pipy.listen(`${address}:${port}`, $=>$
    .demuxHTTP(options).to($=>$
      .muxHTTP(() => target, muxOptions).to($=>$
        .connectTLS(tls).to($=>$.connect(target))
      )
    )
  )
}
