/** Profiles of planes that are as a mesh deploys them. Pure. */
/** @import { Arm, DataPlane, DeployedProfile } from '../model/types.ts' */

/** @typedef {Record<string, Pick<DataPlane, 'deployed'>>} Planes by name */

/** @param {Planes} planes @param {Pick<Arm, 'plane' | 'profile'>} arm @returns {DeployedProfile | undefined} */
export function findDeployed(planes, { plane, profile }) {
  return profile === null ? undefined : planes[plane].deployed?.[profile]
}

/** Lists those of arms once, for the manifest. @param {Planes} planes @param {Pick<Arm, 'plane' | 'profile'>[]} arms */
export function listDeployed(planes, arms) {
  const names = [...new Set(arms.map(nameDeployed))]
  return names.flatMap(name => {
    const arm = arms.find(own => nameDeployed(own) === name)
    const found = arm && findDeployed(planes, arm)
    return found ? [{ plane: name, from: found.from, deviations: found.deviations }] : []
  })
}

/** Says `plane:profile`. @param {Pick<Arm, 'plane' | 'profile'>} arm */
export function nameDeployed({ plane, profile }) {
  return `${plane}:${profile}`
}
