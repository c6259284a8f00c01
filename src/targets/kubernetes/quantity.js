const PREFIXES = 'kMGTPE'

/**
 * A number of Kubernetes: CPUs as `2` or `1930m`, bytes as `24684092Ki`, `129M` or `129e6`. Pure.
 * @param {string} text
 * @returns {number} NaN: it is none
 */
export function parseQuantity(text) {
  const [, number, unit = '', binary] = /^(\d+(?:\.\d+)?(?:e\d+)?)(?:([mkKMGTPE])(i?))?$/.exec(text) ?? []
  if (unit === 'm') return Number(number) / 1000
  const power = PREFIXES.indexOf(unit === 'K' ? 'k' : unit) + 1
  return Number(number) * (binary ? 1024 : 1000) ** (unit === '' ? 0 : power)
}
