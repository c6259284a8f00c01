// What is reported: summary.json.
import type { z } from 'zod'
import type * as S from '../schemas.js'

/** One measured quantity over the rounds; low and high are the 95 % interval of the median, or null. */
export type Quantity = z.infer<typeof S.quantity>
export type Quantiles = z.infer<typeof S.quantiles>
export type SummarySidecar = z.infer<typeof S.summarySidecar>
export type SummaryArm = z.infer<typeof S.summaryArm>
export type Verdict = z.infer<typeof S.verdict>
/** Two planes at the same link, cap and load, in one quantity. */
export type Comparison = z.infer<typeof S.comparison>
export type EstimateCheck = z.infer<typeof S.estimateCheck>
/** How narrow the intervals of a run are that goes on until they are narrow enough. */
export type Precision = z.infer<typeof S.summaryPrecision>
/** A condition on the median ratio of two planes: `pipy/envoy cpuPerRequest <= 0.6`. */
export type ThresholdResult = z.infer<typeof S.thresholdResult>
/** One thing that both planes must do alike, as it was found for each. */
export type ParityRow = z.infer<typeof S.parityRow>
/** One value that a search tried, until it held twice or failed twice. */
export type SearchStep = z.infer<typeof S.searchStep>
/** What a search found for one plane. */
export type SearchResult = z.infer<typeof S.searchResult>
/** What one plane needs for a load. */
export type SizeResult = z.infer<typeof S.sizeResult>
/** CPU of an arm's sidecars over the rate: millicores = base + slope × requests/s, over at least five rates. */
export type CpuLine = z.infer<typeof S.cpuLine>
/** How a quantity moves over the time of a run: the median of the slopes of all pairs of rounds. */
export type Slope = z.infer<typeof S.slope>
/** How a control plane went with more and more sidecars, and a line through its memory. */
export type GrowthFit = z.infer<typeof S.growthFit>
/** What the control plane of so many sidecars needs. */
export type ControlNeed = z.infer<typeof S.controlNeed>
export type Calibration = z.infer<typeof S.calibration>
export type Summary = z.infer<typeof S.summarySchema>
