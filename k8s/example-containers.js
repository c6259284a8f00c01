import path from 'node:path'
import { pipyTool } from '../src/dataplanes/pipy/index.js'
import { PORTS } from '../src/model/sidecar-contract.js'
import { createApplication } from '../src/services/applications.js'
import { createModel } from '../src/services/sidecar-model.js'
import { locateNextHop } from '../src/services/topology.js'

/**
 * @import { DataPlane, Place, ProcessSpec, Service, Tool, ToolSpec, Topology } from '../src/model/types.ts'
 * @import { Container } from '../src/targets/kubernetes/pod.js'
 */

const CAP_CORES = 0.25
const CERTIFICATES = '/bench/certificates'

/**
 * The application of a service and its sidecar, as a run makes them, from their projects' own images.
 * @param {{ topology: Topology, service: Service, plane: DataPlane, scripts: Record<string, Record<string, string>>,
 *   addresses: Record<string, string> }} options scripts: the files of each folder; addresses: of services that others call
 * @returns {Container[]}
 */
export function createContainers({ topology, service, plane, scripts, addresses }) {
  /** @type {(name: string) => Place} */
  const createContainerPlace = name => ({ reach: addresses[name] ?? '', listen: '0.0.0.0', inside: '127.0.0.1' })
  const places = Object.fromEntries(topology.services.map(s => [s.name, createContainerPlace(s.name)]))
  const { tool, createSidecar } = /** @type {Required<DataPlane>} */ (plane)
  const application = createApplication({
    service: service.name,
    kind: /** @type {'echo' | 'forward'} */ (service.application),
    listen: { address: '127.0.0.1', port: PORTS.application },
    next: service.application === 'forward' ? locateNextHop(service, { places, hasSidecars: true }) : null,
    ...{ runtime: createTool(pipyTool), scripts: '/bench/echo', folder: '/bench' },
  })
  const sidecar = /** @type {NonNullable<typeof createSidecar>} */ (createSidecar)({
    model: createModel(topology, { service, places, trafficPolicy: 'listed', workers: 1, certificates: CERTIFICATES }),
    ...{
      folder: `/bench/${service.name}`,
      tool: createTool(/** @type {ToolSpec} */ (tool)),
      scripts: '/bench/pipy-scripts',
    },
    profile: null,
    cpuLimitCores: CAP_CORES,
  })
  return [application, sidecar].map(spec => ({ spec, folders: findFolders(spec, scripts) }))
}

/**
 * @param {ToolSpec} spec
 * @returns {Tool}
 */
function createTool({ name, image }) {
  const version = /\d+(\.\d+)*/.exec(`${image}`.split(':')[1] ?? '')?.[0] ?? ''
  return { name, path: name, version, sha256: '', source: `image ${image}`, image: `${image}` }
}

/**
 * What a process sees: scripts by the name of their folder, its own files and credentials by that of its service.
 * @param {ProcessSpec} spec
 * @param {Record<string, Record<string, string>>} scripts
 * @returns {Container['folders']}
 */
function findFolders({ service, folder, files, credentials, ...spec }, scripts) {
  const folders = [
    ...spec.scripts.map(at => {
      const configMap = path.posix.basename(at)
      return { path: at, configMap, names: Object.keys(scripts[configMap]) }
    }),
    { path: folder, configMap: service, names: files.map(f => f.name) },
    { path: CERTIFICATES, secret: service, names: credentials.map(file => path.posix.basename(file)) },
  ]
  return folders.filter(({ names }) => names.length > 0)
}
