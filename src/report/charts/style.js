/** The style that all charts share. Charts are made in light colours, which a theme then replaces. Also runs in browsers. Pure. */

/**
 * A chart in light colours, to be drawn by ECharts.
 * @typedef {object} Chart
 * @property {string} title
 * @property {string} description in words
 * @property {number} height in pixels
 * @property {Record<string, any>} option of ECharts, without functions, for pages and files alike
 */

/**
 * Colours by name. No two light colours are equal, since a theme finds the name by them.
 * @type {Record<string, { light: string, dark: string }>}
 */
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
const SERIES_NAMES = Object.keys(COLOURS).filter(name => name.startsWith('series'))

export const [TEXT, MUTED, GRID, BACKGROUND, LIMIT] = Object.values(COLOURS).map(({ light }) => light)

const FONT = 'system-ui, sans-serif'
/** The width in pixels of a chart that is drawn without a browser. */
export const CHART_WIDTH = 580
const AXIS_FONT_SIZE = 12

/**
 * Creates an option of ECharts with the font and colours that all charts share, and without animation.
 * @param {Record<string, any>} option further parts, and overrides
 * @returns {Record<string, any>}
 */
export function createChartOption(option) {
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: FONT, color: TEXT },
    ...option,
  }
}

/**
 * Creates a line chart with a description, a legend, a grid and tooltips. Its axes and series are in `option`.
 * @template {{ label: string }} Line
 * @param {{ title: string, about?: string, lines: Line[], renderLine: (line: Line) => string, height?: number }} options about:
 *   begins the description, by default the title; renderLine: renders a line in words; height: in pixels, 340 by default
 * @param {{ top?: number, bottom?: number } & Record<string, any>} option top, bottom: pixels around the grid, 34 and
 *   30 by default; all others are options of ECharts
 * @returns {Chart}
 */
export function createLineChart(
  { title, about = title, lines, renderLine, height = 340 },
  { top = 34, bottom = 30, ...option },
) {
  return {
    title,
    description: `${about}. ${lines.map(renderLine).join('; ')}.`,
    height,
    option: createChartOption({
      legend: createLegend(lines.map(({ label }) => label)),
      grid: { left: 8, right: 24, top, bottom, outerBounds: { top: 20, bottom: 4, left: 4, right: 16 } },
      tooltip: { trigger: 'item', confine: true, formatter: '{b}' },
      ...option,
    }),
  }
}

/**
 * Creates a series of ECharts.
 * @param {'line' | 'scatter'} type
 * @param {{ label: string, colour: number } & Record<string, any>} line label, colour (index); all others are options
 *   of ECharts
 * @returns {Record<string, any>}
 */
export function createChartSeries(type, { label, colour, ...overrides }) {
  return { type, name: label, color: chooseColour(colour), ...overrides }
}

/**
 * Chooses the dashes of a line, which repeat from the fourth on.
 * @param {number} index of the line
 * @returns {string} a line type of ECharts
 */
export function chooseDash(index) {
  return ['solid', 'dashed', 'dotted'][index % 3]
}

/**
 * Creates an axis of ECharts, of type `value` unless the options override it.
 * @param {Record<string, any>} options of ECharts; those in `axisLabel` are added to the font and colour
 * @returns {Record<string, any>}
 */
export function createAxis({ axisLabel = {}, ...overrides }) {
  return {
    type: 'value',
    axisLine: { show: true, onZero: false, lineStyle: { color: MUTED } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: GRID } },
    axisLabel: { color: TEXT, fontSize: AXIS_FONT_SIZE, hideOverlap: true, ...axisLabel },
    nameLocation: 'middle',
    nameTextStyle: { color: MUTED, fontSize: AXIS_FONT_SIZE },
    ...overrides,
  }
}

/**
 * Creates the axis below a chart, from 0 unless the options set `min`; an axis of categories needs `min: undefined`.
 * @param {string} name its title, with the unit
 * @param {Record<string, any>} [options] of ECharts
 * @returns {Record<string, any>}
 */
export function createAxisBelow(name, options) {
  return createAxis({ min: 0, name, nameGap: 26, ...options })
}

/**
 * Creates the axis beside a chart, from 0 unless the options override it.
 * @param {string} name
 * @param {Record<string, any>} [options] of ECharts
 * @returns {Record<string, any>}
 */
export function createAxisBeside(name, options) {
  return createAxis({ min: 0, name, nameGap: 46, ...options })
}

/**
 * Creates the legend above a chart, with arrows if the names do not fit.
 * @param {string[]} names of series
 * @returns a `legend` of ECharts
 */
export function createLegend(names) {
  return { data: names, top: 0, left: 0, type: 'scroll', textStyle: { color: TEXT, fontSize: AXIS_FONT_SIZE } }
}

/**
 * Rounds to four significant digits: a chart shows no more, and its file stays small.
 * @param {number} value
 * @returns {number}
 */
export function roundToFourDigits(value) {
  return Number(value.toPrecision(4))
}

/**
 * Chooses the light colour for an index.
 * @param {number} index 0: without sidecars; from 1 on: planes, which share colours beyond the sixth
 * @returns {string} `#rrggbb`
 */
export function chooseColour(index) {
  const name = SERIES_NAMES[index === 0 ? 0 : 1 + ((index - 1) % (SERIES_NAMES.length - 1))]
  return COLOURS[name].light
}

/**
 * Replaces the light colours of an option by dark ones, if the theme is dark.
 * @template T
 * @param {T} option of ECharts, without functions
 * @param {boolean} isDark
 * @returns {T} a copy; the same option if the theme is light
 */
export function applyTheme(option, isDark) {
  return isDark ? JSON.parse(replaceColours(JSON.stringify(option), name => COLOURS[name].dark)) : option
}

/** Replaces the colours of a drawn chart by the CSS variables of the page. @param {string} svg @returns {string} SVG */
export function applyColourVariables(svg) {
  return replaceColours(svg, name => `var(--${name})`)
}

/** Renders the colours of a theme as CSS variables: `--text: #1f2328; …`. @param {'light' | 'dark'} theme @returns {string} */
export function renderColourVariables(theme) {
  return Object.entries(COLOURS)
    .map(([name, colour]) => `--${name}: ${colour[theme]};`)
    .join(' ')
}

/**
 * Replaces each light colour in a text. Other colours stay.
 * @param {string} text
 * @param {(name: string) => string} renderColour renders the colour of a name
 * @returns {string}
 */
function replaceColours(text, renderColour) {
  const names = new Map(Object.entries(COLOURS).map(([name, { light }]) => [light, name]))
  return text.replace(/#[0-9a-f]{6}\b/g, hex => {
    const name = names.get(hex)
    return name === undefined ? hex : renderColour(name)
  })
}
