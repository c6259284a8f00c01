/** Starts many sidecars as a few batches. Pure. */
/** @import { ProcessSpec } from '../model/types.ts' @import { Member } from './control.js' */

/**
 * A sidecar; shard: the place of its control plane among them; moved: the same at the shard to which it moves; standsFor: the
 * number of simulated sidecars that have their configuration with it; goBack: the change by which it knows no more services than at its start.
 * @typedef {Omit<Member, 'spec'> & { goBack?: Member['changeTo'], shard: number, moved?: Member & { shard: number }, standsFor?: number }} RolloutMember
 */

/** Sidecars that are started together. @typedef {{ spec: ProcessSpec, members: RolloutMember[] }} Batch */

/** Sidecars that are started together, in one cgroup. */
export const BATCH_SIDECARS = 40

/**
 * Makes a batch one process to start: xargs starts each of its sidecars once, from a file with all their arguments. They
 * share the cgroup and the log of the batch.
 * @param {{ name: string, folder: string, specs: ProcessSpec[] }} batch folder: above those of the sidecars
 * @returns {ProcessSpec} @throws where their command lines are not of one program and one length, which xargs needs
 */
export function createBatch({ name, folder, specs }) {
  const [{ program, argv, ...first }] = specs
  if (specs.some(spec => spec.program !== program || spec.argv.length !== argv.length))
    throw new Error(`the sidecars of ${name} are not started alike: ${program} with ${argv.length} arguments`)
  const list = `${name}.args`
  return {
    ...first,
    service: name,
    batchOf: specs.length,
    program: 'xargs',
    argv: ['-0', '-a', `${folder}/${list}`, '-n', `${argv.length}`, '-P', `${specs.length}`, program],
    folder,
    files: [
      { name: list, content: specs.map(spec => spec.argv.map(arg => `${arg}\0`).join('')).join('') },
      ...specs.flatMap(spec =>
        spec.files.map(file => ({ ...file, name: `${spec.folder.slice(folder.length + 1)}/${file.name}` })),
      ),
    ],
    credentials: [...new Set(specs.flatMap(spec => spec.credentials))],
    listens: specs.flatMap(spec => spec.listens),
    admin: null,
  }
}
