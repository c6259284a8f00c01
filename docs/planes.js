import { loadPlanes } from '../src/dataplanes/registry.js'
import { FEATURE_NAMES } from '../src/model/features.js'
import { CONFIGURATIONS, findUntriedReason, listDeclaredLacks } from '../src/parity/try-plane.js'
import { PARITY_NAMES } from '../src/parity/verdict/checks.js'

const dataPlanes = Object.values(await loadPlanes())

/** The tables of planes and of what they lack, from what they declare of themselves. */
/** @import { DataPlane } from '../src/model/types.ts' */

/** Conditions that a plane may refuse, beside the configurations of the corpus. */
const MORE = /** @type {const} */ ([
  { where: '`--interception redirect`', interception: 'redirect' },
  { where: 'a load that speaks mTLS, not on `pair`', hasCertificate: true },
])

// The plane `proxy` runs what a folder says; the page describes it in words.
const sidecarPlanes = dataPlanes.filter(
  ({ createSidecar, pipelines }) => createSidecar !== null && pipelines !== 'only',
)

/** @returns {string[][]} a header, and a row for each plane */
export function tabulatePlanes() {
  const rows = sidecarPlanes.map(plane => [
    `\`${plane.name}\``,
    renderProgram(plane),
    listContenders(plane).join(', '),
    renderFeatures(plane),
    renderControls(plane),
    plane.parseOverflows ? 'yes' : 'no',
  ])
  const header = [
    'plane',
    'program',
    'in `--planes`',
    'features',
    'takes another configuration by',
    'tells what its limits refused',
  ]
  return [header, ...rows]
}

/** @returns {string[][]} a header, and a row for each thing that a plane cannot do */
export function tabulateLacks() {
  const rows = sidecarPlanes.flatMap(plane => {
    /** @type {Map<string, { what: string, why: string, where: string[] }>} */
    const lacks = new Map()
    for (const [name, measured] of Object.entries(CONFIGURATIONS).filter(([, { features }]) => features === undefined))
      for (const { what, why } of listShortcomings(plane, measured)) {
        const key = JSON.stringify([what, why])
        const { where } = lacks.get(key) ?? { where: [] }
        lacks.set(key, { what, why, where: [...where, name] })
      }
    // A plane that carries bytes alone is tried with those, whatever its applications speak.
    const tried = plane.carriesBytesOnly ? CONFIGURATIONS.tcp : CONFIGURATIONS.mtls
    const refused = MORE.flatMap(({ where, ...more }) =>
      listRefusals(plane, tried, more).map(({ what, why }) => ({ where: [where], what, why })),
    )
    return [...lacks.values(), ...refused].map(({ what, why, where }) => [
      `\`${plane.name}\``,
      where.join(', '),
      what,
      why,
    ])
  })
  return [['plane', 'configuration', 'falls short in', 'why'], ...rows]
}

/** @param {DataPlane} plane @param {import('../src/parity/rig.js').Measured} measured */
function listShortcomings(plane, measured) {
  if (plane.carriesBytesOnly && measured.protocol !== 'tcp')
    return [
      {
        what: 'not tried here: `bench` measures it by the corpus of bytes',
        why: 'it carries bytes, whatever applications speak',
      },
    ]
  const refused = listRefusals(plane, measured)
  if (listVersions(plane).every(version => findUntriedReason(measured, { plane, tool: { version } }) !== null))
    return refused
  const lacks = listDeclaredLacks(plane, measured).map(({ row, why }) => ({
    what: PARITY_NAMES.includes(row) ? `\`${row}\`` : `\`${row}\`, and is compared`,
    why,
  }))
  return [...refused, ...lacks]
}

/**
 * @param {DataPlane} plane @param {import('../src/parity/rig.js').Measured} measured
 * @param {{ interception?: 'redirect', hasCertificate?: boolean }} [more]
 */
function listRefusals(plane, measured, more) {
  const reasons = listVersions(plane).map(version => findUntriedReason(measured, { plane, tool: { version }, ...more }))
  return [...new Set(reasons)].flatMap(why => (why === null ? [] : [{ what: 'everything: it is not measured', why }]))
}

/** Lists the versions that a plane declares. @param {DataPlane} plane */
function listVersions({ tool }) {
  return (tool?.wanted.match(/\d+\.\d+/g) ?? []).map(version => `${version}.0`)
}

/** @param {DataPlane} plane */
function renderProgram({ tool }) {
  if (!tool) return ''
  const how = tool.source
    ? `\`${tool.variable}=/path\` names it`
    : tool.package
      ? `Debian: \`${tool.package}\``
      : 'fetched if it is missing'
  return `${tool.name} ${tool.wanted} (${how})`
}

/** @param {DataPlane} plane */
function listContenders({ name, profiles, hasVariants }) {
  const others = [
    ...profiles.slice(1).map(profile => `${name}:${profile}`),
    ...(hasVariants ? [`${name}=./folder`] : []),
  ]
  return [name, ...others].map(text => `\`${text}\``)
}

/** @param {DataPlane} plane */
function renderFeatures({ features = [] }) {
  if (features.length === FEATURE_NAMES.length) return 'all'
  return features.length === 0 ? 'none' : features.join(', ')
}

/** @param {DataPlane} plane */
function renderControls({ controls = [] }) {
  return (
    controls
      .map(({ name, estimateNeeds }) => (estimateNeeds ? `\`${name}\` (one, or many)` : `\`${name}\` (one)`))
      .join(', ') || 'nothing'
  )
}
