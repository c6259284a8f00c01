import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { certificatesFolder } from '../lib/certificate-files.js'
import { writeCertificates } from '../lib/certificates.js'
import { GENERATOR, identityOf } from '../model/sidecar-contract.js'
import { processStartTicks } from '../node/kernel/proc-files.js'
import { SERVICES as PARITY_SERVICES } from './parity/rig.js'

/**
 * @import { Plan, Topology } from '../model/types.ts'
 */

/**
 * Makes a folder that only this user can read, with the certificates of a run: its keys must not be among the results.
 * The folder is removed when this process ends, too; its file `owner` tells the verb `cleanup` whether that process lives.
 * @param {{ runId: string, plan: Plan, topologies: Record<string, Topology> }} options
 * @returns {Promise<{ certificates: string, close: (options: { retain: boolean }) => void }>} certificates: of all key types;
 *   close: removes the folder, unless services that read it are retained
 */
export async function openScratch({ runId, plan, topologies }) {
  const scratch = path.join(os.tmpdir(), `sidecar-bench.${runId}`)
  mkdirSync(scratch, { mode: 0o700 })
  const removeFolder = () => rmSync(scratch, { recursive: true, force: true })
  process.on('exit', removeFolder)
  writeFileSync(path.join(scratch, 'owner'), `${process.pid} ${processStartTicks(process.pid)}`)
  const certificates = path.join(scratch, 'certificates')
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
      process.off('exit', removeFolder)
      if (!retain) removeFolder()
    },
  }
}
