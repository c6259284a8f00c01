// The documents of a run on disk and their parts: the schemas say what each field is.
import type { z } from 'zod'
import type * as S from '../schemas.js'

export type Protocol = z.infer<typeof S.conditions.shape.protocol>
/** Plaintext between sidecars, or mTLS: the key type of certificates, and a post-quantum group if one comes before X25519. */
export type Tls = z.infer<typeof S.conditions.shape.tls>
export type TrafficPolicy = z.infer<typeof S.trafficPolicy>
/** The role of a process. control: it hands out configurations to sidecars; neighbour: it burns CPU beside the services. */
export type Role = z.infer<typeof S.role>
export type Use = z.infer<typeof S.use>
export type BoundBy = z.infer<typeof S.boundBy>

export type Service = z.infer<typeof S.service>
export type Topology = z.infer<typeof S.topology>
export type Load = z.infer<typeof S.load>
export type RequestKind = z.infer<typeof S.requestKind>
export type PlaneChoice = z.infer<typeof S.planeChoice>
export type Conditions = z.infer<typeof S.conditions>
export type Arm = z.infer<typeof S.arm>
/** The CPUs that each role has for itself; control planes share those of the applications. */
export type Placement = z.infer<typeof S.placement>
export type Trial = z.infer<typeof S.trial>
export type SearchSpec = z.infer<typeof S.searchSpec>
export type RunSettings = z.infer<typeof S.settings>
export type Shows = z.infer<typeof S.shows>
export type Tool = z.infer<typeof S.tool>
export type Kit = z.infer<typeof S.kit>
export type ScriptFolder = z.infer<typeof S.scriptFolder>
export type Calibration = z.infer<typeof S.calibration>
export type ParityRow = z.infer<typeof S.parityRow>
export type Manifest = z.infer<typeof S.manifestSchema>

/** One reading of a group of processes; what a kernel does not offer is null. */
export type Reading = z.infer<typeof S.reading>
export type ThreadCpu = z.infer<typeof S.threadCpu>
export type ProcessUsage = z.infer<typeof S.processUsage>
export type ProcessMemory = z.infer<typeof S.processMemory>
export type Look = z.infer<typeof S.look>
export type HostCpu = z.infer<typeof S.hostCpu>
export type Window = z.infer<typeof S.window>
export type SampleSource = z.infer<typeof S.sampleSource>
export type SampleLine = z.infer<typeof S.sampleSchema>
export type ObservedProcess = z.infer<typeof S.observedProcess>
export type ObservationRecord = z.infer<typeof S.observationSchema>
export type ConfigurationTimes = z.infer<typeof S.configurationTimes>
export type FailureReason = z.infer<typeof S.failureReason>
export type RolloutRecord = z.infer<typeof S.rolloutSchema>
export type GrowthRecord = z.infer<typeof S.growthSchema>

export type GateFinding = z.infer<typeof S.gateFinding>
export type ProcessRecord = z.infer<typeof S.processRecord>
export type EndedProcess = z.infer<typeof S.endedProcess>
export type Distribution = z.infer<typeof S.distribution>
export type LoadPoint = z.infer<typeof S.loadPoint>
export type LoadResult = z.infer<typeof S.loadResult>
export type Change = z.infer<typeof S.change>
export type TrialRecord = z.infer<typeof S.trialSchema>

export type Quantity = z.infer<typeof S.quantity>
export type SummaryArm = z.infer<typeof S.summaryArm>
export type Verdict = z.infer<typeof S.verdict>
export type Comparison = z.infer<typeof S.comparison>
export type Precision = z.infer<typeof S.summaryPrecision>
export type ThresholdResult = z.infer<typeof S.thresholdResult>
export type SearchStep = z.infer<typeof S.searchStep>
export type SearchResult = z.infer<typeof S.searchResult>
export type SizeResult = z.infer<typeof S.sizeResult>
/** CPU of an arm's sidecars over the rate: millicores = base + slope × requests/s, fitted over RATES_LEAST rates or more (fits.js). */
export type CpuLine = z.infer<typeof S.cpuLine>
/** A quantity's growth over the time of the run: the median of the slopes of all pairs of rounds. */
export type Slope = z.infer<typeof S.slope>
export type GrowthFit = z.infer<typeof S.growthFit>
export type ControlNeed = z.infer<typeof S.controlNeed>
/** The result of the trials of one kind: its arms, their comparisons, and the fields of this kind alone. */
export type Result = z.infer<typeof S.result>
export type ResultOf<Kind extends Result['kind']> = Extract<Result, { kind: Kind }>
export type Summary = z.infer<typeof S.summarySchema>

export type BalanceForm = z.infer<typeof S.balanceForm>
export type BalanceManifest = z.infer<typeof S.balanceManifestSchema>
export type BalanceTrial = z.infer<typeof S.balanceTrialSchema>
export type BalanceSummary = z.infer<typeof S.balanceSummarySchema>
export type BalanceRow = BalanceSummary['rows'][0]
