import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createRunState } from '../../src/live/state.js'
import { createTerminalView, renderLiveLines } from '../../src/live/terminal.js'
import { createArm } from '../fakes/fake-records.js'
import { plan, startTrial } from './fake-events.js'

/** @import { RunSnapshot } from '../../src/live/state.js' */

const MIB = 1024 * 1024
const GATEWAY = {
  ...{
    service: 'gateway',
    cores: 0.198,
    cpuLimitCores: 0.25,
    ofCap: 0.792,
    isThrottled: true,
    throttledFraction: 0.98,
  },
  ...{ anonBytes: 28.8 * MIB, workingSetBytes: 40 * MIB },
}

/** @param {Partial<RunSnapshot>} [fields] @returns {RunSnapshot} */
function createSnapshot(fields = {}) {
  return {
    ...createRunState().snapshot(),
    ...{ experiment: 'cap', progress: 'repeat 2 of 6', nth: 9, trials: 24, phase: 'window', secondsLeft: 130 },
    arm: { name: 'cheap', variedAxes: '0.25 cores', link: 'gateway-ratings' },
    sidecars: [GATEWAY, { ...GATEWAY, service: 'ratings', ofCap: 0.1, cores: 0.025, throttledFraction: 0 }],
    ...{ ratePerSecond: 1431.7, failed: 0 },
    ...fields,
  }
}

describe('the lines of a terminal', () => {
  it('say where the run is and what each sidecar uses', () => {
    expect(renderLiveLines(createSnapshot(), 100)).toEqual([
      'cap · repeat 2 of 6 · window · 2 min left',
      'cheap  link gateway-ratings, 0.25 cores',
      'gateway  ████████████░░░░ 0.198 of 0.25 cores  throttled 98 %  28.8 MiB',
      'ratings  █░░░░░░░░░░░░░░░ 0.025 of 0.25 cores  throttled 0 %  28.8 MiB',
      '1432 requests/s, 0 failed',
    ])
  })

  it('leave out what is not known', () => {
    const unknown = { cores: null, ofCap: null, isThrottled: null, throttledFraction: null, anonBytes: null }
    const snapshot = createSnapshot({
      ...{ progress: 'looking for the knee', trials: null, secondsLeft: null, ratePerSecond: null, failed: null },
      arm: { name: 'cheap', variedAxes: 'link a, 2 users', link: 'a' },
      sidecars: [
        { ...GATEWAY, ...unknown },
        { ...GATEWAY, ...unknown, cores: 1.5, cpuLimitCores: null, workingSetBytes: null },
      ],
    })
    expect(renderLiveLines(snapshot, 100)).toEqual([
      'cap · looking for the knee · window',
      'cheap  link a, 2 users',
      'gateway  ░░░░░░░░░░░░░░░░ – of 0.25 cores  40.0 MiB working set',
      'gateway  1.500 cores',
    ])
    expect(renderLiveLines(createRunState().snapshot(), 100)).toEqual([])
  })

  it('have bars and the ratio so far once a repeat has ended, and what a later part shows', () => {
    const ratio = { a: 'pipy', b: 'envoy', words: 'uses % less CPU per request', repeats: 9, isNarrower: true }
    const rows = [
      { label: 'pipy', cost: 186, text: '186 µs' },
      { label: 'envoy', cost: 431, text: '431 µs' },
    ]
    const part = { arms: [], conditions: '', repeat: 9, repeats: 12, isMost: false, rows }
    const parts = [{ ...part, ratios: [{ ...ratio, median: 0.431, low: 0.39, high: 0.479 }] }]
    const fields = { ...{ experiment: 'cap', progress: 'repeat 10 of 12', phase: null, secondsLeft: 58 }, parts }
    expect(renderLiveLines(createSnapshot({ ...fields }), 100)).toEqual([
      'cap · repeat 10 of 12 · 58 s left',
      '  pipy   186 µs  ████████▋             envoy  431 µs  ████████████████████',
      '  pipy uses 56.9 % less CPU per request than envoy [52.1, 61.0] so far, narrowing; Ctrl-C keeps it',
    ])
    const alone = { ...part, conditions: 'at 1 CPU each', repeat: 1, repeats: 6, ratios: [] }
    const none = { label: 'none', cost: null, text: '8915 requests/s' }
    const both = [
      { ...parts[0], ratios: [{ ...parts[0].ratios[0], low: null, high: null }] },
      { ...alone, rows: [none] },
    ]
    expect(renderLiveLines(createSnapshot({ ...fields, parts: both, failed: 3 }), 60)).toEqual([
      'cap · repeat 10 of 12 · 58 s left',
      '  pipy   186 µs  ████████▋',
      '  envoy  431 µs  ████████████████████',
      '  pipy uses 56.9 % less CPU per request than envoy (9 repea…',
      '  at 1 CPU each, repeat 1 of 6: none 8915 requests/s',
      '  3 requests failed',
    ])
  })

  it('show six sidecars of many', () => {
    const sidecars = Array.from({ length: 51 }, (_, i) => ({ ...GATEWAY, service: `server-${i + 1}` }))
    const lines = renderLiveLines(createSnapshot({ sidecars }), 100)
    expect(lines).toHaveLength(2 + 6 + 1 + 1)
    expect(lines[8]).toBe('and 45 more')
  })

  it('are never longer than the terminal is wide, and obey no control character', () => {
    const service = 'evil\u001b[2J\u0007\r\nname\u202e\u2028'
    const arm = { name: 'a\tb', variedAxes: '', link: 'x'.repeat(300), cpuLimitCores: null }
    for (const columns of [1, 20, 40, 120]) {
      const lines = renderLiveLines(createSnapshot({ arm, sidecars: [{ ...GATEWAY, service }] }), columns)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
      expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u)
    }
    expect(renderLiveLines(createSnapshot({ sidecars: [{ ...GATEWAY, service }] }), 100)[2]).toMatch(
      /^evil\[2Jname {2}█/,
    )
    expect(renderLiveLines(createSnapshot(), 20)[0]).toBe('cap · repeat 2 of 6…')
  })
})

