import { BenchError, SiteLostError } from '../../lib/errors.js'
import { listLastLines } from '../../lib/log-tail.js'
import { renderCommand } from '../../lib/render-command.js'
import { isBuiltByKit } from '../../tools/sources.js'
import { isVersionPrinted, parseTlsLibrary } from '../../tools/version.js'
import { awaitPods } from './await-pods.js'
import { findImage } from './images.js'
import { LABELS, MANAGER, renderVersionJob } from './manifests.js'
import { findContainerId, findContainerStatus } from './pod-status.js'

/** Finds the programs of a run in images. */
/**
 * @import { Tool, ToolSpec } from '../../model/types.ts'
 * @import { Api } from './api.js'
 * @import { ClusterTarget } from './index.js'
 * @import { NodePlace } from './pod.js'
 * @import { PodWatch } from './pod-watch.js'
 */

const PULL_SECONDS = 300
const POLL_MS = 200

/**
 * @typedef {object} ImageToolOptions
 * @property {Api} api
 * @property {Pick<ClusterTarget, 'namespace' | 'open'>} target in whose namespace the Jobs run
 * @property {Record<string, string>} images of the user, by the tool's name
 * @property {(name: string) => NodePlace} choosePlace chooses the place of a tool
 * @property {AbortSignal} signal
 */

/**
 * Creates the function that finds programs in images. A Job prints the version of each program: that shows a missing
 * or wrong image before anything is measured, and pulls a good one.
 * @param {ImageToolOptions} options
 * @returns {(spec: ToolSpec) => Promise<Tool | { missing: string }>} missing: the reason, with advice unless the Job failed and
 *   the image is not one that the kit builds
 * @throws from the function that is returned: as `target.open`; {BenchError} if the API server refuses the Job or its removal;
 *   {SiteLostError} if it does not answer; the signal's reason when it aborts
 */
export function createImageToolFinder({ api, target, images, choosePlace, signal }) {
  return async spec => {
    if (spec.path)
      return { missing: `${spec.path} is a program of this machine: a cluster runs images, --image ${spec.name}=…` }
    const image = findImage(spec, images)
    if (image === null) return { missing: `there is no image of ${spec.name}: give --image ${spec.name}=…` }
    const written = `${renderCommand('images', `--${spec.name} FILE`)} writes it, on a machine of the node's architecture`
    const buildAdvice = isBuiltByKit(spec.name) && !Object.hasOwn(images, spec.name) ? `${written}, or ` : ''
    const advice = `${buildAdvice}give --image ${spec.name}=…`
    const { pods } = await target.open()
    const job = renderVersionJob({
      name: `version-${spec.name}`,
      namespace: target.namespace,
      labels: { [LABELS.managed]: MANAGER },
      image,
      command: [spec.name, ...spec.versionArgv],
      where: choosePlace(spec.name),
    })
    await api.apply(job)
    try {
      const { text, digest } = await readVersionLog({ api, pods, spec, ...job.metadata, signal })
      const version = spec.parseVersion(text)
      const output = listLastLines(text, 3).join(' | ') || 'it printed nothing'
      if (version === null)
        return { missing: `the image ${image} has no ${spec.name} that says its version: ${output}; ${advice}` }
      if (!spec.isAccepted(version))
        return { missing: `the image ${image} has ${spec.name} ${version}, wanted ${spec.wanted}: ${advice}` }
      const origin = { sha256: digest, source: `image ${image}`, image }
      return { name: spec.name, path: spec.name, version, ...parseTlsLibrary(spec, text), ...origin }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof BenchError) || error instanceof SiteLostError) throw error
      return { missing: `${error.message}${buildAdvice && `; ${advice}`}` }
    } finally {
      await api.remove(job)
    }
  }
}

/**
 * Reads what a program prints for its version, until that is printed or the program ends: some print it and keep running.
 * @param {object} options
 * @param {Api} options.api
 * @param {PodWatch} options.pods
 * @param {ToolSpec} options.spec
 * @param {string} options.namespace
 * @param {string} options.name of the Job, its container and its service
 * @param {AbortSignal} options.signal
 * @returns {Promise<{ text: string, digest: string }>} digest: the SHA-256 of the image; empty: the node does not say it
 * @throws {BenchError} if the program does not start, fails, or prints no version in PULL_SECONDS; as `awaitPods`
 */
async function readVersionLog({ api, pods, spec, namespace, name, signal }) {
  const listPods = () => pods.find(name)
  const readLog = () => api.readLog({ namespace, pod: `${listPods()[0]?.metadata?.name}`, container: name })
  let text = ''
  const isPrinted = () => isVersionPrinted(spec, text)
  const polling = setInterval(async () => {
    const [pod] = listPods()
    if (pod && findContainerId(pod, name)) text = await readLog().catch(() => text)
  }, POLL_MS)
  try {
    await awaitPods({
      api,
      pods,
      namespace,
      noun: `the image of ${spec.name}`,
      controllerPrefix: name,
      listPods,
      isDone: podsSoFar => isPrinted() || podsSoFar.some(pod => pod.status?.phase === 'Succeeded'),
      deadlineSeconds: PULL_SECONDS,
      signal,
    })
    if (!isPrinted()) text = await readLog()
    const imageId = findContainerStatus(listPods()[0], name)?.imageID
    return { text, digest: imageId?.replace(/^.*sha256:/, '') ?? '' }
  } finally {
    clearInterval(polling)
  }
}
