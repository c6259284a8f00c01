// Writes fresh certificates for the examples: npm run certificates [-- k8s/examples/gateway-ratings-pipy …]
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeCertificates } from '../src/lib/certificates.js'
import { renderSpiffeId } from '../src/model/sidecar-contract.js'
import { renderExamples } from './render-examples.js'

const EXAMPLES = fileURLToPath(new URL('examples', import.meta.url))
const examples = renderExamples()
const names = process.argv.slice(2)
const unknown = names.filter(folder => !examples.some(({ name }) => name === path.basename(folder)))
if (unknown.length > 0) {
  const known = examples.map(({ name }) => `k8s/examples/${name}`).join(', ')
  console.error(`${unknown.join(', ')}: no such example; there are: ${known}`)
  process.exit(2)
}

for (const { name, services } of examples) {
  if (names.length > 0 && !names.some(folder => path.basename(folder) === name)) continue
  const folder = path.join(EXAMPLES, name, 'certificates')
  await writeCertificates({
    folder,
    services: services.map(service => ({ name: service, identity: renderSpiffeId(service) })),
  })
  console.log(`${path.relative('', folder)}: certificates for ${services.join(' and ')}, valid for a day`)
}
