import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { PORTS } from '../../../src/model/sidecar-contract.js'
import { renderServiceRules } from '../../../src/targets/iptables-rules.js'
import { renderDeployment } from '../../../src/targets/kubernetes/manifests.js'
import { createContainers, gateway, objects, pipyGateway, ratings } from '../../fakes/cluster-objects.js'

const isReader = (/** @type {string} */ name) => name.startsWith('reader')
/** The pods that objects make, by the object. @type {[string, any][]} */
const pods = Object.entries(objects).flatMap(([name, { kind, spec }]) => {
  const pod = kind === 'Pod' ? spec : spec?.template?.spec
  return pod ? [[name, pod]] : []
})
const withoutReader = pods.filter(([name]) => !isReader(name))
const containersOf = (/** @type {any} */ pod) => [...(pod.initContainers ?? []), ...pod.containers]
/** @param {typeof gateway} service @param {ReturnType<typeof createContainers>} containers @param {string} [rulesImage] */
const podOf = (service, containers, rulesImage) =>
  renderDeployment({ ...service, containers, where: null, hasNativeSidecars: true, rulesImage }).spec.template.spec
const RESTRICTED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}
const RESTRICTED_POD = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }

describe('what a cluster is asked for', () => {
  it.each(Object.entries(objects))('is, for %s, the golden manifest', (name, object) => {
    const text = stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })
    return expect(text).toMatchFileSnapshot(`../../golden/kubernetes/${name}.yaml`)
  })
})

describe('pods', () => {
  it.each(withoutReader)('of %s are restricted', (_, pod) => {
    expect(pod.securityContext).toMatchObject(RESTRICTED_POD)
    expect(pod.securityContext.runAsUser).toBeGreaterThan(0)
    for (const container of containersOf(pod)) expect(container.securityContext).toEqual(RESTRICTED)
    expect(pod).not.toHaveProperty('hostPID')
  })

  it.each(pods)('of %s get no token of a service account', (_, pod) => {
    expect(pod.automountServiceAccountToken).toBe(false)
  })
})

describe('the reader', () => {
  it.each(pods.filter(([name]) => isReader(name)))('as %s sees the node through mounts to read only', (_, pod) => {
    const [{ securityContext, volumeMounts }] = pod.containers
    expect(securityContext).toMatchObject({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true })
    expect(securityContext.capabilities).toEqual({ drop: ['ALL'], add: ['SYS_PTRACE', 'DAC_READ_SEARCH'] })
    for (const mount of volumeMounts) expect(mount.readOnly).toBe(true)
    expect(pod.volumes.flatMap((/** @type {any} */ v) => v.hostPath?.path ?? [])).toEqual(['/sys/fs/cgroup'])
  })

  it('goes to the nodes of services and load, and to all if either may go anywhere', () => {
    const affinityOf = (/** @type {string} */ name) => objects[name].spec.template.spec.affinity
    const { nodeSelectorTerms } =
      affinityOf('reader-on-nodes').nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution
    expect(nodeSelectorTerms).toHaveLength(2)
    expect(affinityOf('reader-anywhere')).toBeUndefined()
  })
})

describe('a sidecar', () => {
  const native = objects['deployment-native-sidecar'].spec.template.spec
  const beside = objects['deployment-without-native-sidecars'].spec.template.spec

  it('starts before its application and goes on running, if the cluster has such init containers', () => {
    expect(native.initContainers).toMatchObject([{ name: 'sidecar', restartPolicy: 'Always' }])
    expect(native.containers).toMatchObject([{ name: 'application' }])
  })

  it('is an ordinary container if it has not', () => {
    expect(beside).not.toHaveProperty('initContainers')
    expect(beside.containers).toMatchObject([{ name: 'application' }, { name: 'sidecar' }])
    for (const container of beside.containers) expect(container).not.toHaveProperty('restartPolicy')
  })

  it('that is alone in its pod is an ordinary container, because a pod needs one', () => {
    const pod = podOf(gateway, [pipyGateway[1]])
    expect(pod).not.toHaveProperty('initContainers')
    expect(pod.containers).toMatchObject([{ name: 'sidecar' }])
  })

  it('requests what it is limited to: its cap', () => {
    const limits = { cpu: '250m', memory: '134217728' }
    expect(native.initContainers[0].resources).toEqual({ requests: limits, limits })
    const requests = { cpu: '1500m', memory: '16Mi' }
    expect(beside.containers[1].resources).toEqual({ requests, limits: { cpu: '1500m' } })
  })

  it('requests the CPU that it is to have of a full node, without a limit, and its application does not', () => {
    const requesting = pipyGateway.map(container => ({
      ...container,
      spec: { ...container.spec, cpuLimitCores: null, cpuRequestCores: container.spec.role === 'sidecar' ? 0.05 : 4 },
    }))
    const { initContainers, containers } = podOf(gateway, requesting)
    const [sidecar] = initContainers ?? []
    expect(sidecar.resources.requests.cpu).toBe('50m')
    expect(sidecar.resources).not.toHaveProperty('limits.cpu')
    expect(containers[0].resources.requests.cpu).toBe('10m')
  })

  it('shares one quota with its application in a pod that has resources, and requests no more of it', () => {
    const inPod = pipyGateway.map(({ spec, folders }) => ({ folders, spec: { ...spec, podCpuCores: 1 } }))
    const { resources, initContainers, containers } = podOf(gateway, inPod)
    expect(resources).toEqual({ requests: { cpu: '1000m' }, limits: { cpu: '1000m' } })
    const [sidecar] = initContainers ?? []
    expect(sidecar.resources).toMatchObject({ requests: { cpu: '10m' }, limits: { cpu: '250m' } })
    expect(containers[0].resources.requests.cpu).toBe('10m')
    expect(podOf(gateway, pipyGateway)).not.toHaveProperty('resources')
  })

  it('has no limit without a cap', () => {
    const containers = createContainers({ service: 'ratings', plane: 'pipy', cpuLimitCores: null })
    const pod = podOf(ratings, containers)
    expect(pod.initContainers?.[0].resources).not.toHaveProperty('limits')
  })

  it('is ready when its inbound port is open; an application on the loopback cannot be probed', () => {
    const readiness = { tcpSocket: { port: PORTS.inbound }, periodSeconds: 1 }
    expect(native.initContainers[0].readinessProbe).toEqual(readiness)
    expect(beside.containers[1].readinessProbe).toEqual(readiness)
    expect(native.containers[0]).not.toHaveProperty('readinessProbe')
  })

  it('of a rollout is a pod that is ready without being asked, and is not started again', () => {
    const { containers, restartPolicy, affinity } = objects['sidecar-pod'].spec
    expect(containers).toMatchObject([{ name: 'sidecar', ports: expect.any(Array) }])
    expect(containers[0]).not.toHaveProperty('readinessProbe')
    expect(restartPolicy).toBe('Never')
    expect(affinity).toBeDefined()
  })

  it('sees its own files and credentials, and its application does not', () => {
    const mountsOf = (/** @type {any} */ c) => c.volumeMounts.map((/** @type {any} */ m) => m.mountPath)
    expect(mountsOf(native.initContainers[0])).toEqual([
      '/bench/pipy-scripts',
      '/bench/gateway',
      '/bench/certificates',
      '/tmp',
    ])
    expect(mountsOf(native.containers[0])).toEqual(['/bench/echo', '/tmp'])
  })
})

