import { expect, it } from 'vitest'
import { renderChangedRows, renderLabDetails, renderSaves } from '../../src/lab/text.js'

it('the text has the table of both sides, where instructions go, and what the words mean', () => {
  const part = { name: 'memory', old: 100, new: 150 }
  const text = renderLabDetails({
    labels: { old: 'pipy-scripts in HEAD, Pipy 1.5.18', new: 'mine, Pipy 1.5.18' },
    rows: [
      {
        ...{ link: 'pair', service: 'client', quantity: /** @type {const} */ ('instructions') },
        ...{ old: 70_056.4, new: 80_000, ratio: 1.14194, spread: 0.00015 },
      },
      {
        ...{ link: 'pair', service: 'client', quantity: /** @type {const} */ ('calls') },
        ...{ old: 8.5, new: 8.25, ratio: 0.9706, spread: 0 },
      },
    ],
    notes: ['it was a quiet hour'],
    breakdowns: [
      {
        unit: 'instructions a request',
        ...{ link: 'pair', service: 'client', groups: [part], filters: [{ ...part, name: 'muxHTTP', old: 0 }] },
        functions: [{ ...part, name: 'malloc', inclusive: 160 }],
        calls: [{ name: 'sendmsg', old: 2, new: 2.505 }],
      },
    ],
  })
  expect(text).toContain('old: pipy-scripts in HEAD, Pipy 1.5.18\nnew: mine, Pipy 1.5.18')
  expect(text).toMatch(/pair +client +instructions +70 056 +80 000 +\+9 944 +1\.1419 +0\.015 %/)
  expect(text).toMatch(/memory +100 +150 +\+50 +\+50\.0 %/)
  expect(text).toMatch(/muxHTTP +0 +150 +\+150 +new/)
  expect(text).toMatch(/malloc +100 +150 +\+50 +\+50\.0 % +160/)
  expect(text).toMatch(/pair +client +calls +8\.50 +8\.25 +-0\.25 +0\.9706/)
  expect(text).toMatch(/sendmsg +2\.00 +2\.50 +\+0\.50 +\+25\.0 %/)
  expect(text).toContain('instructions: instructions a sidecar executes for a request')
  expect(text).not.toContain('handshake')
  expect(text).toContain('at most instructions 0.015 %, calls 0.000 %')
  expect(text).toMatch(/it was a quiet hour$/)
})

it('the text says so where no sidecar was counted', () => {
  const text = renderLabDetails({ labels: { old: 'theirs', new: 'mine' }, rows: [], breakdowns: [], notes: [] })
  expect(text).toMatch(/\nnothing was counted: no sidecar is on both sides$/)
  expect(text).not.toContain('at most')
})

it('after a save the instructions of the last five are beside each other', () => {
  const rowOf = (/** @type {number} */ i) => ({
    ...{ link: 'pair', service: 'client', quantity: /** @type {const} */ ('instructions') },
    ...{ old: 1000, new: 1000 + i, ratio: 1 + i / 1000, spread: 0.00015 },
  })
  const saves = [1, 2, 3, 4, 5, 6].map(i => ({ at: new Date(2026, 10, 24, 12, 0, i), rows: [rowOf(i)] }))
  const lines = renderSaves(saves).split('\n')
  expect(lines).toHaveLength(6)
  expect(lines[0]).toMatch(/saved +client of pair +new\/old/)
  expect(lines[1]).toMatch(/12:00:02 +\+2 +1\.0020/)
  expect(lines[5]).toMatch(/12:00:06 +\+6 +1\.0060/)
})

it('one side alone has no columns of another, and a noisy quantity the digits that it has', () => {
  const row = { link: 'ratings', service: 'ratings', old: 48_380, new: 48_380, ratio: 1, spread: 0.0017 }
  const text = renderLabDetails({
    labels: { old: 'mine', new: 'mine' },
    notes: [],
    isAlone: true,
    rows: [
      { ...row, quantity: 'instructions' },
      { ...row, quantity: 'wakeUps', old: 2.345, new: 2.345, ratio: 1.0312, spread: 0.2 },
    ],
    breakdowns: [],
  })
  expect(text).toMatch(/^mine\n/)
  expect(text).not.toMatch(/new\/old|difference {2}|old:/)
  expect(text).toMatch(/instructions +48 380 +0\.170 %/)
  expect(text).toMatch(/wakeUps +2\.3 +20 %/)
  expect(text).toContain('at most instructions 0.170 %, wakeUps 20 %; a smaller difference of that quantity is none')
})

it('after a save, only rows that it has changed are printed', () => {
  const row = { link: 'pair', quantity: /** @type {const} */ ('instructions'), old: 1000, ratio: 1.1, spread: 0.002 }
  const before = ['client', 'server'].map(service => ({ ...row, service, new: 1100 }))
  const changed = before.map(previous =>
    previous.service === 'client' ? { ...previous, new: 1200, ratio: 1.2 } : { ...previous, new: 1101 },
  )
  const lines = renderChangedRows(changed, before).split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatch(/^client of pair, instructions +1 000 +1 200 +\+20\.0 % +0\.200 %$/)
  expect(renderChangedRows(before, before)).toBe('No row has changed since the save before.')
})
