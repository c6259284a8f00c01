import { z } from 'zod'
import { UsageError } from '../lib/errors.js'
import { renderSuggestion } from '../lib/nearest.js'
import { parseYaml } from '../lib/yaml.js'
import { createCountSchema } from './bounds.js'
import { findPipelinePort, listTemplateTexts } from './pipeline-traffic.js'

/**
 * The schema of `pipeline.yaml`, which starts a proxy with a configuration of the user's own, and the process that it renders. Pure.
 * @import { SidecarModel } from './types.ts'
 */

const text = z.union([z.string(), z.number().transform(String)])
const port = z.int().min(1).max(65_535, 'a port is at most 65535')

const scheme = z.enum(['http', 'https']).default('http')

/** A path below the folder of a process. */
const fileName = z
  .string()
  .min(1)
  .refine(
    name => !name.startsWith('/') && !name.split(/[\\/]/).includes('..'),
    'a file is written below the folder of the process: give a relative path without ..',
  )

const schema = z.strictObject({
  /** The folder of its scripts, from the folder of this file; `${NAME}` is an environment variable. */
  scripts: z.string().min(1).default('.'),
  /** The program: pipy, envoy, haproxy, nginx, caddy, a name in PATH, or a path from the folder of this file. */
  program: z.string().min(1).optional(),
  /** The version of the program that the scripts need, or its first parts, such as 2 for 2.1.3. */
  version: text.optional(),
  /** The arguments by which the program prints its version. */
  versionArguments: z.array(text).min(1).default(['--version']),
  /** The arguments of the program. One that is the name of a file of the folder becomes its path. */
  arguments: z.array(text).optional(),
  environment: z.record(z.string(), text).default({}),
  /** Files that are rendered into its folder: a text, or a file of the folder that is a template. */
  files: z.record(fileName, z.union([z.string(), z.strictObject({ template: z.string() })])).default({}),
  /** Texts of files that are replaced, each with its replacement. */
  replace: z.record(z.string(), z.record(z.string().min(1), z.string())).default({}),
  listen: z
    .strictObject({
      /** The port that the scripts fix; absent: the kit chooses it, and a template names {{listen.port}}. */
      port: port.optional(),
      /** https: the load speaks TLS, and has a certificate of the kit's authority to show. */
      scheme,
    })
    .default({ scheme: 'http' }),
  upstream: z
    .strictObject({
      /** The ports of 127.0.0.1 that the scripts fix; absent: a template names the address ({{upstream.url}}). */
      ports: z.array(port).min(1).optional(),
      /** https: the application serves TLS, with a certificate of the kit's authority. */
      scheme,
    })
    .nullable()
    .default(null),
  request: z
    .strictObject({
      method: z
        .string()
        .regex(/^[A-Z]+$/, 'a method is written in capitals, such as GET')
        .default('POST'),
      path: z
        .string()
        .regex(/^\/\S*$/, 'a path begins with /')
        .default('/'),
      /** Headers by their names, which are read in lower case. */
      headers: z.record(z.string().toLowerCase(), text).default({}),
      /** Absent: the payload (--payload) if the method is POST, else none. */
      body: z.string().optional(),
    })
    .default({ method: 'POST', path: '/', headers: {} }),
  answer: z.strictObject({ status: z.int().min(100).max(599).default(200) }).default({ status: 200 }),
  /** Worker threads of the program, as `{{workers}}` of a template; absent: as many as the experiment gives sidecars. */
  workers: createCountSchema(1024, 'each is a thread, and no machine has as many CPUs').optional(),
})

/** @typedef {z.output<typeof schema>} PipelineDocument */

/**
 * A document, and the files of its folder.
 * @typedef {object} Pipeline
 * @property {PipelineDocument} document
 * @property {string} file the path of the document; without a document, the folder that was searched for it
 * @property {string} scripts the folder of scripts
 * @property {Record<string, string>} scriptFiles its text files, by their path in it
 * @property {Record<string, string>} [binaryFiles] its other files, as latin1: they are copied and never rendered
 * @property {string | null} program that the document names: a name as it is, a path as an absolute one; null: it names none
 */

/** A variable in a template text; its group is the name. */
export const VARIABLE = /\{\{\s*([\w.]+)\s*\}\}/g
const LISTEN = /\{\{\s*listen\.(port|address|url)\s*\}\}/

/**
 * Parses a pipeline.yaml.
 * @param {string} text YAML
 * @param {string} file its name, for errors
 * @returns {PipelineDocument}
 * @throws {UsageError} with the file and line, if it is empty, no YAML, or does not match the schema
 */
export function parsePipeline(text, file) {
  return parseYaml({ text, file, schema })
}

/**
 * Fills in the defaults of a document that the kit makes.
 * @param {z.input<typeof schema>} document
 * @returns {PipelineDocument}
 * @throws {z.ZodError} if it is invalid
 */
export function createPipelineDocument(document) {
  return schema.parse(document)
}

/**
 * Asserts that a program has the version that the document requires, which may be only its first parts. If the document names
 * none, any version passes.
 * @param {Pick<Pipeline, 'document' | 'file'>} pipeline
 * @param {{ name: string, version: string, path: string }} tool
 * @throws {UsageError} if the program has another
 */
export function assertPipelineVersion({ document: { version }, file }, tool) {
  if (version === undefined || `${tool.version}.`.startsWith(`${version}.`)) return
  throw new UsageError(
    `${file}: version: its scripts need ${tool.name} ${version}, and ${tool.path} is ${tool.version}: name another program, such as ${tool.name.toUpperCase()}=/path/to/${tool.name}`,
  )
}

