import { BenchError } from '../lib/errors.js'
import { isRedirected } from '../model/arms.js'
import { locateAuthorityKey, locateCertificates } from '../model/certificate-files.js'
import { hasChunks } from '../model/requests.js'
import { GENERATOR } from '../model/sidecar-contract.js'
import { findArmPipeline, findSidecarTool } from '../model/tools.js'
import { listPaths } from '../model/traffic.js'
import { createModel } from './sidecar-model.js'

/**
 * @import { Arm, Programs, Service, SidecarOptions } from '../model/types.ts'
 * @import { ArmServices } from './specs.js'
 */

/**
 * Creates the options of a service's sidecar: its model by the arm's conditions, its program, and its paths as processes see them.
 * @param {Service} service
 * @param {ArmServices} services
 * @returns {SidecarOptions}
 * @throws {BenchError} if its plane names no program, or the arm has a feature that the kit does not know
 */
export function createServiceSidecarOptions(
  service,
  { arm, topology, places, programs, folders, locate, scriptFiles, ...services },
) {
  const { trafficPolicy, cpus } = services
  const { tls, protocol, configuredServices, features, changed } = arm.conditions
  const { tool, carriesBytesOnly } = programs.planes[arm.plane]
  const certificates = locate(locateCertificates(folders.certificates, tls))
  if (tool === null) throw new BenchError(`the plane ${arm.plane} has sidecars and names no program for them`)
  return {
    model: createModel(topology, {
      service,
      places,
      workers: chooseWorkers(arm, { cpus, planes: programs.planes }),
      trafficPolicy,
      certificates,
      tls,
      protocol: carriesBytesOnly ? 'tcp' : protocol,
      configuredServices,
      features,
      isRedirected: isRedirected(arm.conditions),
      paths: arm.load.traffic === undefined ? [] : listPaths(arm.load.requests ?? []),
      streamsAnswers: hasChunks(arm.load),
      // To see a certificate change, the prober connects with the identity of the load.
      client: arm.load.hasCertificate || changed === 'certificate' ? GENERATOR : null,
    }),
    folder: locate(`${folders.process}/${service.name}`),
    tool: findSidecarTool(programs.tools, { tool, variant: arm.variant }),
    scripts: locate(folders.scripts),
    scriptFiles,
    pipeline: findArmPipeline(programs, arm),
    profile: arm.profile,
    cpuLimitCores: arm.cpuLimitCores,
    authorityKeyPath: locateAuthorityKey(certificates),
  }
}

/**
 * Chooses the number of workers of a sidecar: as the experiment says, else as the plane says, else one for each CPU, rounded up, of its CPU
 * limit, of its pod or of the machine.
 * @param {Pick<Arm, 'plane' | 'profile' | 'cpuLimitCores' | 'conditions'>} arm
 * @param {{ cpus: number, planes: Programs['planes'] }} options cpus: of the machine
 * @returns {number} at least 1
 */
export function chooseWorkers({ plane, profile, cpuLimitCores, conditions }, { cpus, planes }) {
  const planeWorkers = planes[plane].countWorkers({ profile, cpus, cpuLimitCores })
  const usableCores = cpuLimitCores ?? conditions.podCpuCores ?? cpus
  return conditions.workers ?? planeWorkers ?? Math.max(1, Math.ceil(usableCores))
}
