// Runs commands of the kit one after the other, so that its modules are read once: for tests of what src/cli.js writes.
// The argument is a JSON array with the words of each command; the output one with the exit code, stdout and stderr of each.
import { setMaxListeners } from 'node:events'

const [commands] = process.argv.splice(2)
// Each command listens to signals and to both streams.
setMaxListeners(0, process, process.stdout, process.stderr)
const write = process.stdout.write.bind(process.stdout)
const results = []
for (const [i, words] of JSON.parse(commands).entries()) {
  const written = { stdout: '', stderr: '' }
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    process[name].write = (/** @type {string | Uint8Array} */ text) => {
      written[name] += text
      return true
    }
  }
  process.argv.splice(2, Infinity, ...words)
  process.exitCode = 0
  // Another query makes it another module, whose top level runs again.
  await import(`../../src/cli.js?${i}`)
  results.push({ exitCode: process.exitCode, ...written })
}
process.exitCode = 0
write(JSON.stringify(results))
