import { existsSync, readdirSync, readFileSync } from 'node:fs'

/**
 * The commands that the documentation shows.
 * @typedef {object} Command
 * @property {string} where file and line
 * @property {string} text as it stands there, without its comment
 * @property {boolean} isInBlock a block is typed as it stands; a code span within a sentence may be a part of a command
 * @property {string[]} argv of the program that runs in the end: what an npm script stands for is in its place
 */

const SCRIPTS = JSON.parse(readFileSync('package.json', 'utf8')).scripts
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs', { recursive: true }).map(name => `docs/${name}`),
].filter(file => file.endsWith('.md') && existsSync(file))
const FENCE = /^\s*(```|~~~)/
// In CI, commands that need root.
const AS_ROOT = /^sudo -E env "PATH=\$PATH" /
const COMMAND = /^(\$ )?([A-Z][A-Z0-9_]*=\S+ )*(npm|npx|node|sidecar-bench)( |$)/
const IN_SENTENCE = /`([^`\n]+)`/g

/** @returns {Command[]} in the order of the pages */
export function readCommands() {
  return PAGES.flatMap(readPage)
}

/** @param {string} page */
function readPage(page) {
  /** @type {Command[]} */
  const commands = []
  const lines = readFileSync(page, 'utf8').split('\n')
  let isFenced = false
  for (let i = 0; i < lines.length; i++) {
    if (FENCE.test(lines[i])) {
      isFenced = !isFenced
      continue
    }
    const where = `${page}:${i + 1}`
    const isInBlock = isFenced || /^( {4}|\t)/.test(lines[i])
    let line = lines[i].trim()
    line = line.replace(AS_ROOT, '')
    while (isInBlock && line.endsWith('\\')) line = `${line.slice(0, -1)}${lines[++i].trim()}`
    const texts = isInBlock ? [line] : [...line.matchAll(IN_SENTENCE)].map(match => match[1])
    for (const text of texts.filter(text => COMMAND.test(text))) commands.push(...split(text, { where, isInBlock }))
  }
  return commands
}

/** @param {string} text @param {Pick<Command, 'where' | 'isInBlock'>} location */
function split(text, location) {
  return (
    text
      .replace(/^\$ /, '')
      .replace(/\s+#.*$/, '')
      // A line of the kit's own output: the command, and what it shows, or the rest of a sentence.
      .replace(/[:.] .*$/, '')
      .split(' && ')
      .map(part => ({ ...location, text: part, argv: expand(splitWords(part), location.where) }))
  )
}

/** Words as a shell splits them, without variables before and redirections behind. @param {string} text */
function splitWords(text) {
  const words = [...text.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g)].map(([word]) => word)
  const first = words.findIndex(word => !/^[A-Z][A-Z0-9_]*=/.test(word))
  const redirection = words.findIndex(word => /^\d?>/.test(word))
  const end = redirection === -1 ? words.length : redirection
  return words.slice(first, end).map(word => word.replace(/['"]/g, ''))
}

/** What runs in the end. @param {string[]} words @param {string} where */
function expand([program, ...words], where) {
  if (program === 'sidecar-bench') return ['node', 'src/cli.js', ...words]
  if (program === 'npx' && words[0] === 'sidecar-bench') return ['node', 'src/cli.js', ...words.slice(1)]
  if (program !== 'npm') return [program, ...words]
  const npmWords = words.filter(word => !['-s', '--silent'].includes(word))
  const name = npmWords[0] === 'run' ? npmWords[1] : npmWords[0]
  if (npmWords[0] !== 'run' && name !== 'test') return ['npm', ...npmWords]
  // Scripts of several commands stand for themselves.
  const script = SCRIPTS[name]
  if (script === undefined) throw new Error(`${where}: npm ${words.join(' ')}: package.json has no such script`)
  const after = npmWords.indexOf('--')
  const args = after === -1 ? [] : npmWords.slice(after + 1)
  return script.startsWith('node ') ? [...script.split(' '), ...args] : ['npm', 'run', name, ...args]
}
