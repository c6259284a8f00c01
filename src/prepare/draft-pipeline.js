import path from 'node:path'
import { createPipyArgv } from '../dataplanes/pipy/argv.js'
import { BenchError, TimeoutError } from '../lib/errors.js'
import { waitForCondition } from '../lib/wait.js'
import { createPipelineDocument, listBinaryFiles } from '../model/pipeline.js'
import { createProcess } from '../model/processes.js'
import { createApplication } from '../services/applications.js'
import { createPipeline } from '../tools/read-pipeline.js'

/**
 * Finds out how a folder of Pipy scripts without a `pipeline.yaml` is run: starts it once, reads at which ports it listens, and sends
 * it requests until one is answered.
 * @import { Deployment, Endpoint, Handle, Site, Target, Tool } from '../model/types.ts'
 * @import { Pipeline } from '../model/pipeline.js'
 * @import { Request } from '../node/send.js'
 */

const LISTEN_SECONDS = 3
const ANSWER_SECONDS = 2
const PATHS_MOST = 6
const PORT_MOST = 65_535
const BODY = 'sidecar-bench looks'
const HOST = 'ratings'
const NEEDS = 'write a pipeline.yaml (docs/your-pipeline.md)'
const SERVICE = 'look'
// No run reaches this number of a start.
const DRAFT_START = 999_999
const ECHO = path.resolve(import.meta.dirname, '../../echo')

/**
 * A request and its answer.
 * @typedef {object} Answered
 * @property {number} port to which it was sent
 * @property {string} method
 * @property {string} path
 * @property {number | null} status null: no answer came
 * @property {string} body empty: no answer came, or it has none
 * @property {string | null} reason why no answer came; null: one came
 */

/**
 * Drafts the pipeline of a folder of scripts. It writes nothing into that folder, and removes the processes that it starts. Its `file`
 * ends in `(not written)`.
 * @param {object} options
 * @param {Site} options.site
 * @param {string} options.scripts the folder of the scripts
 * @param {Tool} options.pipy
 * @param {string} options.folder for the files of the processes that are started
 * @param {AbortSignal} options.signal
 * @returns {Promise<Pipeline>}
 * @throws {BenchError} if the scripts do not start, listen or answer, or no network namespace can be created; {UsageError} if their
 *   folder cannot be read; an error of the target; the signal's reason when it aborts before the requests
 */
export async function draftPipeline({ site, scripts, pipy, folder, signal }) {
  const { target } = site
  const folderName = path.relative('', scripts) || scripts
  await site.assertInterception().catch(error => {
    throw new BenchError(`${folderName} has no pipeline.yaml, and cannot be looked at: ${error.message}; ${NEEDS}`, {
      cause: error,
    })
  })
  // Its port is not known yet, and not used: only the files of the scripts are read.
  const document = createPipelineDocument({ listen: { port: 1 } })
  const pipeline = createPipeline({ document, file: folderName, scripts })
  const codeFiles = pickCodeFiles(pipeline)
  const called = listCalledPorts(codeFiles)
  const places = await target.placesFor(DRAFT_START, [SERVICE], { hasNamespaces: true })
  const sidecar = createScriptProcess(pipeline, { pipy, folder: path.join(folder, SERVICE) })
  const deployment = await target.deploy([sidecar], { start: DRAFT_START, folder })
  try {
    const [process] = deployment.processes
    const ports = await awaitListeningPorts(process, { name: folderName, signal })
    const upstreams = called.filter(port => !ports.includes(port))
    if (upstreams.length > 0) await addApplication(deployment, { target, upstreams, pipy, folder, signal })
    const entries = orderEntryPorts(ports, { called, scriptFiles: codeFiles })
    const { reach: address } = places[SERVICE]
    const answers = await sendRequests({ target, address, entries, paths: listRequestPaths(codeFiles), signal })
    const served = pickServedAnswer(answers)
    if (served === null)
      throw new BenchError(await process.renderFailure(renderUnservedError({ folderName, ports, answers, called })))
    const drafted = createDraftDocument(served, upstreams)
    return createPipeline({ document: drafted, file: `${folderName}/pipeline.yaml (not written)`, scripts })
  } finally {
    await deployment.remove()
  }
}

