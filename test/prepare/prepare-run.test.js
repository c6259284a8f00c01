import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { BenchError } from '../../src/lib/errors.js'
import { parsePlanes } from '../../src/prepare/option-parsers.js'
import { announceLacks, prepareRun } from '../../src/prepare/prepare-run.js'
import { readExperiment } from '../../src/prepare/read-experiment.js'

import { makeFolder } from '../fakes/scratch.js'

/** @import { Site } from '../../src/model/types.ts' */

const assertInterception = async () => {
  throw new BenchError('not here')
}
/**
 * What is prepared, and what a run says of its programs, before and after it.
 * @param {{ name?: string, missing?: string[], planes?: string, loadHost?: Site['loadHost'], cpu?: number[],
 *   [axis: string]: unknown }} [options] name: of the experiment
 */
async function prepare({ name = 'cap', missing = [], planes, loadHost, ...axes } = {}) {
  /** @type {string[]} */
  const lines = []
  const context = { say: (/** @type {string} */ line) => void lines.push(line) }
  const parsedOptions = {
    planes: planes === undefined ? undefined : parsePlanes(planes),
    loadHost: loadHost && 'there',
  }
  const preparation = await prepareRun(
    {
      experiment: readExperiment(name),
      options: { profile: 'quick', pin: false, seed: 1, maxMinutes: 60, ...parsedOptions, ...axes },
      site: {
        cpus: 2,
        cores: [],
        findTool: findToolBut(missing),
        loadHost,
        assertCpuSettings: () => {},
        assertInterception,
      },
    },
    context,
  )
  announceLacks(preparation, context)
  return { ...preparation, lines }
}

/** @param {string[]} missing names of programs */
function findToolBut(missing) {
  return async (/** @type {{ name: string }} */ { name }) =>
    missing.includes(name)
      ? { missing: `no ${name}` }
      : { name, path: `/bin/${name}`, version: '1.5.18', sha256: '', source: 'PATH' }
}

