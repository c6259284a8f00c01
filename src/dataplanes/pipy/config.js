/**
 * The sidecar model as pipy-scripts/config.js reads it: the model itself. JSON, because Pipy's YAML
 * gives every scalar as a string.
 * @import { SidecarModel } from '../../model/types.ts'
 * @param {SidecarModel} model
 */
export function renderConfig(model) {
  return model
}