/**
 * Picks the files with code and settings. The others, such as a README, may contain other ports and paths.
 * @param {Pick<Pipeline, 'scriptFiles'>} pipeline
 * @returns {Record<string, string>} text by name; {}: there are none
 */
function pickCodeFiles({ scriptFiles }) {
  return Object.fromEntries(Object.entries(scriptFiles).filter(([name]) => /\.(js|json|ya?ml)$/.test(name)))
}

/**
 * Creates the process of Pipy that runs the scripts.
 * @param {Pick<Pipeline, 'scriptFiles' | 'binaryFiles'>} pipeline
 * @param {{ pipy: Tool, folder: string }} options folder: of the process
 */
function createScriptProcess({ scriptFiles, binaryFiles }, { pipy, folder }) {
  const textFiles = Object.entries(scriptFiles).map(([name, content]) => ({ name, content }))
  return createProcess({
    service: SERVICE,
    role: 'sidecar',
    program: pipy.path,
    argv: createPipyArgv({ version: pipy.version, threads: 1, script: `${folder}/main.js`, args: [] }),
    folder,
    files: [...textFiles, ...listBinaryFiles(binaryFiles)],
    listens: [],
  })
}

/**
 * Adds an echo application to a deployment, and waits until it listens at the ports that the scripts call without listening there. It is
 * of the same service: in its network namespace the scripts reach it at 127.0.0.1.
 * @param {Deployment} deployment gets the application among its processes, so that it removes it, too
 * @param {{ target: Target, upstreams: number[], pipy: Tool, folder: string, signal: AbortSignal }} options upstreams: at least one
 *   port
 * @throws {BenchError} if the application does not start within LISTEN_SECONDS; an error of the target; the signal's reason when it
 *   aborts
 */
async function addApplication(deployment, { target, upstreams, pipy, folder, signal }) {
  const [listen, ...others] = upstreams.map(port => ({ address: '127.0.0.1', port }))
  const application = createApplication({
    service: SERVICE,
    kind: 'echo',
    listen,
    others,
    next: null,
    runtime: pipy,
    scripts: target.locate(ECHO),
    folder,
  })
  const { processes } = await target.deploy([application], { start: DRAFT_START, folder })
  deployment.processes.push(...processes)
  await Promise.all(processes.map(handle => handle.waitUntilReady(signal, { deadlineSeconds: LISTEN_SECONDS })))
}

/**
 * Creates the document of scripts from the request that they answered.
 * @param {NonNullable<ReturnType<typeof pickServedAnswer>>} served
 * @param {number[]} upstreams the ports that the scripts call; a pipeline whose answer is no echo gets no upstream
 * @returns {Pipeline['document']} complete, with all defaults
 */
function createDraftDocument({ port, method, path: requestPath, isEchoed }, upstreams) {
  return createPipelineDocument({
    listen: { port },
    ...(isEchoed && upstreams.length > 0 && { upstream: { ports: upstreams } }),
    request: { method, path: requestPath },
  })
}

/**
 * Renders a drafted pipeline as the text of a pipeline.yaml: its port, the ports that it calls, and the method and path of its request,
 * unless they are POST and `/`. A draft has no other members that are not at their default.
 * @param {Pick<Pipeline, 'document'>} pipeline
 * @returns {string} YAML, whose first line is a comment, with a line end at its end
 */
export function renderDraft({ document: { listen, upstream, request } }) {
  const { method, path: requestPath } = request
  const requestMembers = [
    ...(method === 'POST' ? [] : [`method: ${method}`]),
    ...(requestPath === '/' ? [] : [`path: ${JSON.stringify(requestPath)}`]),
  ]
  return [
    '# How this pipeline is run, as it was found by starting it once: docs/your-pipeline.md',
    `listen: { port: ${listen.port} }`,
    ...(upstream?.ports ? [`upstream: { ports: [${upstream.ports.join(', ')}] }`] : []),
    ...(requestMembers.length > 0 ? [`request: { ${requestMembers.join(', ')} }`] : []),
    '',
  ].join('\n')
}

