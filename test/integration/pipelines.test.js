import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { listArms } from '../../src/model/results.js'
import { readRun, readSummary } from '../../src/records/records.js'
import { findTool } from '../../src/tools/find.js'
import { valgrindTool } from '../../src/tools/profilers.js'
import { makeFolder } from '../fakes/scratch.js'
import { expectNothingLeft } from './leftovers.js'
import { need, needNamespaces } from './real-tools.js'

// Folders that do not read the kit's configuration, with ports of their own.
const FIXED = 'listen: { port: 8000 }\nupstream: { ports: [8080] }\n'

const MUX = "muxHTTP().to($=>$.connect('localhost:8080'))"

// TLS on either side, with certificates by path.
const SECURE = `
var trusted = [new crypto.Certificate(os.read('TLS_CA'))]
var certificate = {
  cert: new crypto.CertificateChain(os.read('TLS_CERTIFICATE')),
  key: new crypto.PrivateKey(os.read('TLS_KEY')),
}
pipy.listen(8443, $=>$
  .acceptTLS({ certificate, trusted }).to($=>$
    .demuxHTTP().to($=>$
      .muxHTTP().to($=>$
        .connectTLS({ trusted }).to($=>$
          .connect('localhost:9443')
        )
      )
    )
  )
)
`
const SECURE_FILE = `
listen: { port: 8443, scheme: https }
upstream: { ports: [9443], scheme: https }
replace:
  main.js: { TLS_CERTIFICATE: '{{tls.certificate}}', TLS_KEY: '{{tls.key}}', TLS_CA: '{{tls.ca}}' }
`

const folder = makeFolder('pipelines-test')
let runs = 0

/** @param {string} name @param {{ chain?: string, pipeline?: string, script?: string }} files chain: filters of a request; pipeline: of the file */
function writePipeline(
  name,
  { chain = MUX, pipeline = FIXED, script = `pipy.listen(8000, $=>$.demuxHTTP().to($=>$.${chain}))\n` },
) {
  const pipelineFolder = path.join(folder, name)
  mkdirSync(pipelineFolder, { recursive: true })
  writeFileSync(path.join(pipelineFolder, 'main.js'), script)
  writeFileSync(path.join(pipelineFolder, 'pipeline.yaml'), pipeline)
  return pipelineFolder
}

const plain = writePipeline('plain', {})
const refusing = writePipeline('refusing', { chain: "replaceMessage(new Message({ status: 404 }, 'no'))" })
const hello = writePipeline('hello', {
  chain: "replaceMessage(new Message({ status: 203 }, 'hello'))",
  pipeline: 'listen: { port: 8000 }\nrequest: { method: GET, path: /hi }\nanswer: { status: 203 }\n',
})

/** @param {string} planes @param {string[]} more */
async function bench(planes, ...more) {
  const out = path.join(folder, `run-${++runs}`)
  const argv = ['src/cli.js', 'bench', 'cost', '--planes', planes, '--profile', 'smoke', '--out', out, ...more]
  const { stdout, stderr, exitCode } = await execa('node', argv, { reject: false })
  return { stdout, stderr, exitCode, out }
}

