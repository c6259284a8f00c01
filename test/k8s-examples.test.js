import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { renderExamples } from '../k8s/render-examples.js'
import { loadPlanes } from '../src/dataplanes/registry.js'
import { writeCertificates } from '../src/lib/certificates.js'
import { renderSpiffeId } from '../src/model/sidecar-contract.js'
import { LABELS } from '../src/targets/kubernetes/manifests.js'
import { findOnPath } from '../src/tools/find.js'
import { makeFolder } from './fakes/scratch.js'

const dataPlanes = Object.values(await loadPlanes())

const examples = renderExamples()
const folder = makeFolder('examples')

/** @param {string} text @returns {any[]} */
const parseAll = text => parseAllDocuments(text).map(document => document.toJS())
/** @param {typeof examples[0]} example */
const objectsOf = ({ files }) => files.flatMap(({ content }) => parseAll(content))

describe('the examples', () => {
  it.each(examples.flatMap(e => e.files))('have $file as the kit renders it (npm run k8s writes it)', ({
    file,
    content,
  }) => expect(readFileSync(`k8s/${file}`, 'utf8')).toBe(content))

  it('are exactly these files, and the certificates that each user makes', () => {
    const files = examples.flatMap(({ name }) => readdirSync(`k8s/examples/${name}`).map(f => `examples/${name}/${f}`))
    const rendered = examples.flatMap(e => e.files.map(f => f.file))
    expect(files.filter(file => !file.endsWith('/certificates')).sort()).toEqual(rendered.sort())
    expect(readdirSync('k8s/examples').sort()).toEqual(examples.map(e => e.name).sort())
    expect(readFileSync('.gitignore', 'utf8')).toContain('k8s/examples/*/certificates/')
  })

  it('are one for every plane whose sidecars run alone, each from the images that the planes name', () => {
    const planes = dataPlanes.filter(
      plane => plane.createSidecar && plane.pipelines !== 'only' && !plane.createCompanions,
    )
    expect(examples.map(e => e.name)).toEqual(planes.map(plane => `gateway-ratings-${plane.name}`))
    for (const [i, example] of examples.entries()) {
      const pods = objectsOf(example).flatMap(o => (o.kind === 'Deployment' ? [o.spec.template.spec] : []))
      expect(pods).toHaveLength(2)
      for (const pod of pods) expect(pod.initContainers[0].image).toBe(planes[i].tool?.image)
    }
  })

  it('can be applied side by side: no two services want one address', () => {
    const addresses = examples.flatMap(e => objectsOf(e).flatMap(o => o.spec?.clusterIP ?? []))
    expect(addresses).toHaveLength(examples.length)
    expect(new Set(addresses).size).toBe(addresses.length)
  })

  it('have no label of a run, by which cleanup would remove them', () => {
    const objects = examples.flatMap(objectsOf)
    expect(objects.length).toBeGreaterThan(examples.length)
    for (const { kind, metadata } of objects) {
      expect(Object.keys(metadata?.labels ?? {}), kind).not.toContain(LABELS.managed)
      expect(Object.keys(metadata?.labels ?? {}), kind).not.toContain(LABELS.run)
    }
  })
})

describe('kubectl kustomize', () => {
  it.for(
    examples,
  )('builds $name: secrets by name, and an address that is changed in one place', async (example, context) => {
    const { name, services } = example
    const kubectl = await findOnPath('kubectl', process.env.PATH ?? '')
    if (!kubectl) return context.skip('needs kubectl')
    const copy = path.join(folder, name)
    cpSync(`k8s/examples/${name}`, copy, { recursive: true })
    const withIdentities = services.map(service => ({ name: service, identity: renderSpiffeId(service) }))
    await writeCertificates({ folder: path.join(copy, 'certificates'), services: withIdentities })
    const ratings = path.join(copy, 'ratings.yaml')
    const changed = readFileSync(ratings, 'utf8').replace(/clusterIP: \S+/, 'clusterIP: 10.43.0.9')
    writeFileSync(ratings, changed)

    const objects = parseAll((await execa(kubectl, ['kustomize', copy])).stdout)
    const find = (/** @type {string} */ kind) => objects.filter(o => o.kind === kind)
    const secrets = find('Secret').map(o => o.metadata.name)
    const wanted = find('Deployment').flatMap(o =>
      o.spec.template.spec.volumes.flatMap((/** @type {any} */ v) => v.secret ?? []),
    )
    expect(wanted.map(w => w.secretName)).toEqual(secrets)
    for (const [i, { items }] of wanted.entries()) {
      expect(Object.keys(find('Secret')[i].data).sort()).toEqual(
        items.map((/** @type {any} */ item) => item.key).sort(),
      )
    }
    const [gateway] = find('ConfigMap').filter(o => o.metadata.name === 'gateway')
    const addresses = Object.values(gateway.data)
      .join()
      .match(/10\.\d+\.0\.\d+/g)
    expect([...new Set(addresses)]).toEqual(['10.43.0.9'])
    for (const [key, text] of Object.entries(gateway.data)) if (key.endsWith('.json')) JSON.parse(text)
  })
})

describe('npm run certificates', () => {
  it('names the examples that there are, when asked for another', async () => {
    const { exitCode, stderr } = await execa('node', ['k8s/certificates.js', 'nonsense'], { reject: false })
    expect(exitCode).toBe(2)
    for (const { name } of examples) expect(stderr).toContain(`k8s/examples/${name}`)
    expect(existsSync('k8s/examples/nonsense')).toBe(false)
  })
})
