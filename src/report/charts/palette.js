/** The colours of charts: definitions use the light ones, which a theme then replaces. Runs in browsers, too. Pure. */

/** @type {Record<string, { light: string, dark: string }>} each light colour stands once */
const COLOURS = {
  text: { light: '#1f2328', dark: '#e6edf3' },
  muted: { light: '#59636e', dark: '#9198a1' },
  grid: { light: '#d8dee4', dark: '#30363d' },
  background: { light: '#fffffe', dark: '#0d1117' },
  limit: { light: '#c4262e', dark: '#ff7b72' },
  series0: { light: '#6e7781', dark: '#8b949e' },
  series1: { light: '#0067b8', dark: '#58a6ff' },
  series2: { light: '#b34700', dark: '#f0883e' },
  series3: { light: '#0f7b4f', dark: '#3fb950' },
  series4: { light: '#7a3fb0', dark: '#bc8cff' },
  series5: { light: '#a8326e', dark: '#f778ba' },
  series6: { light: '#00707a', dark: '#39c5cf' },
}
const SERIES = Object.keys(COLOURS).filter(name => name.startsWith('series'))

export const [TEXT, MUTED, GRID, BACKGROUND, LIMIT] = Object.values(COLOURS).map(({ light }) => light)

/** @param {number} index 0: no mesh; from 1: planes, round and round */
export function colourOf(index) {
  const name = SERIES[index === 0 ? 0 : 1 + ((index - 1) % (SERIES.length - 1))]
  return COLOURS[name].light
}

/** Puts an option into the colours of a theme. @template T @param {T} option @param {boolean} isDark @returns {T} */
export function withPalette(option, isDark) {
  return isDark ? JSON.parse(replaceColours(JSON.stringify(option), name => COLOURS[name].dark)) : option
}

/** Makes a drawn chart take the colours of the page, by CSS variables. @param {string} svg */
export function withVariables(svg) {
  return replaceColours(svg, name => `var(--${name})`)
}

/** The variables of a theme, as CSS declarations. @param {'light' | 'dark'} theme */
export function renderVariables(theme) {
  return Object.entries(COLOURS)
    .map(([name, colour]) => `--${name}: ${colour[theme]};`)
    .join(' ')
}

/** @param {string} text @param {(name: string) => string} colourFor */
function replaceColours(text, colourFor) {
  const names = new Map(Object.entries(COLOURS).map(([name, { light }]) => [light, name]))
  return text.replace(/#[0-9a-f]{6}\b/g, hex => {
    const name = names.get(hex)
    return name === undefined ? hex : colourFor(name)
  })
}
