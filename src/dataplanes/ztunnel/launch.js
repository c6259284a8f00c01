import { createProcess, createSidecarProcess } from '../../model/processes.js'
import { KIT_NODE } from '../../model/sidecar-contract.js'
import { NAMESPACE, renderConfig, renderIdentity } from './config.js'

/** @import { ProcessSpec, SidecarOptions } from '../../model/types.ts' */

export const ISTIO = 'istio'
/** The port at which ztunnel takes bytes in HTTP/2 CONNECT over mTLS (HBONE). Its ports are fixed. */
export const HBONE_PORT = 15008
const PORTS = { outbound: 15001, plaintext: 15006, hbone: HBONE_PORT }
// The authority listens where nobody but the processes of its own namespace reaches it.
const AUTHORITY = { address: '127.0.0.1', port: 15012 }
// A token that is a secret would protect nothing: who reaches the authority is in the namespace of its proxy.
const TOKEN = 'of-this-proxy'

/** @param {SidecarOptions} options @returns {ProcessSpec} */
export function createSidecar(options) {
  const { model, folder, profile } = options
  const { inbound, outbound, trust, service, identity, workers } = model
  const { serviceAccount } = renderIdentity(identity)
  const isDeployed = profile === ISTIO
  return createSidecarProcess(options, {
    argv: [],
    env: {
      PROXY_MODE: 'dedicated',
      PROXY_WORKLOAD_INFO: `${NAMESPACE}/${service}/${serviceAccount}`,
      XDS_ADDRESS: '',
      LOCAL_XDS_PATH: `${folder}/ztunnel.yaml`,
      CA_ADDRESS: `https://${AUTHORITY.address}:${AUTHORITY.port}`,
      CA_ROOT_CA: trust.caPath,
      ALT_CA_HOSTNAME: serviceAccount,
      AUTH_TOKEN: TOKEN,
      ISTIO_META_DNS_CAPTURE: 'false',
      IPV6_ENABLED: 'false',
      // It runs as a user that may not bind the addresses of clients.
      ENABLE_ORIG_SRC: 'false',
      ZTUNNEL_WORKER_THREADS: `${workers}`,
      // The default logs each connection.
      ...(isDeployed ? {} : { RUST_LOG: 'error,access=off' }),
    },
    files: [{ name: 'ztunnel.yaml', content: renderConfig(model) }],
    credentials: [trust.caPath],
    listens: Object.values(PORTS).map(port => ({ address: '0.0.0.0', port })),
    // All threads accept at one socket.
    workers: 1,
    redirects: {
      // A load that calls the sidecar itself means a port for each service, and ztunnel listens at one.
      inbound: inbound ? PORTS.plaintext : PORTS.outbound,
      outbound: outbound?.redirectedPorts ? PORTS.outbound : null,
    },
    admin: null,
  })
}

/** Creates its certificate authority, which ztunnel asks for a certificate: it takes none from files. @param {SidecarOptions} options @returns {ProcessSpec[]} */
export function createCompanions({ model, folder, authorityKeyPath = '' }) {
  const { service, identity, trust } = model
  const authorityFolder = `${folder}-authority`
  const configuration = {
    listen: AUTHORITY,
    authority: { certificatePath: trust.caPath, keyPath: authorityKeyPath },
    credentials: { certificatePath: trust.certificatePath, keyPath: trust.keyPath },
    identity,
    dnsName: renderIdentity(identity).serviceAccount,
    token: TOKEN,
  }
  return [
    createProcess({
      service,
      role: 'control',
      program: KIT_NODE,
      argv: ['src/certificates/istio-ca/main.js', `${authorityFolder}/authority.json`],
      folder: authorityFolder,
      files: [{ name: 'authority.json', content: `${JSON.stringify(configuration, null, 2)}\n` }],
      credentials: [trust.caPath, authorityKeyPath, trust.certificatePath, trust.keyPath],
      listens: [AUTHORITY],
      isAwaited: true,
    }),
  ]
}
