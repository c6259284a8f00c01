import { describe, expect, it } from 'vitest'
import { findLoad } from '../../src/loads/registry.js'
import { toolOf } from '../../src/model/tools.js'
import { findPrograms, planes } from '../../src/prepare/programs.js'
import { fakeTool } from '../fakes/fake-bench.js'

/** @import { PlaneChoice, ToolSpec } from '../../src/model/types.ts' */

/** @param {string | null} variant @returns {PlaneChoice} */
const choose = variant => ({ plane: 'pipy', variant, profile: null })

/** @param {PlaneChoice[]} chosen */
async function find(chosen) {
  /** @type {string[]} */
  const looked = []
  const findTool = async (/** @type {ToolSpec} */ { name, path }) => {
    looked.push(path ?? name)
    return { ...fakeTool, name, path: path ?? name }
  }
  return { looked, ...(await findPrograms({ load: findLoad(), chosen, isPlaneRequired: true, arms: [], findTool })) }
}

describe('findPrograms', () => {
  it('finds the program that a variant names, beside the one of the plane', async () => {
    const { tools } = await find([choose(null), choose(process.execPath), choose('pipy-scripts')])
    const tool = /** @type {ToolSpec} */ (planes.pipy.tool)
    const variants = [null, process.execPath, 'pipy-scripts']
    const paths = variants.map(variant => toolOf(tools, { tool, variant }).path)
    expect(paths).toEqual(['pipy', process.execPath, 'pipy'])
  })

  it('looks for no other where every arm names its own', async () => {
    const { looked } = await find([choose(process.execPath)])
    expect(looked).toEqual([findLoad().tool.name, process.execPath])
  })
})
