import os from 'node:os'
import path from 'node:path'
import { SERVICES } from '../certificates/credentials.js'
import { issueCertificates } from '../certificates/issue-certificates.js'
import { ALL, findUnsupportedFeatures, LEAN } from '../model/features.js'
import { probeRig } from './probe-plane.js'
import { createRig } from './rig.js'

/** The trial of one plane for the verb `parity`: with the corpus, in every configuration that changes the work of a sidecar. */
/** @import { DataPlane, Lack, MtlsMode, Site, Tool } from '../model/types.ts' */
/** @import { ProbedRow } from './beside/probe.js' */
/** @import { Measured } from './rig.js' */

/** The configurations by the names of `--only`. @type {Record<string, Measured>} */
export const CONFIGURATIONS = {
  mtls: { tls: 'ecdsa-p256', protocol: 'http/1.1', trafficPolicy: 'listed' },
  open: { tls: 'ecdsa-p256', protocol: 'http/1.1', trafficPolicy: 'open' },
  rsa: { tls: 'rsa-2048', protocol: 'http/1.1', trafficPolicy: 'listed' },
  'post-quantum': { tls: 'ecdsa-p256+x25519mlkem768', protocol: 'http/1.1', trafficPolicy: 'listed' },
  plaintext: { tls: 'plaintext', protocol: 'http/1.1', trafficPolicy: 'open' },
  http2: { tls: 'ecdsa-p256', protocol: 'http/2', trafficPolicy: 'listed' },
  'plaintext-http2': { tls: 'plaintext', protocol: 'http/2', trafficPolicy: 'listed' },
  grpc: { tls: 'ecdsa-p256', protocol: 'grpc', trafficPolicy: 'listed' },
  'open-grpc': { tls: 'ecdsa-p256', protocol: 'grpc', trafficPolicy: 'open' },
  'plaintext-grpc': { tls: 'plaintext', protocol: 'grpc', trafficPolicy: 'listed' },
  tcp: { tls: 'ecdsa-p256', protocol: 'tcp', trafficPolicy: 'listed' },
  'open-tcp': { tls: 'ecdsa-p256', protocol: 'tcp', trafficPolicy: 'open' },
  'plaintext-tcp': { tls: 'plaintext', protocol: 'tcp', trafficPolicy: 'listed' },
  features: { tls: 'ecdsa-p256', protocol: 'http/1.1', trafficPolicy: 'listed', features: ALL },
}

// The conditions that no configuration of the corpus varies.
const USUAL = { services: 1, workers: null, configuredServices: 0, memoryLimitBytes: null, changesPerMinute: null }

/**
 * Lists what a plane declares to lack in a configuration, in the mTLS modes of the rig.
 * @param {DataPlane} plane
 * @param {Measured} measured
 * @returns {Lack[]} []: nothing
 */
export function listDeclaredLacks(plane, measured) {
  return plane.findLacks?.({ ...measured, modes: listTriedModes(measured.tls) }) ?? []
}

/**
 * Lists the mTLS modes of the rig's listeners.
 * @param {Measured['tls']} tls
 * @returns {MtlsMode[]} in plaintext `disabled` alone
 */
function listTriedModes(tls) {
  return tls === 'plaintext' ? ['disabled'] : ['strict', 'permissive']
}

/**
 * Writes the certificates of a rig's services, and the flawed ones, for each key type.
 * @param {string} certificates the folder of ECDSA certificates, which only this user can read; RSA has a folder beside it
 * @param {Pick<DataPlane, 'isCertified'>} [plane] isCertified: the authority's key is written, too; false by default
 * @returns {Promise<void>}
 * @throws {BenchError} as `issueCertificates`
 */
export function writeParityCertificates(certificates, { isCertified: hasAuthorityKey } = {}) {
  return issueCertificates({ certificates, names: SERVICES, keyTypes: ['ecdsa-p256', 'rsa-2048'], hasAuthorityKey })
}

/**
 * Probes a plane in one configuration, in a rig that is started for it and then removed.
 * @param {{ site: Pick<Site, 'target'> } & Omit<Parameters<typeof createRig>[0], 'target' | 'interception'>} options folder: the
 *   rig has one of its own in it
 * @returns {Promise<ProbedRow[]>} the rows of the corpus
 * @throws {BenchError} if the plane does not start, or a sidecar exits; the signal's reason when it aborts; other errors as
 *   `createRig` and `probeRig`
 */
export async function tryPlane({ site, measured, folder, ...options }) {
  const interception = chooseInterception(options.plane, options.profile)
  const { tls, protocol, trafficPolicy, features = LEAN } = measured
  const rigFolder = path.join(folder, [tls, protocol.replace('/', ''), trafficPolicy, features].join('-'))
  const rig = await createRig({ ...options, target: site.target, measured, folder: rigFolder, interception })
  try {
    return await probeRig(rig)
  } finally {
    await rig.close()
  }
}

/**
 * Chooses how connections reach a profile's sidecars.
 * @param {Pick<DataPlane, 'deployed' | 'profiles'>} plane
 * @param {string | null} profile null: the plane's first profile
 * @returns {'redirect' | undefined} redirect: the profile takes no others; undefined: directly
 */
export function chooseInterception({ deployed, profiles }, profile) {
  return deployed?.[profile ?? profiles[0]]?.isRedirected ? /** @type {const} */ ('redirect') : undefined
}

/**
 * Finds the reason why a plane cannot be probed in a configuration on this machine.
 * @param {Measured} measured
 * @param {object} options
 * @param {DataPlane} options.plane
 * @param {Pick<Tool, 'version' | 'library'>} options.tool
 * @param {string | null} [options.profile] null or absent: the plane's first
 * @param {'redirect'} [options.interception] absent: as the profile takes connections
 * @param {boolean} [options.hasCertificate] the load speaks mTLS; false by default
 * @returns {string | null} null: it can be probed
 * @throws {BenchError} if this kit does not know a feature of the configuration
 */
export function findUntriedReason(measured, { plane, tool, profile = null, hasCertificate = false, ...choices }) {
  if (plane.carriesBytesOnly && measured.protocol !== 'tcp')
    return 'it carries bytes, whatever applications speak: see tcp'
  const { tls, protocol, features } = measured
  const { interception = chooseInterception(plane, profile) } = choices
  const conditions = { ...USUAL, tls, protocol, features, ...(interception && { interception }) }
  return (
    findUnsupportedFeatures(plane, conditions) ??
    plane.findUnsupported({
      conditions,
      entrance: { modes: listTriedModes(tls), hasCertificate },
      profile,
      version: tool.version,
      library: tool.library,
      cpus: os.availableParallelism(),
    })
  )
}
