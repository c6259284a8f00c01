// The procedures that a target can call. Their types are merged into the model's `Prober` here, so that the model imports
// nothing of this folder.
import type { createProber } from '../node/prober.js'
import type { createParityProber } from '../parity/beside/prober.js'

declare module '../model/types/target.ts' {
  interface Prober extends ReturnType<typeof createProber>, ReturnType<typeof createParityProber> {}
}
