/** @import { Arm, DataPlane, DeployedProfile } from '../model/types.ts' */

/** @typedef {Record<string, Pick<DataPlane, 'deployed' | 'profiles'>>} Planes by name */

/**
 * Finds the profile of an arm that configures sidecars as a mesh deploys them. An arm without a profile has the
 * plane's first.
 * @param {Planes} planes
 * @param {Pick<Arm, 'plane' | 'profile'>} arm
 * @returns {DeployedProfile | undefined} undefined: the profile is the kit's own, or the plane has none
 */
export function findDeployedProfile(planes, { plane, profile }) {
  const { deployed, profiles } = planes[plane]
  return deployed?.[profile ?? profiles[0]]
}

/**
 * Says whether one proxy serves all pods of an arm.
 * @param {Planes} planes
 * @param {Pick<Arm, 'plane' | 'profile'>} arm
 * @returns {boolean}
 */
export function hasNodeProxy(planes, arm) {
  return findDeployedProfile(planes, arm)?.isOfNode === true
}

/**
 * Lists the profiles of arms that configure sidecars as a mesh deploys them, for the manifest.
 * @param {Planes} planes
 * @param {Pick<Arm, 'plane' | 'profile'>[]} arms
 * @returns {{ plane: string, from: DeployedProfile['from'], deviations: DeployedProfile['deviations'] }[]} each once;
 *   plane: as `renderProfileName`; []: no arm has one
 */
export function listDeployedProfiles(planes, arms) {
  const armsByName = new Map(arms.map(arm => [renderProfileName(arm), arm]))
  return [...armsByName].flatMap(([name, arm]) => {
    const deployed = findDeployedProfile(planes, arm)
    return deployed ? [{ plane: name, from: deployed.from, deviations: deployed.deviations }] : []
  })
}

/**
 * Renders the name of an arm's profile: `plane:profile`, or `plane` alone for the plane's first profile (null).
 * @param {Pick<Arm, 'plane' | 'profile'>} arm
 * @returns {string}
 */
export function renderProfileName({ plane, profile }) {
  return profile === null ? plane : `${plane}:${profile}`
}
