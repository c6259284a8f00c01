import { beforeEach, describe, expect, it } from 'vitest'
import { BenchError } from '../../../src/lib/errors.js'
import { createProcess } from '../../../src/model/processes.js'
import { openLedger, readLedgers } from '../../../src/node/ledger.js'
import { renderRulesFailure } from '../../../src/targets/local/bridge.js'
import { createNetworks } from '../../../src/targets/local/networks.js'
import { makeFolder } from '../../fakes/scratch.js'

/** @import { ProcessSpec } from '../../../src/model/types.ts' */

const runId = 'run-1'
const HUB = `sidecar-bench.${runId}`
let root = ''
/** @type {string[]} */
let commands
beforeEach(() => {
  root = makeFolder('networks-test')
  commands = []
})

/** @param {{ refuses?: RegExp }} [options] refuses: the commands that fail */
function create({ refuses } = {}) {
  const ledger = openLedger({ runId, root })
  const run = async (/** @type {string[]} */ argv, input = '') => {
    const command = [argv.join(' '), ...input.trim().split('\n')].filter(Boolean).join(' | ')
    if (refuses?.test(command)) throw new BenchError(`refused: ${argv.join(' ')}`)
    commands.push(command)
    return ''
  }
  return { ledger, networks: createNetworks({ ledger, run, iptables: 'iptables' }) }
}

/** @param {Partial<ProcessSpec>} fields @returns {ProcessSpec} */
const specOf = fields =>
  createProcess({
    ...{ service: 'gateway', role: 'sidecar', program: '/bin/p', argv: [], folder: '/f' },
    listens: [{ address: '10.77.0.3', port: 15003 }],
    ...fields,
  })

