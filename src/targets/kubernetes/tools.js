import { BenchError, SiteLostError } from '../../lib/errors.js'
import { lastLines } from '../../lib/log-tail.js'
import { renderCommand } from '../../lib/render-command.js'
import { isBuilt } from '../../tools/sources.js'
import { isVersionPrinted, readLibrary } from '../../tools/version.js'
import { awaitPods } from './await-pods.js'
import { imageOf } from './images.js'
import { LABELS, MANAGER, renderVersionJob } from './manifests.js'
import { findContainerId, findContainerStatus } from './pod-status.js'

/** @import { Tool, ToolSpec } from '../../model/types.ts' @import { Api } from './api.js' */
/** @import { Where } from './pod.js' */

const PULL_SECONDS = 300
const ASK_MS = 200

/** @typedef {ReturnType<typeof import('./index.js').createKubernetesTarget>} ToolTarget */

/**
 * Makes the function that finds programs in images. A Job has each print its version: that shows a missing or a wrong image before
 * anything is measured, and pulls a good one.
 * @param {{ api: Api, target: ToolTarget, images: Record<string, string>, whereOf: (name: string) => Where,
 *   signal: AbortSignal }} options images: the user's, by the tool's name; whereOf: the place of a tool
 * @returns {(spec: ToolSpec) => Promise<Tool | { missing: string }>}
 */
export function createImageTools({ api, target, images, whereOf, signal }) {
  return async spec => {
    if (spec.path)
      return { missing: `${spec.path} is a program of this machine: a cluster runs images, --image ${spec.name}=…` }
    const image = imageOf(spec, images)
    if (image === null) return { missing: `there is no image of ${spec.name}: give --image ${spec.name}=…` }
    const written = `${renderCommand('images', `--${spec.name} FILE`)} writes it, on a machine of the node's architecture`
    const bring = isBuilt(spec.name) && !Object.hasOwn(images, spec.name) ? `${written}, or ` : ''
    const advice = `${bring}give --image ${spec.name}=…`
    const { pods } = await target.open()
    const { namespace } = target
    const name = `version-${spec.name}`
    const labels = { [LABELS.managed]: MANAGER }
    const command = [spec.name, ...spec.versionArgv]
    const job = renderVersionJob({ name, namespace, labels, image, command, where: whereOf(spec.name) })
    await api.apply(job)
    const find = () => pods.find(name)
    const readLog = () => api.readLog({ namespace, pod: `${find()[0]?.metadata?.name}`, container: name })
    let text = ''
    // Some programs print their version and go on.
    const isSaid = () => isVersionPrinted(spec, text)
    const reading = setInterval(async () => {
      const [pod] = find()
      if (pod && findContainerId(pod, name)) text = await readLog().catch(() => text)
    }, ASK_MS)
    try {
      const isDone = () => isSaid() || find().some(pod => pod.status?.phase === 'Succeeded')
      const what = `the image of ${spec.name}`
      await awaitPods({ api, pods, namespace, find, isDone, maker: name, signal, what, deadlineSeconds: PULL_SECONDS })
      if (!isSaid()) text = await readLog()
      const version = spec.parseVersion(text)
      const digest = findContainerStatus(find()[0], name)?.imageID.replace(/^.*sha256:/, '') ?? ''
      const said = lastLines(text, 3).join(' | ') || 'it printed nothing'
      if (version === null)
        return { missing: `the image ${image} has no ${spec.name} that says its version: ${said}; ${advice}` }
      if (!spec.isAccepted(version))
        return { missing: `the image ${image} has ${spec.name} ${version}, wanted ${spec.wanted}: ${advice}` }
      const origin = { sha256: digest, source: `image ${image}`, image }
      return { name: spec.name, path: spec.name, version, ...readLibrary(spec, text), ...origin }
    } catch (error) {
      if (!(error instanceof BenchError) || error instanceof SiteLostError || error.exitStatus !== 1) throw error
      return { missing: `${error.message}${bring && `; ${advice}`}` }
    } finally {
      clearInterval(reading)
      await api.remove(job)
    }
  }
}
