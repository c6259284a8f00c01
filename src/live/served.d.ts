// Modules of the report and a global that the server serves to the page's scripts, beside the modules of this folder.
declare module '/charts/*.js' {
  export const drawOverTime: typeof import('../report/charts/over-time.js').drawOverTime
  export const drawRounds: typeof import('../report/charts/rounds.js').drawRounds
  export const applyTheme: typeof import('../report/charts/style.js').applyTheme
}

declare const echarts: typeof import('echarts')
