import { describe, expect, it } from 'vitest'
import { adsTool } from '../../../src/dataplanes/envoy/ads-control.js'
import { pipyTool } from '../../../src/dataplanes/pipy/index.js'
import { k6Tool } from '../../../src/loads/k6/index.js'
import { wrkTool } from '../../../src/loads/wrk/index.js'
import { chooseImages, hasImage, isAlwaysPulled, renderImages } from '../../../src/targets/kubernetes/images.js'

const specs = [pipyTool, pipyTool, k6Tool]
const node = /** @type {any} */ ({
  status: {
    images: [
      { names: ['docker.io/grafana/k6@sha256:aa', 'docker.io/grafana/k6:1.1.0'] },
      { names: ['docker.io/library/node:20.20.2-slim'] },
      { names: ['localhost/pipy:test'] },
      { names: ['registry.example:5000/pipy:latest'] },
      { sizeBytes: 1 },
    ],
  },
})

describe('chooseImages', () => {
  it("names each tool once, and Node's for the kit's own pods", () => {
    expect(chooseImages({ specs, images: {} }).map(({ name }) => name)).toEqual(['pipy', 'k6', 'node'])
  })

  it('leaves out a tool that has none, until one is given', () => {
    const chosen = (/** @type {Record<string, string>} */ images) => chooseImages({ specs: [wrkTool], images })
    expect(chosen({}).map(({ name }) => name)).toEqual(['node'])
    expect(chosen({ wrk: 'registry.example/wrk:1' })[0]).toEqual({ name: 'wrk', image: 'registry.example/wrk:1' })
  })

  it('prefers the requested image', () => {
    const [pipy, k6] = chooseImages({ specs, images: { pipy: 'registry.example/pipy:1' } })
    expect([pipy.image, k6.image]).toEqual(['registry.example/pipy:1', k6Tool.image])
  })
})

describe('hasImage', () => {
  it.each([
    ...'grafana/k6:1.1.0 docker.io/grafana/k6:1.1.0 grafana/k6@sha256:aa grafana/k6:1.1.0@sha256:aa'.split(' '),
    ...'node:20.20.2-slim localhost/pipy:test registry.example:5000/pipy'.split(' '),
  ])('finds %s, whichever of its names the node lists', image => {
    expect(hasImage(node, image)).toBe(true)
  })

  it.each([
    'grafana/k6:1.2.0',
    'grafana/k6',
    'pipy:test',
    'example/pipy:test',
    'grafana/k6@sha256:bb',
  ])('does not take another image for %s', image => expect(hasImage(node, image)).toBe(false))

  it('finds none on a node that lists none', () => {
    expect(hasImage(/** @type {any} */ ({ status: {} }), 'pipy:1')).toBe(false)
  })
})

describe('isAlwaysPulled', () => {
  it.each([
    ['pipy', true],
    ['registry.example:5000/pipy', true],
    ['pipy:latest', true],
    ['pipy:1.5', false],
    ['pipy@sha256:aa', false],
  ])('of %s says %s', (image, expected) => expect(isAlwaysPulled(image)).toBe(expected))
})

describe('renderImages', () => {
  it('names every image, and how it gets to a node without a registry', () => {
    expect(renderImages({ specs, images: { pipy: 'registry.example/pipy:1' } })).toEqual([
      'pipy  registry.example/pipy:1',
      'k6    grafana/k6:1.1.0',
      'node  node:20.20.2-slim',
      '',
      "Where a registry is reached, on a machine of the node's architecture:",
      '  docker pull registry.example/pipy:1',
      '  docker pull grafana/k6:1.1.0',
      '  docker pull node:20.20.2-slim',
      '  docker save -o images.tar registry.example/pipy:1 grafana/k6:1.1.0 node:20.20.2-slim',
      'Then once for every node of the run, the one that fits:',
      '  ctr -n k8s.io images import images.tar   (containerd, on the node)',
      '  k3s ctr images import images.tar         (k3s, on the node)',
      '  kind load image-archive images.tar',
    ])
  })

  it('says how the image that the kit builds is made, unless another was requested', () => {
    const all = [...specs, adsTool]
    const lines = renderImages({ specs: all, images: {} })
    expect(lines.filter(line => line.includes('ads'))).toEqual([
      expect.stringMatching(/^ads {3}localhost\/sidecar-bench-ads:[0-9a-f]{12}$/),
      "For --control ads, on a machine of the node's architecture; it says how a node imports that archive:",
      '  npm run images -- --ads ads.tar',
    ])
    const imageLines = renderImages({ specs: all, images: { ads: 'registry.example/ads:1' } })
    expect(imageLines).toContain('  docker pull registry.example/ads:1')
    expect(imageLines.join()).not.toContain('ads.tar')
  })

  it('carries an image that serves for two tools once', () => {
    const lines = renderImages({ specs, images: { pipy: 'all:1', k6: 'all:1', node: 'all:1' } })
    expect(lines.filter(line => line.includes('docker pull'))).toEqual(['  docker pull all:1'])
    expect(lines).toContain('  docker save -o images.tar all:1')
  })
})
