import { z } from 'zod'
import { BenchError } from '../../lib/errors.js'
import { findFault } from '../../lib/schema-issue.js'

/** The parts of a cluster's answers that the kit relies on. Pure. */
/** @import { V1Node, V1Pod } from '@kubernetes/client-node' */

/** Creates the schema of an object that may be absent. @param {z.ZodRawShape} shape */
const createObjectSchema = shape => z.looseObject(shape).nullish()
/** Creates the schema of a list that may be absent. @param {z.ZodRawShape} shape of each */
const createListSchema = shape => z.looseObject(shape).array().nullish()
const text = z.string()
const words = text.nullish()
const ended = createObjectSchema({ exitCode: z.int(), signal: z.int().nullish(), reason: words, message: words })
const state = createObjectSchema({ waiting: createObjectSchema({ reason: words, message: words }), terminated: ended })
const ofContainer = { name: text, image: words, containerID: words, restartCount: z.int().min(0) }
const containers = createListSchema({ ...ofContainer, state, lastState: state })
const conditions = createListSchema({ type: text, status: text, message: words })
const labels = z.record(text, text).nullish()
const requests = createListSchema({ resources: createObjectSchema({ requests: z.record(text, text).nullish() }) })
const said = { phase: words, reason: words, message: words, conditions }

const pod = z.looseObject({
  metadata: z.looseObject({ name: text, namespace: words, uid: words, labels }),
  spec: createObjectSchema({ nodeName: words, containers: requests, initContainers: requests }),
  status: createObjectSchema({ ...said, containerStatuses: containers, initContainerStatuses: containers }),
})

const cpus = text.regex(/^\d{1,9}(?:\.\d{1,9})?m?$/, 'it is no number of CPUs')
const bytes = text.regex(/^\d{1,15}(?:[KMGT]i?|k)?$/, 'it is no number of bytes')
const pods = text.regex(/^\d{1,9}$/, 'it is no number of pods')
const system = { kernelVersion: text, architecture: text, osImage: text }
const node = z.looseObject({
  metadata: z.looseObject({ name: text, labels }),
  spec: createObjectSchema({
    unschedulable: z.boolean().nullish(),
    taints: createListSchema({ key: text, effect: text }),
  }),
  status: z.looseObject({
    nodeInfo: z.looseObject({ ...system, bootID: text, kubeletVersion: text, containerRuntimeVersion: text }),
    allocatable: z.looseObject({ cpu: cpus, memory: bytes, pods }),
    capacity: z.looseObject({ cpu: cpus, memory: bytes }),
    conditions,
  }),
})

const time = z.string().refine(stamp => Number.isFinite(Date.parse(stamp)), 'it is no time')
const amount = z.number().min(0)
// Numbers are absent in a container's first seconds.
const cpu = createObjectSchema({ time, usageCoreNanoSeconds: amount.optional() })
const memory = createObjectSchema({ workingSetBytes: amount.optional(), rssBytes: amount.optional() })
const podRef = z.looseObject({ name: text, namespace: text })
const kubeletSummary = z.looseObject({
  node: createObjectSchema({ cpu }),
  pods: createListSchema({ podRef, containers: createListSchema({ name: text, cpu, memory }) }),
})

/**
 * Checks the members of a pod that the kit relies on.
 * @param {unknown} answer of the API server
 * @returns {V1Pod} the answer itself
 * @throws {BenchError} with the member that does not fit
 */
export const readPod = answer => assertAnswer(pod, 'a pod', answer)

/**
 * Checks the members of a node that the kit relies on.
 * @param {unknown} answer of the API server
 * @returns {V1Node} the answer itself
 * @throws {BenchError} with the member that does not fit
 */
export const readNode = answer => assertAnswer(node, 'a node', answer)

/**
 * Checks the members of the kubelet's stats/summary that the kit relies on.
 * @param {unknown} answer of the kubelet
 * @returns {any} the answer itself
 * @throws {BenchError} with the member that does not fit
 */
export const readKubeletSummary = answer => assertAnswer(kubeletSummary, "the kubelet's counters", answer)

/**
 * Asserts that an answer fits a schema.
 * @param {z.ZodType} schema
 * @param {string} what the noun for it, for the error
 * @param {unknown} answer
 * @returns {any} the answer itself
 * @throws {BenchError} with the member that does not fit
 */
function assertAnswer(schema, what, answer) {
  const fault = findFault(schema, answer)
  if (fault !== null)
    throw new BenchError(`the cluster described ${what} in a way that the kit does not know: ${fault}`)
  return answer
}
