/**
 * What kustomize adds to the rendered objects. The certificates become Secrets whose names follow their content, so
 * that fresh ones start the pods again. The address of a service is copied from the service into its callers'
 * configurations: they are text to kustomize, so it is told between which delimiters.
 * @param {{ name: string, credentials: Record<string, string[]>, files: { file: string, objects: any[] }[],
 *   addresses: Record<string, string>, labels: Record<string, string> }} options credentials: the certificates and keys of each
 *   service; addresses: of services that others call
 */
export function renderKustomization({ name, credentials, files, addresses, labels }) {
  const configMaps = files.flatMap(({ objects }) => objects.filter(o => o.kind === 'ConfigMap'))
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
    replacements: Object.entries(addresses).map(([service, address]) => ({
      source: { kind: 'Service', name: service, fieldPath: 'spec.clusterIP' },
      targets: configMaps.flatMap(configMap => findTargets(configMap, address)),
    })),
  }
}

const DELIMITERS = ['"', "'", ' ', '\n']

/**
 * @param {{ metadata: { name: string }, data: Record<string, string> }} configMap
 * @param {string} address
 * @throws where the address is in a text and cannot be replaced there
 */
function findTargets({ metadata, data }, address) {
  return Object.entries(data).flatMap(([key, text]) => {
    const places = text.split(address).length - 1
    const found = DELIMITERS.map(delimiter =>
      text.split(delimiter).flatMap((part, index) => (part === address ? [{ delimiter, index }] : [])),
    ).find(options => options.length === places)
    if (!found)
      throw new Error(`kustomize cannot find ${address} in ${key}: write it between quotation marks, without its port`)
    return found.map(options => ({
      select: { kind: 'ConfigMap', name: metadata.name },
      fieldPaths: [`data.[${key}]`],
      options,
    }))
  })
}
