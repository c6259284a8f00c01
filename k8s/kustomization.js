/**
 * An annotation of a service: its address and port in one word, for the planes whose configurations have them so. kustomize
 * copies its address there first.
 */
export const ENDPOINT = 'sidecar-bench/endpoint'

/**
 * What kustomize adds to the rendered objects. The certificates become Secrets whose names follow their content, so
 * that fresh ones start the pods again. The address of a service is copied from the service into its callers'
 * configurations: they are text to kustomize, so it is told between which delimiters.
 * @param {{ name: string, credentials: Record<string, string[]>, files: { file: string, objects: any[] }[],
 *   addresses: Record<string, string>, labels: Record<string, string> }} options credentials: the certificates and keys of each
 *   service; addresses: of services that others call
 */
export function renderKustomization({ name, credentials, files, addresses, labels }) {
  const find = (/** @type {string} */ kind) => files.flatMap(({ objects }) => objects.filter(o => o.kind === kind))
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: name,
    resources: files.map(({ file }) => file),
    secretGenerator: Object.entries(credentials).map(([service, names]) => ({
      name: service,
      files: names.map(file => `certificates/${file}`),
      options: { labels },
    })),
    replacements: find('Service')
      .filter(service => service.metadata.name in addresses)
      .flatMap(service =>
        replaceAddress(service, { address: addresses[service.metadata.name], texts: find('ConfigMap') }),
      ),
  }
}

/**
 * @param {{ metadata: { name: string, annotations?: Record<string, string> } }} service
 * @param {{ address: string, texts: Parameters<typeof findTargets>[0][] }} options
 */
function replaceAddress({ metadata: { name, annotations } }, { address, texts }) {
  const replace = (/** @type {string} */ fieldPath, /** @type {object[]} */ targets) => ({
    source: { kind: 'Service', name, fieldPath },
    targets,
  })
  const listReplacementTargets = (/** @type {string} */ word) =>
    texts.flatMap(text => findTargets(text, { address, word }))
  const endpoint = annotations?.[ENDPOINT]
  if (endpoint === undefined) return [replace('spec.clusterIP', listReplacementTargets(address))]
  const field = `metadata.annotations.${ENDPOINT}`
  const annotation = { select: { kind: 'Service', name }, fieldPaths: [field], options: { delimiter: ':', index: 0 } }
  return [replace('spec.clusterIP', [annotation]), replace(field, listReplacementTargets(endpoint))]
}

const DELIMITERS = ['"', "'", ' ', '\n']

/**
 * @param {{ metadata: { name: string }, data: Record<string, string> }} configMap
 * @param {{ address: string, word: string }} options word: the address, or its endpoint
 * @throws where the address is in a text and cannot be replaced there
 */
function findTargets({ metadata, data }, { address, word }) {
  return Object.entries(data).flatMap(([key, text]) => {
    const places = text.split(address).length - 1
    const occurrences = DELIMITERS.map(delimiter =>
      text.split(delimiter).flatMap((part, index) => (part === word ? [{ delimiter, index }] : [])),
    ).find(options => options.length === places)
    if (!occurrences)
      throw new Error(`kustomize cannot find ${word} in ${key}: write it between quotation marks or blanks`)
    return occurrences.map(options => ({
      select: { kind: 'ConfigMap', name: metadata.name },
      fieldPaths: [`data.[${key}]`],
      options,
    }))
  })
}