describe('the view on a terminal', () => {
  it('is drawn when something changed, and not again before', async () => {
    const { stream, state, view, screen } = createView()
    await delay(30)
    expect(stream.writes).toBe(0)
    state.apply(plan())
    state.apply(startTrial(createArm({ plane: 'cheap' })))
    await delay(30)
    expect(screen()).toEqual(['cap · repeat 1 of 2 · 2 min left', 'cheap  link link'])
    const { writes } = stream
    await delay(30)
    expect(stream.writes).toBe(writes)
    state.apply({ kind: 'phase', phase: 'window', atMs: 0 })
    await delay(30)
    expect(screen()[0]).toBe('cap · repeat 1 of 2 · window · 2 min left')
    view.close()
  })

  it('leaves the lines printed above it, and nothing of itself', async () => {
    const { state, view, screen } = createView()
    view.say('before')
    state.apply(plan())
    await delay(30)
    view.say('first\nof two lines')
    view.say('second')
    expect(screen()).toEqual(['before', 'first', 'of two lines', 'second', 'cap · 8 min left'])
    state.apply({ kind: 'phase', phase: 'parity', atMs: 0 })
    await delay(30)
    expect(screen()).toEqual(['before', 'first', 'of two lines', 'second', 'cap · equal-work check · 8 min left'])
    view.close()
    view.close()
    view.say('last')
    state.apply({ kind: 'phase', phase: 'window', atMs: 0 })
    await delay(30)
    expect(screen()).toEqual(['before', 'first', 'of two lines', 'second', 'last'])
  })

  it('does not hide the cursor, for which it would listen to signals', async () => {
    const count = () => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM')
    const before = count()
    const { stream, state, view } = createView()
    state.apply(plan())
    await delay(30)
    view.close()
    expect(count()).toBe(before)
    expect(stream.text).not.toContain('\u001b[?25l')
  })
})

function createView() {
  const stream = {
    ...{ text: '', writes: 0, columns: 60, rows: 24, isTTY: true },
    /** @param {string} text */
    write(text) {
      stream.writes++
      stream.text += text
      return true
    },
  }
  const state = createRunState()
  const view = createTerminalView({ stream: /** @type {any} */ (stream), state, intervalMs: 5 })
  return { stream, state, view, screen: () => interpret(stream.text) }
}

/**
 * What a terminal shows after it was sent a text: the sequences that log-update uses.
 * @param {string} text @returns {string[]} without the empty lines at the end
 */
function interpret(text) {
  const lines = ['']
  let [row, column] = [0, 0]
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal is sent
  for (const [token, count, what] of text.matchAll(/\x1b\[(\??\d*)([A-Za-z])|\n|[^\x1b\n]/g)) {
    if (token === '\n') [row, column] = [row + 1, 0]
    else if (what === undefined) {
      lines[row] = (lines[row] ?? '').slice(0, column).padEnd(column) + token + (lines[row] ?? '').slice(column + 1)
      column++
    } else if (what === 'A') row -= Number(count || 1)
    else if (what === 'B') row += Number(count || 1)
    else if (what === 'G') column = 0
    else if (what === 'K') lines[row] = count === '2' ? '' : (lines[row] ?? '').slice(0, column)
    else if (what !== 'h' && what !== 'l') throw new Error(`unknown sequence ${JSON.stringify(token)}`)
    lines[row] ??= ''
  }
  return lines.join('\n').trimEnd().split('\n')
}
