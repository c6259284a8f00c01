import { groupCopies, nameOf, percent, withRole } from './gate.js'

/** Gates of the answers: whether they are right, came at all, and came from the application. */
/** @import { TrialRecord } from '../../model/types.ts' @import { Gate } from './gate.js' */

const ERRORS_MOST = 0.001
const APPLICATION_LEAST_SECONDS = 1e-6
const SECONDS_IDLE = 10
// A share of the bytes in the bodies of verified requests and answers: heads come on top.
const PASSED_LEAST = 0.9

// EADDRNOTAVAIL, as k6, wrk and Node word it.
const isOutOfPorts = (/** @type {string} */ failure) => /assign requested address|EADDRNOTAVAIL/i.test(failure)
const OUT_OF_PORTS =
  '; the machine of the load ran out of local ports, which is no fault of the plane: widen net.ipv4.ip_local_port_range'

/** @type {Gate[]} */
export const ANSWER_GATES = [
  {
    name: 'answers',
    finds: 'a wrong body or nonce, or users with fewer than three requests before the window',
    isOfLoad: true,
    words: 'wrong answers',
    find: ({ load }) => [
      load.verified === 0 && 'no request was answered correctly in the window',
      load.corrupted > 0 && `${load.corrupted} answers came back with a wrong body or nonce`,
      load.coldUsers > 0 && `${load.coldUsers} users had not done three requests when the window opened`,
    ],
  },
  {
    name: 'errors',
    finds: 'more than one failed request in a thousand',
    isOfLoad: true,
    words: 'failing requests',
    find: ({ load: { failed, verified, failures } }) => [
      failed > ERRORS_MOST * (verified + failed) &&
        `${failed} requests failed (${percent(failed / (verified + failed))}, at most 0.1 %): ${failures.join('; ') || 'no message'}${failures.some(isOutOfPorts) ? OUT_OF_PORTS : ''}`,
    ],
  },
  {
    name: 'hung-users',
    finds: 'users whose requests never ended',
    isOfLoad: true,
    words: 'hung users',
    find: ({ load: { reportedUsers }, trial }) => [
      reportedUsers !== null &&
        reportedUsers < trial.arm.load.users &&
        `${trial.arm.load.users - reportedUsers} of ${trial.arm.load.users} users never came through the window: their requests hung`,
    ],
  },
  {
    name: 'source',
    finds: 'answers while the application used no CPU: something else gave them',
    isOfLoad: true,
    words: 'answers not from the application',
    find: ({ load: { verified }, processes }) =>
      groupCopies(withRole(processes, 'application')).map(
        copies =>
          verified > 0 &&
          copies.reduce((sum, p) => sum + p.cpuSeconds, 0) < APPLICATION_LEAST_SECONDS * verified &&
          `${nameOf(copies[0])} did no work for ${verified} answers: something before it gave them`,
      ),
  },
  {
    name: 'passage',
    finds:
      'a sidecar that received fewer bytes than the verified requests and answers carry: some went past it (where `ss` counts bytes, on one machine)',
    isOfLoad: true,
    words: 'requests past a sidecar',
    find: ({ load: { verified }, trial, processes }) =>
      // Connections that are idle for longer than sidecars keep them count no more.
      !keepsConnections(trial.arm.load)
        ? []
        : groupCopies(withRole(processes, 'sidecar')).map(copies => {
            const received = copies.reduce((sum, p) => sum + (p.receivedBytes ?? Number.NaN), 0)
            const { connections, payloadBytes } = trial.arm.load
            // Closed connections count no more: the connections of the answers were kept.
            const bodies = connections === 'new' ? 1 : 2
            const expected = bodies * verified * payloadBytes * (copies[0].passages ?? 0)
            return (
              received < PASSED_LEAST * expected &&
              `${nameOf(copies[0])} received ${received} bytes, and ${verified} verified requests carry ${expected} through it: they went past it`
            )
          }),
  },
]

/** Says whether each connection of the load has a request every ten seconds. @param {TrialRecord['trial']['arm']['load']} load */
function keepsConnections({ users, ratePerSecond, burst }) {
  return burst === null && (ratePerSecond === undefined || users <= SECONDS_IDLE * ratePerSecond)
}
