import { z } from 'zod'
import { BenchError } from '../../lib/errors.js'
import { findFault } from '../../lib/schema-issue.js'

/** The parts of a cluster's answers that the kit relies on. Pure. */
/** @import { V1Node, V1Pod } from '@kubernetes/client-node' */

/** Creates the schema of an object that may be absent. @param {z.ZodRawShape} shape */
const createObjectSchema = shape => z.looseObject(shape).nullish()
/** Creates the schema of a list that may be absent. @param {z.ZodRawShape} shape of each element */
const createListSchema = shape => z.looseObject(shape).array().nullish()
const text = z.string()
const optionalText = text.nullish()
const explanation = { reason: optionalText, message: optionalText }
const labels = z.record(text, text).nullish()

const terminated = createObjectSchema({ exitCode: z.int(), signal: z.int().nullish(), ...explanation })
const state = createObjectSchema({ waiting: createObjectSchema(explanation), terminated })
const containerStatuses = createListSchema({
  name: text,
  image: optionalText,
  containerID: optionalText,
  restartCount: z.int().min(0),
  state,
  lastState: state,
})
const conditions = createListSchema({ type: text, status: text, message: optionalText })
const containers = createListSchema({ resources: createObjectSchema({ requests: z.record(text, text).nullish() }) })
const podSchema = z.looseObject({
  metadata: z.looseObject({ name: text, namespace: optionalText, uid: optionalText, labels }),
  spec: createObjectSchema({ nodeName: optionalText, containers, initContainers: containers }),
  status: createObjectSchema({
    phase: optionalText,
    ...explanation,
    conditions,
    containerStatuses,
    initContainerStatuses: containerStatuses,
  }),
})

const cpus = text.regex(/^\d{1,9}(?:\.\d{1,9})?m?$/, 'it is no number of CPUs')
const bytes = text.regex(/^\d{1,15}(?:[KMGT]i?|k)?$/, 'it is no number of bytes')
const pods = text.regex(/^\d{1,9}$/, 'it is no number of pods')
const system = { kernelVersion: text, architecture: text, osImage: text }
const nodeSchema = z.looseObject({
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
const kubeletSummarySchema = z.looseObject({
  node: createObjectSchema({ cpu }),
  pods: createListSchema({ podRef, containers: createListSchema({ name: text, cpu, memory }) }),
})

/**
 * Asserts that an answer is a pod whose members, as far as the kit relies on them, fit the schema.
 * @param {unknown} answer of the API server
 * @returns {V1Pod} the answer itself
 * @throws {BenchError} with the member that does not fit
 */
export const assertPod = answer => assertAnswer(podSchema, 'a pod', answer)

/**
 * Asserts that an answer is a node whose members, as far as the kit relies on them, fit the schema.
 * @param {unknown} answer of the API server
 * @returns {V1Node} the answer itself
 * @throws {BenchError} with the member that does not fit
 */
export const assertNode = answer => assertAnswer(nodeSchema, 'a node', answer)

/**
 * Asserts that an answer is a stats/summary whose members, as far as the kit relies on them, fit the schema.
 * @param {unknown} answer of the kubelet
 * @returns {any} the answer itself
 * @throws {BenchError} with the member that does not fit
 */
export const assertKubeletSummary = answer => assertAnswer(kubeletSummarySchema, "the kubelet's counters", answer)

/**
 * Asserts that an answer fits a schema.
 * @param {z.ZodType} schema
 * @param {string} noun for the answer, for the error
 * @param {unknown} answer
 * @returns {any} the answer itself
 * @throws {BenchError} with the member that does not fit
 */
function assertAnswer(schema, noun, answer) {
  const fault = findFault(schema, answer)
  if (fault !== null)
    throw new BenchError(`the cluster described ${noun} in a way that the kit does not know: ${fault}`)
  return answer
}
