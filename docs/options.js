import { Help } from 'commander'
import { z } from 'zod'
import { AXES, AXIS_NAMES } from '../src/model/arms.js'
import { createProgram } from '../src/verbs/program.js'

/** The tables of axes and of options, from what the command line reads. */
/** @import { Command, Option } from 'commander' @import { AxisName } from '../src/model/types.ts' */

const VERBS_WITH_AXES = ['bench', 'plan']
const program = await createProgram(/** @type {any} */ ({}))
const axisFlags = AXIS_NAMES.flatMap(name => AXES[name].option?.flags ?? [])

/** @returns {string[][]} a header, and a row for each axis */
export function tabulateAxes() {
  const rows = AXIS_NAMES.map(name => {
    const { option, kinds } = AXES[name]
    const flags = option ? `\`${option.flags}\`` : 'in a file only'
    return [`\`${name}\``, flags, option ? escapeTags(option.help) : renderValues(name), kinds.join(', ')]
  })
  return [['axis', 'option', 'means', 'kinds of trial'], ...rows]
}

/** @returns {[string, string[][]][]} for each verb with options of its own: the name of its table, a header and rows */
export function tabulateOptions() {
  return program.commands.flatMap(verb => {
    const rows = listOptions(verb).map(option => [`\`${option.flags}\``, renderOption(option)])
    if (rows.length === 0) return []
    return [/** @type {[string, string[][]]} */ ([`Options of ${verb.name()}`, [['option', 'means'], ...rows]])]
  })
}

/** The label of an axis without an option, and its values if they are words. @param {AxisName} name */
function renderValues(name) {
  const { label, schema } = AXES[name]
  const { enum: words } = z.toJSONSchema(schema)
  return words ? `${label}: ${words.join(', ')}` : label
}

/** The description of an option, with its default unless that is empty. @param {Option} option */
function renderOption(option) {
  return escapeTags(Help.prototype.optionDescription(option).replace(/ \(default: (\[\]|\{\})\)$/, ''))
}

/** Keeps Markdown from reading a placeholder as HTML. @param {string} text */
function escapeTags(text) {
  return text.replaceAll('<', '&lt;')
}

/** Lists the options that are no axes; plan has those of bench, too, which are left out. @param {Command} verb */
function listOptions(verb) {
  const bench = program.commands[0].options.map(({ flags }) => flags)
  return verb.options.filter(
    ({ flags, hidden }) =>
      !hidden &&
      !(VERBS_WITH_AXES.includes(verb.name()) && axisFlags.includes(flags)) &&
      !(verb.name() === 'plan' && bench.includes(flags)),
  )
}