describe('folders with a pipeline.yaml', { timeout: 300_000 }, () => {
  // Its verdict needs a quiet machine; the tests after it assert no speed and run beside each other.
  it('are compared with each other, Envoy with the configuration of the user among them', async context => {
    need(context, 'pipy', 'envoy', 'k6')
    await needNamespaces(context)
    const { stdout, stderr } = await bench(`proxy=test/pipelines/envoy,pipy=${plain}`)
    const words = 'Own scripts are compared by their answers to the load, and are alike: proxy=envoy, pipy=plain.'
    expect(stdout.replaceAll(/\s+/g, ' '), stderr).toContain(words)
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /proxy=envoy (uses about \d+ % (more|less) CPU per request than|has about [\d.]+ × the CPU per request of) pipy=plain/,
    )
    await expectNothingLeft()
  })

  it.concurrent('are not compared if they answer otherwise, each with its own request', async context => {
    need(context, 'pipy', 'k6')
    await needNamespaces(context)
    const { stdout, stderr, out } = await bench(`pipy=${plain},pipy=${hello}`)
    expect(stdout, stderr).toContain('UNEQUAL WORK (load)')
    const summary = readSummary(out)
    const { parity } = summary
    const arms = listArms(summary)
    expect(arms[1].load.ownRequest).toMatchObject({ path: '/hi', status: 203, answerBytes: [5] })
    expect(arms.map((/** @type {any} */ { trials }) => trials.completed)).toEqual([1, 1])
    const answers = parity.filter((/** @type {any} */ row) => row.name === 'parity-load')
    expect(answers.map((/** @type {any} */ { found: answer }) => answer.slice(0, 3))).toEqual(['200', '203'])
  })

  it.concurrent('say why they cannot be measured: another status, a file with an unknown name', async context => {
    need(context, 'pipy', 'k6')
    await needNamespaces(context)
    const { stderr, exitCode } = await bench(`pipy=${refusing}`)
    expect(stderr).toMatch(/was answered 404 "no"/)
    expect(exitCode).not.toBe(0)
    const endless = writePipeline('endless', {
      chain: `handleMessageStart(() => { for (var i = 0; true; i++) {} }).${MUX}`,
    })
    const hung = await execa('node', ['src/cli.js', 'lab', endless], { reject: false })
    expect(hung.stderr).toContain('no answer within 2 s')
    const wrong = writePipeline('wrong', { pipeline: 'lisen: { port: 1 }' })
    expect((await bench(`pipy=${wrong}`)).stderr).toContain('unknown name "lisen"; did you mean "listen"?')
  })

  it.concurrent('are measured with TLS on either side, with certificates of the kit', async context => {
    need(context, 'pipy', 'k6')
    await needNamespaces(context)
    const secure = writePipeline('secure', { script: SECURE, pipeline: SECURE_FILE })
    const { stdout, stderr, out } = await bench(`pipy=${secure}`)
    expect(stdout, stderr).toContain('cost · ratings: 1 sidecar, mTLS')
    const arms = listArms(readSummary(out))
    expect(arms[0]).toMatchObject({ trials: { completed: 1 }, load: { hasCertificate: true } })
    expect((await bench(`pipy=${secure},pipy=${plain}`)).stderr).toContain('give both the same scheme')
    await expectNothingLeft()
  })

  it.concurrent('have a rate and no capacity if their script holds requests back', async context => {
    need(context, 'pipy', 'k6', 'caps')
    await needNamespaces(context)
    // As many as the MQTT proxy of pipy-demos takes connections a second.
    const throttled = writePipeline('throttled', {
      chain: `throttleMessageRate(new algo.Quota(20, { per: 1 })).${MUX}`,
    })
    const load = ['--measure', 'capacity', '--cpu', '0.25', '--users', '5', '--profile', 'smoke']
    const out = path.join(folder, `run-${++runs}`)
    const argv = ['src/cli.js', 'bench', '--planes', `pipy=${throttled}`, ...load, '--out', out]
    const { stdout, stderr } = await execa('node', argv, { reject: false })
    const { records } = readRun(out)
    expect(records.length, stderr).toBeGreaterThan(0)
    for (const { load, window, boundBy } of records) {
      expect(Number(load?.verified) / Number(window?.seconds)).toBeLessThan(40)
      expect(boundBy).not.toBe('sidecar')
    }
    const [{ capacityPerSecond }] = listArms(readSummary(out))
    expect(capacityPerSecond.median).toBeNull()
    expect(stdout).not.toMatch(/capacity at .* req\/s/)
    expect(stdout).toMatch(/rate of 5 users|Not measured: capacity at 0\.25 CPU/)
    await expectNothingLeft()
  })

  it.concurrent('are counted alone or beside another, with a file or as they are found', async context => {
    need(context, 'pipy')
    await needNamespaces(context)
    if ('missing' in (await findTool(valgrindTool))) return context.skip('needs valgrind, which cannot be had here')
    const lab = (/** @type {string[]} */ ...argv) => execa('node', ['src/cli.js', 'lab', ...argv], { reject: false })
    const bare = writePipeline('found', {})
    rmSync(path.join(bare, 'pipeline.yaml'))
    const alone = await lab(bare, '--requests', '100')
    expect(alone.stderr).toContain('no pipeline.yaml: listen: { port: 8000 }; upstream: { ports: [8080] }')
    expect(alone.stdout).toMatch(/instructions a request +noise\n +ratings +\d\d \d{3} /)
    expect(alone.stdout).not.toMatch(/old|handshake/)
    const written = await lab('new', '--from', bare)
    expect(readFileSync(path.join(bare, 'pipeline.yaml'), 'utf8'), written.stderr).toContain('listen: { port: 8000 }')
    const dearer = writePipeline('dearer', { chain: `handleMessageStart(m => JSON.stringify(m.head)).${MUX}` })
    const pair = await lab(dearer, '--against', bare, '--requests', '100', '--json')
    const { rows } = JSON.parse(pair.stdout)
    expect(
      rows.map((/** @type {any} */ row) => row.quantity),
      pair.stderr,
    ).not.toContain('handshake')
    expect(rows[0].ratio).toBeGreaterThan(1.02)
    const other = await lab(hello, '--against', bare, '--requests', '100')
    expect(other.stderr).toContain('the two sides answer the requests of their load otherwise')
    await expectNothingLeft()
  })
})