// An address of this host is one text, such as localhost:8080, or a host and a port beside it: { host: 'localhost', port: 8080 }.
const ADDRESS = String.raw`\b(?:localhost|127\.0\.0\.1)(?::|["']?[\s,]+["']?port["']?\s*:\s*)["']?(\d{1,5})\b["']?`
const ADDRESS_KEY = String.raw`(?:["']?(?:ip|host|hostname|addr|address)["']?\s*:\s*)?["']?`
// Scripts listen by `listen: { ip: 127.0.0.1, port: 8000 }`, or a list of such.
const LISTENED = new RegExp(String.raw`\blisten\w*["']?\s*[:=(](?:[\s[{}(,-]*${ADDRESS_KEY}${ADDRESS})+`, 'gi')

/**
 * Lists the ports of this host that scripts contain as addresses, in order of appearance. Addresses at which they
 * listen are left out.
 * @param {Record<string, string>} scriptFiles text by name
 * @returns {number[]} from 1 to 65535, each once; []: there are none
 */
export function listCalledPorts(scriptFiles) {
  const matches = Object.values(scriptFiles).flatMap(text => [
    ...text.replaceAll(LISTENED, '').matchAll(new RegExp(ADDRESS, 'gi')),
  ])
  return [...new Set(matches.map(([, port]) => Number(port)))].filter(port => port >= 1 && port <= PORT_MOST)
}

