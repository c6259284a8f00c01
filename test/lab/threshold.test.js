import { describe, expect, it } from 'vitest'
import { judgeThresholds, parseLabThreshold } from '../../src/lab/threshold.js'

const of = (/** @type {string} */ service) => ({ link: 'pair', service })
const rowOf = (/** @type {string} */ service, /** @type {number} */ ratio) => ({
  ...{ ...of(service), quantity: /** @type {const} */ ('instructions') },
  ...{ old: 100, new: 100 * ratio, ratio, spread: 0.002 },
})

describe('a threshold of the lab', () => {
  const rows = [rowOf('client', 1.02), rowOf('server', 1.005)]
  const judge = (/** @type {string} */ text, judgedRows = rows) => {
    const threshold = parseLabThreshold(text, ['client', 'server'])
    return judgeThresholds([threshold], { rows: judgedRows, breakdowns: [of('client'), of('server')] })
  }

  it('is crossed by each sidecar whose ratio it does not allow', () => {
    const held = judge('new/old instructions <= 1.03')
    expect(held).toMatchObject({ crossed: [], undecided: [] })
    expect(held.held).toEqual([
      "--threshold 'new/old instructions <= 1.03' is held by client of pair: 1.02000",
      "--threshold 'new/old instructions <= 1.03' is held by server of pair: 1.00500",
    ])
    expect(judge('old/new instructions < 0.999')).toMatchObject({ crossed: [], undecided: [] })
    expect(judge('new/old instructions <= 1.01')).toEqual({
      crossed: ["--threshold 'new/old instructions <= 1.01' is crossed by client of pair: 1.02000"],
      held: ["--threshold 'new/old instructions <= 1.01' is held by server of pair: 1.00500"],
      undecided: [],
    })
  })

  it.each([1.004, 1.006])('is undecided if its limit, %d, is within what counts of one side are apart', limit => {
    const expression = `new/old instructions@server <= ${limit}`
    expect(judge(expression)).toEqual({
      ...{ held: [], crossed: [] },
      undecided: [
        `--threshold '${expression}' is undecided for server of pair: 1.00500, and two counts of one side are 0.200 % apart; set a limit further off, or count more --requests`,
      ],
    })
  })

  it('is undecided for a sidecar that was not counted on both sides, and not held by the other', () => {
    expect(judge('new/old instructions <= 1.03', [rowOf('client', 1)])).toMatchObject({
      crossed: [],
      undecided: [
        "--threshold 'new/old instructions <= 1.03' is undecided: instructions of server of pair was not counted on both sides",
      ],
    })
    expect(judge('new/old handshake <= 1.03').undecided).toHaveLength(2)
  })

  it.each([
    ['instructions <= 1', 'it is no condition on new/old'],
    ['new/old cpu <= 1', 'unknown quantity "cpu", only instructions, handshake, calls, wakeUps, bytes are counted'],
    ['new/old instructions@x <= 1', 'unknown sidecar "x", only client, server are counted'],
    ['new/old instructions <= -1', '"-1" is no ratio above 0'],
  ])('is refused as %s', (text, why) => {
    expect(() => parseLabThreshold(text, ['client', 'server'])).toThrow(why)
  })
})