describe('the network namespaces of a run', () => {
  it('are held in the ledger before the first is made, and no more once they are gone', async () => {
    const { ledger, networks } = create()
    await networks.placesFor(1, ['gateway'])
    expect(readLedgers(root)[0].holdings).toEqual([{ kind: 'netns', name: HUB }])
    expect(commands[0]).toBe(`ip netns add ${HUB}`)
    await networks.close()
    expect(readLedgers(root)[0].holdings).toEqual([])
    ledger.close()
  })

  it('are not made if no process needs them', async () => {
    const { networks } = create()
    expect(networks.hasNamespaces(1, [specOf({})])).toBe(false)
    expect(networks.hasNamespaces(1, [specOf({ role: 'generator' })])).toBe(false)
    expect(networks.createProberEnterArgv()).toBeNull()
    await networks.close()
    expect(commands).toEqual([])
  })

  it('give each service of each start an address and a namespace, with the rules of its sidecar', async () => {
    const { networks } = create()
    const [first, second] = [await networks.placesFor(1, ['gateway']), await networks.placesFor(2, ['gateway'])]
    expect(first.gateway.reach).not.toBe(second.gateway.reach)
    expect(first.prober).toEqual(second.prober)
    const sidecar = specOf({ redirects: { inbound: 15003, outbound: 15001 } })
    expect(networks.hasNamespaces(1, [sidecar])).toBe(true)
    expect(networks.hasNamespaces(3, [sidecar])).toBe(false)
    commands.length = 0
    await networks.createNamespaces(1, [specOf({ role: 'application' }), sidecar])
    const name = `${HUB}.1.gateway`
    expect(commands).toEqual([
      `ip netns add ${name}`,
      `ip -n ${HUB} -batch - | link add v3 type veth peer name eth0 netns ${name} | link set v3 master bench up`,
      `ip -n ${name} -batch - | link set lo up | address add ${first.gateway.reach}/16 dev eth0 | link set eth0 up`,
      expect.stringMatching(
        `^nsenter --net=/run/netns/${name} -- iptables-restore -w .*dport 15003 -j RETURN .*REDIRECT --to-ports 15001`,
      ),
    ])
    await networks.createNamespaces(1, [sidecar])
    expect(commands).toHaveLength(4)
    await networks.removeNamespaces(1, [specOf({ role: 'application' }), sidecar])
    expect(commands.at(-1)).toBe(`ip netns delete ${name}`)
    expect(commands).toHaveLength(5)
  })

  it('are made for the pods of a proxy of the node, too, which enters them as its own user', async () => {
    const { networks } = create()
    await networks.placesFor(1, ['node-proxy', 'client'])
    const pods = [{ service: 'client', redirects: { inbound: 15006, outbound: 15001 }, ports: [15008] }]
    const specs = [specOf({ service: 'node-proxy', role: 'control', pods }), specOf({ service: 'node-proxy', pods })]
    commands.length = 0
    await networks.createNamespaces(1, specs)
    const name = `${HUB}.1.client`
    expect(commands.filter(command => command.startsWith('ip netns add'))).toEqual([
      `ip netns add ${HUB}.1.node-proxy`,
      `ip netns add ${name}`,
    ])
    expect(commands.filter(command => command.includes('iptables-restore'))).toEqual([
      expect.stringMatching(`--net=/run/netns/${name} .*dport 15008 -j RETURN .*REDIRECT --to-ports 15001`),
    ])
    expect(networks.listPodNetworks(1, specs[1])).toEqual([`/run/netns/${name}`])
    expect(networks.createEnterArgv(1, specs[1]).join(' ')).toMatch(
      /node-proxy -- setpriv --reuid=\d+ .*sys_admin,\+net_admin --$/,
    )
    expect(networks.createEnterArgv(1, specOf({})).join(' ')).not.toContain('sys_admin')
    await networks.removeNamespaces(1, specs)
    expect(commands.filter(command => command.startsWith('ip netns delete')).toSorted()).toEqual([
      `ip netns delete ${name}`,
      `ip netns delete ${HUB}.1.node-proxy`,
    ])
  })

  it('have a route to addresses that rules translate, which is needed before', async () => {
    const { networks } = create()
    await networks.placesFor(1, ['gateway'])
    const endpoint = { address: '198.19.0.1', port: 80 }
    const redirects = { inbound: 15006, outbound: null, translations: [{ from: endpoint, to: endpoint }] }
    await networks.createNamespaces(1, [specOf({ redirects })])
    expect(commands.at(-2)).toMatch(/link set eth0 up \| route add 198\.19\.0\.0\/16 dev eth0$/)
  })

  it('have the sidecar run as a user of its own, and the generator in a namespace of its own', async () => {
    const { networks } = create()
    await networks.placesFor(1, ['gateway'])
    const enter = (/** @type {ProcessSpec['role']} */ role) => networks.createEnterArgv(1, specOf({ role })).join(' ')
    expect(enter('sidecar')).toMatch(`nsenter --net=/run/netns/${HUB}.1.gateway -- setpriv --reuid=1500 `)
    expect(enter('application')).toBe(`nsenter --net=/run/netns/${HUB}.1.gateway --`)
    expect(enter('generator')).toBe(`nsenter --net=/run/netns/${HUB}.load-generator --`)
  })

  it('are refused in one line if this user may not make them, and nothing is held', async () => {
    const { networks } = create({ refuses: /iptables-restore/ })
    await expect(networks.assertPossible()).rejects.toThrow(
      /^--interception redirect (?:needs root, or CAP_NET_ADMIN .*|cannot be set up): refused: nsenter .* iptables-restore -w$/,
    )
    expect(readLedgers(root)[0].holdings).toEqual([])
  })

  it.each([
    [
      'iptables: No chain/target/match by that name.',
      'needs modules that this kernel has not loaded: modprobe xt_REDIRECT xt_owner',
    ],
    ['Warning: Extension REDIRECT revision 0 not supported, missing kernel module?', 'needs modules that'],
    ["can't initialize iptables table `nat': Table does not exist (do you need to insmod?)", 'needs modules that'],
    ['RTNETLINK answers: Operation not permitted', 'needs root, or CAP_NET_ADMIN'],
    ['Error: Unknown device type', 'cannot be set up: Error: Unknown device type'],
  ])('are refused to root with the cause first: %s', (why, words) => {
    expect(renderRulesFailure(why, true)).toMatch(words)
    expect(renderRulesFailure(why, true)).toContain(why)
  })

  it('are refused with the package of a program that is missing', async () => {
    const ledger = openLedger({ runId, root })
    const networks = createNetworks({ ledger, iptables: 'iptables-of-nobody' })
    await expect(networks.assertPossible()).rejects.toThrow(
      '--interception redirect needs iptables-of-nobody, which is not here: apt-get install iptables',
    )
  })
})
