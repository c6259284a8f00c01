import os from 'node:os'
import { UsageError } from '../../lib/errors.js'

/**
 * The address of this machine at which the load reaches the entry: the one that was asked for, else the one that the
 * other machine sees.
 * @param {{ asked: string | null, seenAs: string | null, host: string, own?: string[] }} options own: of this machine
 * @throws {UsageError} where it is none of this machine's
 */
export function chooseAddress({ asked, seenAs, host, own = listOwnAddresses() }) {
  if (asked !== null) {
    if (own.includes(asked)) return asked
    throw new UsageError(`--address ${asked}: the entry listens at one address of this machine: ${own.join(', ')}`)
  }
  if (seenAs !== null && own.includes(seenAs)) return seenAs
  throw new UsageError(
    `${host} sees this machine as ${seenAs ?? 'an unknown address'}, which is none of its addresses: give --address the one that ${host} can reach (${own.join(', ')})`,
  )
}

/**
 * Keeps an address, with ports that are free between trials, from other runs.
 * @param {import('../../node/ledger.js').Ledger} ledger @param {string} address
 */
export function claimAddress(ledger, address) {
  const holder = ledger.claim('addresses', address)
  if (holder === null) return
  throw new UsageError(
    `${holder} uses ${address} for its load: wait until it has ended, or name another address of this machine with --address`,
  )
}

function listOwnAddresses() {
  return Object.values(os.networkInterfaces())
    .flatMap(list => list ?? [])
    .filter(({ family }) => family === 'IPv4')
    .map(({ address }) => address)
}