/**
 * Asserts that a pipeline can be rendered: the texts that it replaces and its templates are there, its variables are known, and
 * the program gets its port.
 * @param {Pick<Pipeline, 'document' | 'scriptFiles' | 'file'>} pipeline
 * @throws {UsageError} that names the first missing part or unknown variable
 */
export function assertPipelineRenderable(pipeline) {
  const { document, file, scriptFiles } = pipeline
  for (const [name, replacements] of Object.entries(document.replace)) {
    if (scriptFiles[name] === undefined)
      throw new UsageError(`${file}: replace.${name}: no such file${renderSuggestion(name, Object.keys(scriptFiles))}`)
    for (const from of Object.keys(replacements))
      if (!scriptFiles[name].includes(from)) throw new UsageError(`${file}: replace.${name}: it has no "${from}"`)
  }
  for (const [name, content] of Object.entries(document.files))
    if (typeof content !== 'string' && scriptFiles[content.template] === undefined)
      throw new UsageError(
        `${file}: files.${name}: no template ${content.template}${renderSuggestion(content.template, Object.keys(scriptFiles))}`,
      )
  for (const text of listTemplateTexts(pipeline)) renderTemplate(text, { file, variables: EXAMPLE_VALUES })
  if (document.listen.port === undefined && !listTemplateTexts(pipeline).some(text => LISTEN.test(text)))
    throw new UsageError(
      `${file}: listen: the program is not told where to listen: give the port that its scripts fix (listen: { port: 8000 }), or write {{listen.port}} in arguments, environment, files or replace`,
    )
}

/**
 * Renders the arguments, the environment and the files of a program. A file of `files` replaces a script of its name, and an
 * argument that is the name of a file becomes its path.
 * @param {Pipeline} pipeline that `assertPipelineRenderable` accepts
 * @param {{ model: SidecarModel, folder: string }} options folder: of its files
 * @returns {{ argv: string[], env: Record<string, string>, files: import('./types.ts').ProcessSpec['files'] }}
 * @throws {UsageError} for a variable that is unknown, or that the model has no value for
 */
export function renderPipeline({ document, file, scriptFiles, binaryFiles = {} }, { model, folder }) {
  const variables = createPipelineVariables({ model, folder, document })
  const fill = (/** @type {string} */ text) => renderTemplate(text, { file, variables })
  /** @type {Map<string, string>} */
  const files = new Map()
  for (const [name, content] of Object.entries(scriptFiles)) {
    const replacements = Object.entries(document.replace[name] ?? {})
    files.set(
      name,
      replacements.reduce((text, [from, to]) => text.replaceAll(from, () => fill(to)), content),
    )
  }
  for (const [name, content] of Object.entries(document.files))
    files.set(name, fill(typeof content === 'string' ? content : scriptFiles[content.template]))
  const isFile = (/** @type {string} */ word) => files.has(word) || Object.hasOwn(binaryFiles, word)
  return {
    argv: (document.arguments ?? []).map(fill).map(word => (isFile(word) ? `${folder}/${word}` : word)),
    env: Object.fromEntries(Object.entries(document.environment).map(([name, value]) => [name, fill(value)])),
    files: [
      ...[...files].map(([name, content]) => ({ name, content })),
      ...listBinaryFiles(binaryFiles).filter(({ name }) => !files.has(name)),
    ],
  }
}

/**
 * Lists binary files as files of a process.
 * @param {Record<string, string>} [binaryFiles] contents as latin1, by path
 * @returns []: there are none
 */
export function listBinaryFiles(binaryFiles = {}) {
  return Object.entries(binaryFiles).map(([name, content]) => ({
    name,
    content,
    encoding: /** @type {const} */ ('latin1'),
  }))
}

/**
 * Creates the values of VARIABLES by name. A model without a cluster, or whose first cluster has no endpoint, has none of
 * `upstream`; without an inbound listener, the address is 127.0.0.1.
 * @param {{ model: SidecarModel, folder: string, document: PipelineDocument }} options
 * @returns {Record<string, string>}
 */
function createPipelineVariables({ model, folder, document }) {
  const { trust, inbound, workers, clusters } = model
  const [upstream] = clusters[0]?.endpoints ?? []
  const [address, port] = [inbound?.address ?? '127.0.0.1', findPipelinePort({ document })]
  return {
    'listen.address': address,
    'listen.port': `${port}`,
    'listen.url': `${document.listen.scheme}://${address}:${port}`,
    ...(upstream && {
      'upstream.address': upstream.address,
      'upstream.port': `${upstream.port}`,
      'upstream.url': `${document.upstream?.scheme ?? 'http'}://${upstream.address}:${upstream.port}`,
    }),
    'tls.certificate': trust.certificatePath,
    'tls.key': trust.keyPath,
    'tls.ca': trust.caPath,
    workers: `${document.workers ?? workers}`,
    folder,
  }
}

/** The variables that a template may name. */
export const VARIABLES = [
  ...['listen', 'upstream'].flatMap(end => ['address', 'port', 'url'].map(part => `${end}.${part}`)),
  ...['tls.certificate', 'tls.key', 'tls.ca', 'workers', 'folder'],
]
const EXAMPLE_VALUES = Object.fromEntries(VARIABLES.map(name => [name, '1']))

/**
 * Replaces the variables of a text by their values.
 * @param {string} text
 * @param {{ file: string, variables: Record<string, string> }} options file: the pipeline.yaml, for errors; variables: values by name
 * @returns {string}
 * @throws {UsageError} for a variable without a value
 */
function renderTemplate(text, { file, variables }) {
  return text.replaceAll(VARIABLE, (_, name) => {
    if (Object.hasOwn(variables, name)) return variables[name]
    throw new UsageError(`${file}: unknown variable {{${name}}}${renderSuggestion(name, VARIABLES)}`)
  })
}