describe('prepareWith', () => {
  it('says first and last that the main comparison is missing, and what to do', async () => {
    const { lines } = await prepare({ missing: ['pipy'], cpu: [1] })
    expect(lines[0]).toMatch(/^pipy is missing, so this run lacks this kit's main comparison, Pipy against Envoy: /)
    for (const words of ['pipy-<version>-generic_linux-<x86_64 or arm64>.tar.gz', 'PIPY=/path/to/pipy', 'SHA-256'])
      expect(lines[0]).toContain(words)
    expect(lines.at(-1)).toMatch(/^pipy was missing, so this run lacks this kit's main comparison/)
  })

  it('says nothing of it if it is there, or was not requested', async () => {
    expect((await prepare({ cpu: [1] })).lines).toEqual([])
    expect((await prepare({ missing: ['pipy'], planes: 'envoy' })).lines.join()).not.toContain('main comparison')
  })

  it('says what to do in the error on a plane that was named', async () => {
    await expect(prepare({ missing: ['pipy'], planes: 'pipy' })).rejects.toThrow(
      /cannot be measured: no pipy; unpack pipy-/,
    )
  })

  it('refuses redirected connections if the site cannot have them, before anything starts, and nothing else', async () => {
    await expect(prepare({ interception: ['redirect'] })).rejects.toThrow('not here')
    await expect(prepare({ interception: ['none'], cpu: [1] })).resolves.toMatchObject({ lines: [] })
  })

  it.each([
    ['nginx', 'cap', 'nginx does not ask which address a redirected connection meant (SO_ORIGINAL_DST)'],
    ['pipy', 'reload', 'whether a change is in effect is asked at its outbound address'],
  ])('says why connections cannot be redirected to %s in %s', (planes, name, why) =>
    expect(prepare({ name, planes, interception: ['redirect'] })).rejects.toThrow(why))

  it('measures without the program of a control plane those that need none, and says why not the others', async () => {
    const rollout = { name: 'rollout', planes: 'pipy,envoy', sidecars: [5] }
    const { plan, programs } = await prepare({ ...rollout, missing: ['ads'] })
    expect(plan.arms.map(({ plane, control }) => [plane, control])).toEqual([['pipy', 'repo']])
    expect(plan.notMeasured).toEqual([{ plane: 'envoy@ads', reason: 'no ads' }])
    expect(programs.tools.ads).toBeUndefined()
    const { plan: whole, programs: all } = await prepare(rollout)
    expect(whole.arms.map(({ control }) => control)).toEqual(['repo', 'ads'])
    expect(all.tools.ads).toMatchObject({ path: '/bin/ads' })
  })

  it.each([
    { planes: 'none,pipy', link: 'pair', ports: [8080, 15001] },
    { planes: 'pipy', link: 'ratings', ports: [15003] },
  ])('tries from another machine every port that the plan uses: $planes, $link', async ({ planes, link, ports }) => {
    /** @type {number[]} */
    const tried = []
    const rehearse = async (/** @type {number[]} */ ports) => void tried.push(...ports)
    await prepare({ planes, link: [link], loadHost: { cpus: 2, rehearse } })
    expect(tried.sort()).toEqual(ports.sort())
  })

  describe('of folders with a pipeline.yaml', () => {
    const [fixed, free, envoy, fetching, listening, calling] = [
      ...['fixed', 'free', 'envoy', 'fetching', 'listening', 'calling'].map(name => makeFolder(`pipelines-${name}`)),
    ]
    const write = (/** @type {string} */ folder, /** @type {string} */ text) => {
      writeFileSync(path.join(folder, 'main.js'), 'pipy.listen(8000, $=>$)')
      writeFileSync(path.join(folder, 'pipeline.yaml'), text)
    }
    write(fixed, 'listen: { port: 8000 }')
    write(free, "replace: { main.js: { '8000': '{{listen.port}}' } }")
    write(
      fetching,
      "replace: { main.js: { '8000': '{{listen.port}}' } }\nrequest: { method: GET, headers: { authorization: secret } }",
    )
    const template = "replace: { main.js: { '8000': '{{listen.port}}' } }"
    write(listening, `${template}\nlisten: { scheme: https }`)
    write(calling, `${template}\nupstream: { scheme: https }`)
    write(envoy, 'program: envoy\narguments: [-c, main.js]\nenvironment: { PORT: "{{listen.port}}" }')

    it('plans one proxy in plaintext, and finds the program that a file names', async () => {
      const { plan, programs } = await prepare({ name: 'cost', planes: `pipy=${free},proxy=${envoy}` })
      expect(
        plan.arms.map(({ plane, link, conditions }) => [plane, link, conditions.tls, conditions.interception]),
      ).toEqual(
        expect.arrayContaining([
          ['pipy', 'ratings', 'plaintext', undefined],
          ['proxy', 'ratings', 'plaintext', undefined],
        ]),
      )
      expect(programs.tools[`proxy=${envoy}`].path).toBe('/bin/envoy')
      expect(Object.keys(programs.pipelines ?? {})).toEqual([free, envoy])
    })

    it.each([
      [listening, 'ecdsa-p256', true],
      [calling, 'ecdsa-p256', false],
      [free, 'plaintext', false],
    ])('plans TLS on the sides that a file names: %s', async (folder, tls, hasCertificate) => {
      const { plan } = await prepare({ name: 'cost', planes: `pipy=${folder}` })
      const [arm] = plan.arms.filter(({ hasSidecars }) => hasSidecars)
      expect([arm.conditions.tls, arm.load.hasCertificate]).toEqual([tls, hasCertificate])
    })

    it('refuses folders whose sides differ in TLS, and plaintext if a file names TLS', async () => {
      await expect(prepare({ name: 'cost', planes: `pipy=${free},pipy=${listening}` })).rejects.toThrow(
        /listening\S*: listen: https, and \S*free\S* has http: what TLS costs would be taken for the cost of the scripts/,
      )
      await expect(prepare({ name: 'cost', planes: `pipy=${calling},pipy=${free}` })).rejects.toThrow(
        /upstream: http, and \S*calling\S* has https/,
      )
      await expect(prepare({ name: 'cost', planes: `pipy=${listening}`, tls: ['plaintext'] })).rejects.toThrow(
        '--tls plaintext: where TLS is spoken the file says',
      )
    })

    it('records the request that a file names, and no headers of it', async () => {
      const { plan } = await prepare({ name: 'cost', planes: `pipy=${fetching},pipy` })
      const loadOf = (/** @type {string | null} */ variant) => plan.arms.find(arm => arm.variant === variant)?.load
      expect(loadOf(fetching)?.ownRequest).toEqual({ method: 'GET', path: '/', requestBytes: 0, status: 200 })
      expect(loadOf(null)).not.toHaveProperty('ownRequest')
      expect(new Set(plan.trials.map(({ interleaving }) => interleaving)).size).toBe(plan.rounds)
    })

    it('says what scripts with a fixed port need, if there are no network namespaces', () =>
      expect(prepare({ name: 'cost', planes: `pipy=${fixed}` })).rejects.toThrow(
        /its scripts fix a port, so each start needs a network namespace: not here; or leave out the port, and write \{\{listen.port\}\}/,
      ))

    it.each([
      [{ link: ['pair'] }, '--link pair: a pipeline.yaml describes one proxy'],
      [{ tls: ['rsa-2048'] }, '--tls rsa-2048: where TLS is spoken the file says'],
      [{ protocol: ['http/2'] }, '--protocol http/2: the load is HTTP/1.1'],
      [{ workers: [2] }, '--workers 2: its threads are those of the file'],
      [{ features: ['access-log'] }, '--features access-log: it has the features of its scripts'],
    ])('refuses %j', (options, why) =>
      expect(prepare({ name: 'cost', planes: `pipy=${free}`, ...options })).rejects.toThrow(why))

    it('takes --protocol tcp for a proxy that passes bytes on', async () => {
      const { plan } = await prepare({ name: 'cost', planes: `pipy=${free}`, protocol: ['tcp'] })
      expect(plan.arms.find(({ hasSidecars }) => hasSidecars)?.conditions.protocol).toBe('tcp')
    })

    it.each([
      ['feature-ladder', 'asks for access-log (features)'],
      ['workers', 'varies the workers ('],
      ['protocol', 'asks for HTTP/2 (protocol)'],
      ['reload', 'asks for 0 changes/min (changes/min)'],
    ])('refuses %s, whose arms would all be one process', (name, why) =>
      expect(prepare({ name, planes: `pipy=${free}` })).rejects.toThrow(why))

    it('refuses several payloads if the request of the file carries none', async () => {
      await expect(prepare({ name: 'payload', planes: `pipy=${free}` })).resolves.toBeDefined()
      await expect(prepare({ name: 'payload', planes: `pipy=${fetching}` })).rejects.toThrow(
        'varies the payload (100, 1024, 10240, 102400 bytes)',
      )
    })

    it('refuses a configuration of the user for a plane that the kit configures, and a proxy without a program', async () => {
      await expect(prepare({ name: 'cost', planes: `envoy=${envoy}` })).rejects.toThrow(`proxy=${envoy}`)
      await expect(prepare({ name: 'cost', planes: `proxy=${free}` })).rejects.toThrow('program: it is missing')
      await expect(prepare({ name: 'cost', planes: 'proxy' })).rejects.toThrow('write proxy=./folder')
    })
  })
})
