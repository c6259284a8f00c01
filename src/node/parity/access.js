import { send } from '../send.js'
import { ask } from './answers.js'

/**
 * Who is let in by a sidecar, and whom it calls: by traffic policy, where there is TLS.
 * @import { Configuration, Probed } from './probe.js'
 * @import { Check } from './answers.js'
 * @import { Credentials } from './upstreams.js'
 * @import { ConnectionOptions } from 'node:tls'
 */

/** What a peer comes with; null: no TLS. @type {Record<string, (of: Record<string, Credentials>) => ConnectionOptions | null>} */
const PEERS = {
  plaintext: () => null,
  'no certificate': () => ({}),
  'foreign CA': ({ foreign }) => foreign,
  'TLS 1.2': ({ client }) => ({ ...client, maxVersion: 'TLSv1.2' }),
  'unlisted identity': ({ stranger }) => stranger,
  'listed identity': ({ client }) => client,
}

/**
 * What a configuration accepts, in words.
 * @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration
 */
export function describeAccess({ tls, trafficPolicy }) {
  if (tls === 'plaintext') return 'nobody refused: there is no TLS'
  const refused = 'plaintext (in strict mode), no certificate, foreign CA, TLS 1.2'
  return trafficPolicy === 'open'
    ? `${refused} refused; any identity of the mesh's CA accepted (open policy)`
    : `${refused}, unlisted identity refused`
}

/**
 * Every peer at an inbound listener of either mode, and what calls must find at their end.
 * @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration
 * @returns {Check[]}
 */
export function listAccessChecks({ tls, trafficPolicy }) {
  const hasTls = tls !== 'plaintext'
  const isOpen = trafficPolicy === 'open'
  const accepted = hasTls ? ['listed identity', ...(isOpen ? ['unlisted identity'] : [])] : ['plaintext']
  const inbound = (/** @type {string} */ service, /** @type {string} */ mode, /** @type {string[]} */ ...more) =>
    Object.keys(PEERS)
      .filter(peer => hasTls || peer === 'plaintext')
      .map(peer => ({
        name: `${peer}, in ${mode} mode`,
        run: async (/** @type {Probed} */ rig) =>
          findDifference(await enter(rig, service, peer), [...accepted, ...more].includes(peer)),
      }))
  const outbound = [
    {
      name: 'an upstream of an unlisted identity',
      run: async (/** @type {Probed} */ rig) => {
        const { status, upstream } = await ask(rig, { host: 'stranger-only', path: '/everywhere' })
        return findDifference(status === 503 && upstream === undefined ? 'refused' : `answered ${status}`, isOpen)
      },
    },
    {
      name: 'an upstream of a foreign CA',
      run: async (/** @type {Probed} */ rig) => {
        await ask(rig, { host: 'foreign' })
        return rig.observed.some(o => o.observer === 'foreign') ? 'accepted, expected refused' : ''
      },
    },
  ]
  return [
    ...inbound('server', 'strict'),
    ...inbound('permissive', 'permissive', 'plaintext'),
    ...(hasTls ? outbound : []),
  ]
}

/**
 * @param {Probed} rig
 * @param {string} service whose sidecar is called
 * @param {string} peer
 */
async function enter(rig, service, peer) {
  const credentials = PEERS[peer](rig.credentials)
  const options = credentials === null ? {} : { tls: { servername: 'server', ...credentials } }
  return send(rig.sidecars[service], { host: 'echo' }, options).then(
    answer => `answered ${answer.status}`,
    () => 'refused',
  )
}

/**
 * @param {string} found
 * @param {boolean} isAccepted
 */
function findDifference(found, isAccepted) {
  const expected = isAccepted ? 'answered 200' : 'refused'
  return found === expected ? '' : `${found}, expected ${expected}`
}
