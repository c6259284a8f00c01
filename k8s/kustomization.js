/**
 * @import { Topology } from '../src/model/types.ts'
 */

/**
 * What kustomize adds to the rendered objects. The certificates become Secrets whose names follow their content, so
 * that fresh ones start the pods again. The address of a service is copied from the service into its callers'
 * configurations: they are text to kustomize, so it is told between which quotation marks.
 * @param {{ name: string, topology: Topology, files: { file: string, objects: any[] }[], addresses: Record<string, string>,
 *   labels: Record<string, string> }} options addresses: of services that others call
 */
export function renderKustomization({ name, topology, files, addresses, labels }) {
  const configMaps = files.flatMap(({ objects }) => objects.filter(o => o.kind === 'ConfigMap'))
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: name,
    resources: files.map(({ file }) => file),
    secretGenerator: topology.services.map(service => ({
      name: service.name,
      files: ['ca', service.name, `${service.name}-key`].map(file => `certificates/${file}.pem`),
      options: { labels },
    })),
    replacements: Object.entries(addresses).map(([service, address]) => ({
      source: { kind: 'Service', name: service, fieldPath: 'spec.clusterIP' },
      targets: configMaps.flatMap(configMap => findTargets(configMap, address)),
    })),
  }
}

/**
 * @param {{ metadata: { name: string }, data: Record<string, string> }} configMap
 * @param {string} address
 */
function findTargets({ metadata, data }, address) {
  return Object.entries(data).flatMap(([key, text]) =>
    text.split('"').flatMap((part, index) => {
      if (part !== address) return []
      const options = { delimiter: '"', index }
      return [{ select: { kind: 'ConfigMap', name: metadata.name }, fieldPaths: [`data.[${key}]`], options }]
    }),
  )
}