// A path is quoted or, as in YAML, stands before a colon; a wildcard may follow it.
const REQUEST_PATH = /(?:^|["'\s])(\/[a-z][\w/-]*)(\/?\*)?(?=["']|:\s|:$)/gim

/**
 * Lists the request paths that scripts contain. A path that has a wildcard behind it somewhere ends in a slash; the others do not.
 * @param {Record<string, string>} scriptFiles text by name
 * @returns {string[]} at most PATHS_MOST, each once; []: there are none
 */
export function listRequestPaths(scriptFiles) {
  const matches = Object.values(scriptFiles).flatMap(text => [...text.matchAll(REQUEST_PATH)])
  const wildcards = new Set(matches.flatMap(([, name, wildcard]) => (wildcard ? [name] : [])))
  const paths = matches.map(([, name]) => name.replace(/\/?$/, wildcards.has(name) ? '/' : ''))
  return [...new Set(paths)].slice(0, PATHS_MOST)
}

/**
 * Orders the ports that may take requests, by their first appearance in the scripts. Ports that do not appear follow;
 * ports that the scripts themselves call come last.
 * @param {number[]} ports at which the scripts listen
 * @param {{ called: number[], scriptFiles: Record<string, string> }} options called: ports that the scripts call;
 *   scriptFiles: text by name
 * @returns {number[]} the same ports
 */
export function orderEntryPorts(ports, { called, scriptFiles }) {
  const text = Object.values(scriptFiles).join('\n')
  const rank = (/** @type {number} */ port) => {
    const offset = text.search(new RegExp(`\\b${port}\\b`))
    return (called.includes(port) ? text.length : 0) + (offset === -1 ? text.length : offset)
  }
  return ports.toSorted((a, b) => rank(a) - rank(b))
}

/**
 * Waits until two readings in a row find the same ports at which a process listens, and returns them.
 * @param {Handle} process
 * @param {{ name: string, signal: AbortSignal }} options name: of the scripts, for errors
 * @returns {Promise<number[]>} at least one
 * @throws {BenchError} if the process ends, or listens nowhere within LISTEN_SECONDS; the signal's reason when it aborts
 */
async function awaitListeningPorts(process, { name, signal }) {
  const { probe } = /** @type {Handle & { probe: { listListening(): Endpoint[] } }} */ (process)
  /** @type {number[]} */
  let ports = []
  const isListening = async () => {
    if (process.ending() !== null)
      throw new BenchError(await process.renderFailure(`${name} did not start: it ended with ${process.ending()}`))
    const previousPorts = ports.join()
    ports = [...new Set(probe.listListening().map(({ port }) => port))]
    return ports.length > 0 && ports.join() === previousPorts
  }
  await waitForCondition(isListening, { what: `${name} to listen`, deadlineSeconds: LISTEN_SECONDS, signal }).catch(
    async error => {
      if (!(error instanceof TimeoutError)) throw error
      throw new BenchError(await process.renderFailure(`${name} listens nowhere; ${NEEDS}`), { cause: error })
    },
  )
  return ports
}

/**
 * Sends requests to each port and path, until an answer echoes the posted body.
 * @param {{ target: Target, address: string, entries: number[], paths: string[], signal: AbortSignal }} options entries: ports;
 *   paths: beside `/`
 * @returns {Promise<Answered[]>} all answers until then, and the requests without an answer; []: there are no entries
 * @throws the signal's reason when it aborts
 */
async function sendRequests({ target, address, entries, paths, signal }) {
  /** @type {Answered[]} */
  const answers = []
  for (const port of entries)
    for (const requestPath of ['/', ...paths])
      for (const method of ['POST', 'GET']) {
        signal.throwIfAborted()
        const request = { host: HOST, method, path: requestPath, body: method === 'POST' ? BODY : '' }
        const result = await sendDraftRequest({ target, address, port, request })
        const answer = { port, method, path: requestPath, ...result }
        answers.push(answer)
        if (isEcho(answer)) return answers
      }
  return answers
}

/**
 * Sends a request, and waits up to ANSWER_SECONDS. A failure becomes an answer without a status.
 * @param {{ target: Target, address: string, port: number, request: Request }} options
 * @returns {Promise<Pick<Answered, 'status' | 'body' | 'reason'>>}
 */
async function sendDraftRequest({ target, address, port, request }) {
  try {
    const { status, body } = await target.call('send', {
      endpoint: { address, port },
      request,
      timeoutSeconds: ANSWER_SECONDS,
    })
    return { status, body, reason: null }
  } catch (error) {
    return { status: null, body: '', reason: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * Says whether an answer is the body that was posted, with status 200.
 * @param {Answered} answered
 */
const isEcho = ({ method, status, body }) => status === 200 && method === 'POST' && body === BODY

/**
 * Picks the answer that echoes the posted body, else the first answer to GET with status 200 and a body.
 * @param {Answered[]} answers
 * @returns {(Answered & { isEchoed: boolean }) | null} null: there is neither
 */
export function pickServedAnswer(answers) {
  const echo = answers.find(isEcho)
  if (echo) return { ...echo, isEchoed: true }
  // An empty body proves nothing: it may be the application's answer to GET.
  const getAnswer = answers.find(({ status, method, body }) => status === 200 && method === 'GET' && body.length > 0)
  return getAnswer ? { ...getAnswer, isEchoed: false } : null
}

/**
 * Renders the error that no request was served: the best answer, and what a pipeline.yaml must contain. The best
 * answer is the first with status 200, else the first that came, else the first failure.
 * @param {object} options
 * @param {string} options.folderName
 * @param {number[]} options.ports at which the scripts listen
 * @param {Answered[]} options.answers at least one
 * @param {number[]} options.called the ports that the scripts call
 * @returns {string}
 */
export function renderUnservedError({ folderName, ports, answers, called }) {
  const answer =
    answers.find(({ status }) => status === 200) ?? answers.find(({ status }) => status !== null) ?? answers[0]
  const { status, method, reason } = answer
  const outcome = status === null ? `not answered (${reason})` : `answered with ${status}`
  const lack = status === 200 ? 'no POST with the body that was posted, and no GET with a body' : 'no request with 200'
  const upstreams = called.filter(port => !ports.includes(port))
  const missingMembers =
    upstreams.length > 0 ? 'the request that they serve' : 'the ports that they call, and the request'
  return `${folderName} listens at ${ports.join(', ')}, and its scripts answer ${lack}: ${method} ${answer.path} to port ${answer.port} with the header "host: ${HOST}" was ${outcome}, and ${renderApplication(called, upstreams)}: name ${missingMembers} in a pipeline.yaml, such as "upstream: { ports: [8080] }" and "request: { path: /hi, headers: { host: localhost } }" (docs/your-pipeline.md)`
}

/**
 * Renders which ports an application served, or why none ran, as a clause.
 * @param {number[]} called the ports that the scripts call
 * @param {number[]} upstreams those of them at which the scripts do not listen
 * @returns {string}
 */
function renderApplication(called, upstreams) {
  if (upstreams.length > 0) return `an application served ${upstreams.join(', ')}, which they call`
  if (called.length > 0)
    return `no application ran, since they listen themselves at every port that they call (${called.join(', ')})`
  return 'no application ran, since they name no port as 127.0.0.1:PORT, localhost:PORT or { ip: 127.0.0.1, port: PORT }'
}
