import { BenchError } from '../lib/errors.js'
import { VARIABLE } from './pipeline.js'
import { hasServerTls, hasUpstreamTls, listTemplateTexts } from './pipeline-traffic.js'

/**
 * Findings about scripts that the kit did not write. Pure.
 * @import { Pipeline } from './pipeline.js'
 */

// Pipy calls a function of `certificate` for each connection, and this one parses the key each time.
const KEY_BY_CONNECTION = /certificate\s*:\s*(?:\(\)|\w+)\s*=>[\s\S]{0,200}?new crypto\.PrivateKey/

/**
 * Lists findings about the TLS of a pipeline that has answered: no text of it names `tls.ca`, so it verifies no peer; or a script
 * parses the key for each connection.
 * @param {{ pipeline: Pick<Pipeline, 'document' | 'scriptFiles' | 'file'>, keyType?: string }} options keyType: of its private
 *   key; absent: not known
 * @returns {string[]} sentences; []: it speaks no TLS, or there is nothing to report
 */
export function listTlsFindings({ pipeline, keyType }) {
  const { file, scriptFiles } = pipeline
  const peers = [hasServerTls(pipeline) && 'client', hasUpstreamTls(pipeline) && 'server'].filter(Boolean)
  if (peers.length === 0) return []
  const parsingScripts = Object.entries(scriptFiles).filter(([, text]) => KEY_BY_CONNECTION.test(text))
  const key = keyType === undefined ? 'a private key' : `its ${keyType} key`
  return [
    ...(hasVariable(pipeline, 'tls.ca')
      ? []
      : [
          `${file}: it accepts any certificate of the ${peers.join(' and the ')}: it was told no authority ({{tls.ca}}), and accepted that of the kit`,
        ]),
    ...parsingScripts.map(
      ([name]) => `${file}: ${name} parses ${key} for each connection: many new connections cost it more than requests`,
    ),
  ]
}

/**
 * Says whether a template text of the pipeline names a variable.
 * @param {Pick<Pipeline, 'document' | 'scriptFiles'>} pipeline
 * @param {string} name such as `tls.ca`
 */
function hasVariable(pipeline, name) {
  const matches = listTemplateTexts(pipeline).flatMap(text => [...text.matchAll(VARIABLE)])
  return matches.some(([, variable]) => variable === name)
}

// Filters of Pipy that read or write another protocol than HTTP, which the load speaks.
const CODEC = /\.(?:decode|encode)(MQTT|Dubbo|Thrift|RESP|BGP|Netlink)\(/

/**
 * Finds the first codec of another protocol than HTTP in the scripts, outside of the texts that pipeline.yaml replaces.
 * @param {Pick<Pipeline, 'scriptFiles' | 'document'>} pipeline
 * @returns name: of the script; protocol; filter: such as `decodeMQTT`; null: there is no such codec
 */
export function findForeignCodec({ scriptFiles, document }) {
  for (const [name, text] of Object.entries(scriptFiles)) {
    const remainder = Object.keys(document.replace[name] ?? {}).reduce((rest, from) => rest.replaceAll(from, ''), text)
    const [filter, protocol] = CODEC.exec(remainder) ?? []
    if (filter !== undefined) return { name, protocol, filter: filter.slice(1, -1) }
  }
  return null
}

/**
 * Adds an advice to a BenchError if `findForeignCodec` finds a codec: replace it, and give `--protocol tcp`.
 * @param {unknown} error
 * @param {Pipeline} pipeline
 * @returns a new BenchError with the same exit status, and `error` as its cause; `error` itself: it is no BenchError, or the
 *   scripts have no such codec
 */
export function addForeignCodecHint(error, pipeline) {
  const codec = findForeignCodec(pipeline)
  if (codec === null || !(error instanceof BenchError)) return error
  return new BenchError(
    `${error.message}; ${codec.name} has the codec ${codec.filter}, and the load speaks HTTP/1.1, not ${codec.protocol}: replace its codec in ${pipeline.file}, and give --protocol tcp`,
    { cause: error, exitStatus: error.exitStatus },
  )
}
