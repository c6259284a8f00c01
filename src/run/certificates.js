import { rmSync } from 'node:fs'
import path from 'node:path'
import { certificatesFolder } from '../lib/certificate-files.js'
import { writeCertificates } from '../lib/certificates.js'
import { GENERATOR, identityOf } from '../model/sidecar-contract.js'
import { SERVICES as PARITY_SERVICES } from './parity/rig.js'

/**
 * @import { Plan, Topology } from '../model/types.ts'
 * @import { Ledger } from '../node/ledger.js'
 */

/**
 * Makes the certificates of a run in the folder of its ledger, which only this user can read: keys must not be among the
 * results. They are removed when this process ends, too.
 * @param {{ ledger: Ledger, plan: Plan, topologies: Record<string, Topology> }} options
 * @returns {Promise<{ certificates: string, close: (options: { retain: boolean }) => void }>} certificates: of all key types;
 *   close: removes them, unless services that read them are retained
 */
export async function openCertificates({ ledger, plan, topologies }) {
  const certificates = path.join(ledger.folder, 'certificates')
  const removeKeys = () => rmSync(certificates, { recursive: true, force: true })
  process.on('exit', removeKeys)
  const names = Object.values(topologies).flatMap(({ services }) => services.map(({ name }) => name))
  const services = [...new Set([GENERATOR, ...PARITY_SERVICES, ...names])].map(name => ({
    name,
    identity: identityOf(name),
  }))
  await writeCertificates({ folder: certificates, services })
  if (plan.arms.some(arm => arm.conditions.tls === 'rsa-2048')) {
    await writeCertificates({ folder: certificatesFolder(certificates, 'rsa-2048'), services, keyType: 'rsa-2048' })
  }
  return {
    certificates,
    close({ retain }) {
      process.off('exit', removeKeys)
      if (!retain) removeKeys()
    },
  }
}
