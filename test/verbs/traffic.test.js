import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { BenchError, EXIT } from '../../src/lib/errors.js'
import { readTraffic } from '../../src/prepare/read-traffic.js'
import { cli, runCli } from '../fakes/cli.js'
import { makeFolder } from '../fakes/scratch.js'

const folder = makeFolder('traffic-test')
/** @param {string} name @param {string} text */
function write(name, text) {
  const file = path.join(folder, name)
  writeFileSync(file, text)
  return file
}
const line = (/** @type {string} */ target) =>
  `[2026-11-26T06:09:23.606Z] "GET ${target} HTTP/1.1" 200 - 0 14336 11 10 "-" "agent-of-jane" "-" "shop" "-"`

it('writes a file that --traffic takes, and says what it left out', async () => {
  const log = write('access.log', [line('/items?token=secret'), 'of no format', '', line('/items')].join('\n'))
  const { stdout, stderr, exitCode } = await cli('traffic', log)
  expect(exitCode).toBe(0)
  expect(stderr).toContain('could not read 1 lines, the first at line 2')
  expect(stderr).toContain('rate by minute: 0.0333/s at the peak')
  expect(stdout).not.toMatch(/secret|jane/)
  const file = write('shop.yaml', stdout)
  expect(readTraffic(file)).toMatchObject({
    name: 'access',
    kinds: [{ weight: 2, method: 'GET', path: '/items', response: 14336, serviceTime: '10ms' }],
  })
})

it('says what it reads if it could read nothing', async () => {
  const { stderr, stdout, exitCode } = await cli('traffic', write('other.log', 'x\n'))
  expect([stdout.trim(), exitCode]).toEqual(['', 3])
  expect(stderr).toContain(
    'no request was read: a text or JSON access log of Envoy or Istio, nginx combined, or a file.har',
  )
  expect((await cli('traffic', path.join(folder, 'none.log'))).stderr).toContain('none.log cannot be read')
})

it('ends when it is interrupted, however long the log is', async () => {
  const stopping = new AbortController()
  const reading = runCli(['traffic', write('long.log', `${line('/')}\n`.repeat(30_000))], stopping.signal)
  setImmediate(() => stopping.abort(new BenchError('interrupted by SIGINT', { exitStatus: EXIT.interrupted })))
  expect(await reading).toMatchObject({ exitCode: EXIT.interrupted, stdout: '' })
})

it('reads no device, and no file without line ends', async () => {
  for (const name of ['/dev/zero', '/dev/null']) {
    const { stderr, exitCode } = await cli('traffic', name)
    expect(stderr).toContain(`error: cannot read ${name}: it is a directory, a pipe or a device`)
    expect(exitCode).toBe(2)
  }
  const oneLine = write('one-line.log', 'x'.repeat(2 ** 21))
  const { stderr } = await cli('traffic', oneLine)
  expect(stderr).toContain(`error: ${oneLine}:1 is longer than 1.0 MiB, the most that is read of a line`)
  expect(() => readTraffic('/dev/null')).toThrow('--traffic: cannot read /dev/null: it is a directory, a pipe')
})

it('calls a traffic like its file, and refuses what is none', () => {
  const kinds = 'kinds: [{ weight: 1, method: GET, path: / }]'
  expect(readTraffic(write('my shop.yaml', kinds)).name).toBe('my-shop')
  expect(() => readTraffic(write('bad.yaml', kinds.replace('GET', 'GOT')))).toThrow(/bad\.yaml:1: kinds\.0\.method/)
  expect(() => readTraffic(path.join(folder, 'none.yaml'))).toThrow('none.yaml cannot be read')
})

it('shows in a plan the mix, and sizes for its peak', async () => {
  const file = write(
    'peak.yaml',
    'requestsPerSecond: { mean: 5, peak: 9.5 }\nkinds: [{ weight: 1, method: GET, path: /a }]',
  )
  const { stdout } = await cli('plan', 'cap', '--traffic', file, '--profile', 'smoke')
  expect(stdout).toMatch(/traffic peak-[0-9a-f]{8}/)
  expect((await cli('plan', 'cap', '--traffic', file, '--payload', '1KiB')).stderr).toContain(
    'leave one of the two out',
  )
})
