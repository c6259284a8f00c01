import os from 'node:os'
import path from 'node:path'
import { ALL, findLackingFeatures, LEAN } from '../model/features.js'
import { issueCertificates } from '../run/issue-certificates.js'
import { SERVICES } from './credentials.js'
import { probeRig } from './gate.js'
import { createRig } from './rig.js'

/** One plane and the corpus, in every configuration that changes what a sidecar does. */
/** @import { DataPlane, Site, Tool } from '../model/types.ts' */
/** @import { Row } from './beside/probe.js' */
/** @import { Measured } from './rig.js' */

/** @type {Measured[]} */
export const CONFIGURATIONS = [
  { tls: 'ecdsa-p256', protocol: 'http/1.1', trafficPolicy: 'listed' },
  { tls: 'ecdsa-p256', protocol: 'http/1.1', trafficPolicy: 'open' },
  { tls: 'rsa-2048', protocol: 'http/1.1', trafficPolicy: 'listed' },
  { tls: 'plaintext', protocol: 'http/1.1', trafficPolicy: 'open' },
  { tls: 'ecdsa-p256', protocol: 'http/2', trafficPolicy: 'listed' },
  { tls: 'plaintext', protocol: 'http/2', trafficPolicy: 'listed' },
  { tls: 'ecdsa-p256', protocol: 'http/1.1', trafficPolicy: 'listed', features: ALL },
]

const USUAL = { services: 1, workers: null, configuredServices: 0, memoryLimitBytes: null, changesPerMinute: null }

/** Certificates for the corpus, of every key type. @param {string} certificates a folder that only this user reads */
export function writeParityCertificates(certificates) {
  return issueCertificates({ certificates, names: SERVICES, keyTypes: ['ecdsa-p256', 'rsa-2048'] })
}

/**
 * @param {{ site: Pick<Site, 'target'>, index: number, plane: DataPlane, tool: Tool, scripts: string, certificates: string,
 *   folder: string, measured: Measured, profile: string | null, signal: AbortSignal }} options
 * @returns {Promise<Row[]>}
 * @throws {BenchError} when it does not start
 */
export async function tryPlane({ site, measured, folder, ...options }) {
  const { interception } = chooseInterception(options.plane, options.profile)
  const { tls, protocol, trafficPolicy, features = LEAN } = measured
  const own = path.join(folder, [tls, protocol.replace('/', ''), trafficPolicy, features].join('-'))
  const rig = await createRig({ ...options, target: site.target, measured, folder: own, interception })
  try {
    return await probeRig(rig)
  } finally {
    await rig.close()
  }
}

/** Redirected connections, for a profile that takes no others. @param {DataPlane} plane @param {string | null} profile */
function chooseInterception({ deployed }, profile) {
  return { interception: deployed?.[`${profile}`]?.isRedirected ? /** @type {const} */ ('redirect') : undefined }
}

/**
 * @param {Measured} measured
 * @param {{ plane: DataPlane, tool: Tool, profile?: string | null }} options
 * @returns {string | null} why the plane cannot be tried so; null: it can
 */
export function findUntried({ tls, protocol, features }, { plane, tool, profile = null }) {
  const conditions = { ...USUAL, tls, protocol, features, ...chooseInterception(plane, profile) }
  const cpus = os.availableParallelism()
  return (
    findLackingFeatures(plane, conditions) ??
    plane.findUnsupported({ conditions, profile, version: tool.version, cpus })
  )
}
