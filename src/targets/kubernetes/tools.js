import { BenchError } from '../../lib/errors.js'
import { LABELS, MANAGER, renderVersionJob } from './manifests.js'
import { findContainerStatus, findEnding, findObstacle } from './pod-status.js'

/**
 * @import { Target, Tool, ToolSpec } from '../../types.ts'
 * @import { Api } from './api.js'
 * @import { Where } from './manifests.js'
 */

const PULL_SECONDS = 300
const OBSTACLE_SECONDS = 10

/**
 * Finds programs in images: each is started once to say its version, so that an image that cannot be had, or holds
 * something else, is known before anything is measured, and is on the node when it is.
 * @param {{ api: Api, target: Target & { open: () => Promise<void>, namespace: string, watch: () => import('./pod-watch.js').PodWatch },
 *   images: Record<string, string>, where: Where }} options images: by the tool's name, instead of its own
 * @returns {(spec: ToolSpec) => Promise<Tool | { missing: string }>}
 */
export function createImageTools({ api, target, images, where }) {
  return async spec => {
    await target.open()
    const { namespace } = target
    const image = images[spec.name] ?? spec.image
    const name = `version-${spec.name}`
    const labels = { [LABELS.managed]: MANAGER }
    const job = renderVersionJob({ name, namespace, labels, image, command: [spec.name, ...spec.versionArgv], where })
    await api.apply(job)
    try {
      const { version, digest, said } = await askVersion({ api, target, spec, name })
      if (version === null) return { missing: `the image ${image} has no ${spec.name} that says its version: ${said}; give --image ${spec.name}=…` }
      if (!spec.isAccepted(version)) {
        throw new BenchError(`the image ${image} has ${spec.name} ${version}, wanted ${spec.wanted}: give --image ${spec.name}=…`)
      }
      return { name: spec.name, path: spec.name, version, sha256: digest, source: `image ${image}`, image }
    } finally {
      await api.remove(job)
    }
  }
}

/**
 * @param {{ api: Api, target: Parameters<typeof createImageTools>[0]['target'], spec: ToolSpec, name: string }} options
 * @returns {Promise<{ version: string | null, digest: string, said: string }>}
 */
async function askVersion({ api, target, spec, name }) {
  const pods = target.watch()
  const { namespace } = target
  const own = () => pods.find({ [LABELS.service]: name }).at(0) ?? null
  const deadline = performance.now() + PULL_SECONDS * 1000
  let obstacleSince = Number.POSITIVE_INFINITY
  while (performance.now() < deadline) {
    await pods.until(() => own()?.status?.phase !== 'Pending' && own(), { deadlineSeconds: 1 })
    const pod = own()
    if (!pod) continue
    const obstacle = findObstacle(pod)
    obstacleSince = obstacle === null ? Number.POSITIVE_INFINITY : Math.min(obstacleSince, performance.now())
    const started = findContainerStatus(pod, name)?.containerID
    const text = started ? await api.readLog({ namespace, pod: `${pod.metadata?.name}`, container: name }) : ''
    const version = spec.parseVersion(text)
    const digest = findContainerStatus(pod, name)?.imageID.replace(/^.*sha256:/, '') ?? ''
    if (version) return { version, digest, said: text }
    const said = text.trim().split('\n').slice(-3).join(' | ')
    const isStuck = obstacle !== null && (obstacle.isFinal || performance.now() - obstacleSince > OBSTACLE_SECONDS * 1000)
    if (isStuck) return { version: null, digest, said: said || obstacle.why }
    if (findEnding(pod, name) !== null) return { version: null, digest, said: said || 'it printed nothing' }
  }
  return { version: null, digest: '', said: `nothing within ${PULL_SECONDS} s` }
}
