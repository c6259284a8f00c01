import { describe, expect, it } from 'vitest'
import { parseExperiment } from '../src/experiment.js'

const text = `name: cap
question: what?
axes:
  plane: [none, pipy]
  link: [ratings]
  capCores: [1]
`

describe('parseExperiment', () => {
  it('fills in what a file leaves out', () => {
    expect(parseExperiment(text, 'cap.yaml')).toMatchObject({
      load: { kind: null, ratePer: 'link' },
      search: null,
      trafficPolicy: 'listed',
      profiles: {},
    })
  })

  it('names file, line and the nearest name for a typo at the top', () => {
    expect(() => parseExperiment(`${text}trafficPolice: open\n`, 'a.yaml')).toThrow(
      'a.yaml:7: trafficPolice: unknown name "trafficPolice"; did you mean "trafficPolicy"?',
    )
  })

  it('names file, line and the nearest name for a typo inside', () => {
    expect(() => parseExperiment(text.replace('capCores', 'capCore'), 'a.yaml')).toThrow('a.yaml:6: axes.capCore')
    expect(() => parseExperiment(`${text}profiles:\n  quick:\n    round: 3\n`, 'a.yaml')).toThrow(
      'a.yaml:9: profiles.quick.round: unknown name "round"; did you mean "rounds"?',
    )
  })

  it('names the line of a value that is wrong', () => {
    expect(() => parseExperiment(text.replace('[1]', '[0]'), 'a.yaml')).toThrow('a.yaml:6: axes.capCores.0')
  })

  it('names the line of a text that is no YAML', () => {
    expect(() => parseExperiment('name: [a\nb: c\n', 'a.yaml')).toThrow(/^a\.yaml:\d: /)
  })

  it('says what is missing', () => {
    expect(() => parseExperiment('name: a\naxes: { plane: [none], link: [a], capCores: [1] }\n', 'a.yaml')).toThrow(
      'question',
    )
  })
})
