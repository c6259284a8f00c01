import { LineCounter, parseDocument } from 'yaml'
import { UsageError } from './errors.js'
import { renderSuggestion } from './nearest.js'
import { renderIssue } from './schema-issue.js'

const QUOTED_MOST = 200

/**
 * Reads a YAML text by a zod schema. Its errors name the file, the line and the nearest valid name.
 * @template T
 * @param {object} source
 * @param {string} source.text
 * @param {string} source.file its name, for errors
 * @param {import('zod').ZodType<T>} source.schema
 * @param {(written: any) => any} [source.transform] changes the parsed value before the schema checks it, such as words of older files
 * @returns the value, as the schema parses it
 * @throws {UsageError} if the text is empty, no YAML, of several documents, nested too deep, or not as the schema says; an error of
 *   `transform`
 */
export function parseYaml({ text, file, schema, transform = written => written }) {
  const lines = new LineCounter()
  const document = readOrThrow(file, () => parseDocument(text, { lineCounter: lines, logLevel: 'error' }))
  if (document.errors.length > 0) {
    const [{ message, pos }] = document.errors
    throw new UsageError(`${file}:${lines.linePos(pos[0]).line}: ${renderSyntaxError(message)}`)
  }
  if (document.contents === null) throw new UsageError(`${file}: it is empty`)
  const result = schema.safeParse(transform(readOrThrow(file, () => document.toJS())))
  if (result.success) return result.data
  // A typo makes two issues, a missing name and an unknown one: the unknown name explains both.
  const { issues } = result.error
  const issue = issues.find(i => i.code === 'unrecognized_keys') ?? issues[0]
  const { path, words } = locateIssue(issue, schema, at => document.getIn(at))
  throw new UsageError(
    `${file}:${findPathLine(document, lines, path)}: ${path.map(quoteInline).join('.') || 'the file'}: ${words}`,
  )
}

/**
 * Calls `read`, and names the file in its error.
 * @template T
 * @param {string} file
 * @param {() => T} read
 * @returns {T} the result of `read`
 * @throws {UsageError} if `read` throws, as on a text that is nested too deep
 */
function readOrThrow(file, read) {
  try {
    return read()
  } catch (error) {
    throw new UsageError(`${file}: it cannot be read: ${renderSyntaxError(/** @type {Error} */ (error).message)}`)
  }
}

/**
 * Renders an error in the text of a document, on one line.
 * @param {string} message of the YAML library, whose next lines quote the text
 */
function renderSyntaxError(message) {
  if (/call stack/.test(message)) return 'it is nested too deep'
  if (/multiple documents/.test(message)) return 'it holds several documents, divided by ---: leave one'
  return message.split('\n')[0]
}

/**
 * Locates an issue: its path, and in words what is wrong there.
 * @param {import('zod').core.$ZodIssue} issue
 * @param {import('zod').ZodType} schema
 * @param {(at: any[]) => unknown} read the value at a path; undefined: there is none
 * @returns {{ path: (string | number)[], words: string }}
 */
function locateIssue(issue, schema, read) {
  const path = /** @type {(string | number)[]} */ ([...issue.path])
  if (issue.code === 'unrecognized_keys') {
    const [key] = issue.keys
    return {
      path: [...path, key],
      words: `unknown name "${quoteInline(key)}"${renderSuggestion(key, listSchemaKeys(schema, path))}`,
    }
  }
  if (issue.code === 'invalid_value') {
    const names = issue.values.map(String)
    const value = read(path)
    if (value === undefined) return { path, words: `it is missing (one of: ${names.join(', ')})` }
    return { path, words: `unknown value "${quoteInline(value)}"${renderSuggestion(`${value}`, names)}` }
  }
  return { path, words: renderIssue(issue) }
}

/**
 * Renders a name or value on one line, cut to QUOTED_MOST characters: keys of YAML can be whole documents.
 * @param {unknown} written
 */
function quoteInline(written) {
  const line = `${written}`.replace(/\s+/g, ' ').trim()
  return line.length > QUOTED_MOST ? `${line.slice(0, QUOTED_MOST)}…` : line
}

/**
 * Lists the names that the schema allows at a path.
 * @param {any} schema
 * @param {(string | number)[]} path
 * @returns {string[]} []: the schema has no object there
 */
function listSchemaKeys(schema, path) {
  /** @type {(at: any) => any} */
  const unwrap = at => (at?.unwrap && !at.shape && !at.element ? unwrap(at.unwrap()) : at)
  let at = unwrap(schema)
  for (const step of path) at = unwrap(typeof step === 'number' ? at?.element : (at?.shape?.[step] ?? at?.valueType))
  return Object.keys(at?.shape ?? {})
}

/**
 * Finds the line of the deepest part of a path that the document has.
 * @param {import('yaml').Document} document
 * @param {LineCounter} lineCounter of the document
 * @param {(string | number)[]} path
 * @returns {number} from 1; 1 also: the document has no part of it
 */
function findPathLine(document, lineCounter, path) {
  for (let length = path.length; length > 0; length--) {
    const parent = /** @type {any} */ (document.getIn(path.slice(0, length - 1), true))
    const pair = parent?.items?.find?.((/** @type {any} */ item) => item.key?.value === path[length - 1])
    const node = pair?.key ?? /** @type {any} */ (document.getIn(path.slice(0, length), true))
    if (node?.range) return lineCounter.linePos(node.range[0]).line
  }
  return 1
}