describe('a pod to whose sidecar connections are redirected', () => {
  const containers = createContainers({ service: 'gateway', plane: 'pipy', cpuLimitCores: null, isRedirected: true })
  const [application, sidecar] = containers
  const rulesImage = 'rules:1'
  const pod = podOf(gateway, containers, rulesImage)
  const [rules, sidecarContainer] = pod.initContainers ?? []

  it('sets rules before anything else runs, as root with the capability for it', () => {
    expect(rules).toMatchObject({ name: 'rules', image: rulesImage })
    expect(rules.command).toEqual(['iptables-restore', '/bench/gateway/iptables.rules'])
    expect(rules.securityContext).toEqual({
      ...{ ...RESTRICTED, runAsNonRoot: false, runAsUser: 0 },
      capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] },
    })
    expect(rules.volumeMounts).toContainEqual(expect.objectContaining({ mountPath: '/bench/gateway' }))
  })

  it('runs the sidecar as a user of its own, and the application as ever', () => {
    expect(sidecarContainer).toMatchObject({ name: 'sidecar', securityContext: { ...RESTRICTED, runAsUser: 1500 } })
    expect(pod.containers[0].securityContext).toEqual(RESTRICTED)
  })

  it('has rules for its ports', () => {
    expect(renderServiceRules([application.spec, sidecar.spec])).toContain(
      '-A PREROUTING -p tcp --dport 15003 -j RETURN',
    )
    expect(renderServiceRules([application.spec])).toBeNull()
  })
})

describe('an application without a sidecar', () => {
  it('is ready when its own port is open', () => {
    const [application] = createContainers({ service: 'ratings', plane: 'pipy', cpuLimitCores: null })
    const spec = { ...application.spec, listens: [{ address: '0.0.0.0', port: PORTS.application }] }
    const pod = podOf(ratings, [{ ...application, spec }])
    expect(pod.containers[0].readinessProbe).toMatchObject({ tcpSocket: { port: PORTS.application } })
  })
})

describe('volumes', () => {
  it('have names that a cluster accepts, for any name of their folder', () => {
    const [application] = pipyGateway
    const folders = [{ path: '/bench/My_Pipy-2.0-', configMap: 'c', names: ['main.js'] }]
    const pod = podOf(gateway, [{ ...application, folders }])
    expect(pod.volumes[0].name).toBe('bench-my-pipy-2-0')
  })

  it('have names of 63 characters at most, and mounts by the same names, where folders differ in what a name cannot hold', () => {
    const [application] = pipyGateway
    const long = `${'a'.repeat(54)}-${'b'.repeat(30)}`
    const paths = ['my_pipy', 'My-Pipy', '管道', '网格', `${long}1`, `${long}2`, 'b', 'b-2', 'B'].map(
      name => `/bench/${name}`,
    )
    const folders = paths.map(path => ({ path, configMap: 'c', names: ['main.js'] }))
    const pod = podOf(gateway, [{ ...application, folders }])
    const names = pod.volumes.map((/** @type {any} */ volume) => volume.name)
    expect(new Set(names).size).toBe(paths.length + 1)
    for (const name of names) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/)
    const mounts = pod.containers[0].volumeMounts.map((/** @type {any} */ mount) => [mount.name, mount.mountPath])
    expect(mounts).toEqual([...paths, '/tmp'].map((path, i) => [names[i], path]))
  })
})
