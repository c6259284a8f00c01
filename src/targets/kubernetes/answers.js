import { z } from 'zod'
import { BenchError } from '../../lib/errors.js'
import { findFault } from '../../model/schemas.js'

/** The parts of a cluster's answers that the kit relies on. Pure. */
/** @import { V1Node, V1Pod } from '@kubernetes/client-node' */

const text = z.string()
const words = text.nullish()
const state = z
  .looseObject({
    waiting: z.looseObject({ reason: words, message: words }).nullish(),
    terminated: z
      .looseObject({ exitCode: z.int(), signal: z.int().nullish(), reason: words, message: words })
      .nullish(),
  })
  .nullish()
const containers = z
  .array(
    z.looseObject({
      name: text,
      image: words,
      containerID: words,
      restartCount: z.int().min(0),
      state,
      lastState: state,
    }),
  )
  .nullish()
const conditions = z.array(z.looseObject({ type: text, status: text, message: words })).nullish()
const labels = z.record(text, text).nullish()

const requests = z
  .looseObject({ resources: z.looseObject({ requests: z.record(text, text).nullish() }).nullish() })
  .array()
  .nullish()

const pod = z.looseObject({
  metadata: z.looseObject({ name: text, namespace: words, uid: words, labels }),
  spec: z.looseObject({ nodeName: words, containers: requests, initContainers: requests }).nullish(),
  status: z
    .looseObject({
      phase: words,
      reason: words,
      message: words,
      conditions,
      containerStatuses: containers,
      initContainerStatuses: containers,
    })
    .nullish(),
})

const cpus = text.regex(/^\d{1,9}(?:\.\d{1,9})?m?$/, 'it is no number of CPUs')
const bytes = text.regex(/^\d{1,15}(?:[KMGT]i?|k)?$/, 'it is no number of bytes')
const node = z.looseObject({
  metadata: z.looseObject({ name: text, labels }),
  spec: z
    .looseObject({
      unschedulable: z.boolean().nullish(),
      taints: z.array(z.looseObject({ key: text, effect: text })).nullish(),
    })
    .nullish(),
  status: z.looseObject({
    nodeInfo: z.looseObject({
      bootID: text,
      kernelVersion: text,
      architecture: text,
      osImage: text,
      kubeletVersion: text,
      containerRuntimeVersion: text,
    }),
    allocatable: z.looseObject({ cpu: cpus, memory: bytes, pods: text.regex(/^\d{1,9}$/, 'it is no number of pods') }),
    capacity: z.looseObject({ cpu: cpus, memory: bytes }),
    conditions,
  }),
})

const time = z.string().refine(stamp => Number.isFinite(Date.parse(stamp)), 'it is no time')
// Absent in a container's first seconds.
const cpu = z.looseObject({ time, usageCoreNanoSeconds: z.number().min(0).optional() }).nullish()
const memory = z
  .looseObject({ workingSetBytes: z.number().min(0).optional(), rssBytes: z.number().min(0).optional() })
  .nullish()
const kubeletSummary = z.looseObject({
  node: z.looseObject({ cpu }).nullish(),
  pods: z
    .array(
      z.looseObject({
        podRef: z.looseObject({ name: text, namespace: text }),
        containers: z.array(z.looseObject({ name: text, cpu, memory })).nullish(),
      }),
    )
    .nullish(),
})

/** @param {unknown} answer @returns {V1Pod} @throws {BenchError} with the member that is not as it must be */
export const readPod = answer => assertAnswer(pod, 'a pod', answer)

/** @param {unknown} answer @returns {V1Node} @throws {BenchError} */
export const readNode = answer => assertAnswer(node, 'a node', answer)

/** @param {unknown} answer  @throws {BenchError} */
export const readKubeletSummary = answer => assertAnswer(kubeletSummary, "the kubelet's counters", answer)

/** @param {z.ZodType} schema @param {string} what @param {unknown} answer @returns {any} */
function assertAnswer(schema, what, answer) {
  const fault = findFault(schema, answer)
  if (fault !== null)
    throw new BenchError(`the cluster described ${what} in a way that the kit does not know: ${fault}`)
  return answer
}
