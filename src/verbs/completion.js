import { UsageError } from '../lib/errors.js'
import { quoteWord } from '../lib/quote-word.js'

/**
 * Shell completion, made of commander's own list of verbs and options.
 * @import { Command } from 'commander'
 * @import { AddVerb } from './program.js'
 */

/** @typedef {{ name: string, does: string, options: [name: string, does: string][] }} Verb names of options are long, such as --cpu */

const PROGRAM = 'sidecar-bench'

/** Renderers of the completion script, by shell. @type {Record<string, (verbs: Verb[]) => string>} */
const SHELLS = {
  bash(verbs) {
    const cases = verbs.map(({ name, options }) => `    ${name}) words='${options.map(([word]) => word).join(' ')}' ;;`)
    return `_sidecar_bench() {
  local words='${verbs.map(({ name }) => name).join(' ')}'
  [ "$COMP_CWORD" -gt 1 ] && case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words= ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sidecar_bench ${PROGRAM}`
  },

  zsh(verbs) {
    const renderWords = (/** @type {[string, string][]} */ words) =>
      words.map(([word, does]) => quoteWord(`${word}:${does}`)).join(' ')
    const cases = verbs.map(({ name, options }) => `    ${name}) offered=(${renderWords(options)}) ;;`)
    return `#compdef ${PROGRAM}
_sidecar_bench() {
  local -a offered
  (( CURRENT == 2 )) && offered=(${renderWords(verbs.map(({ name, does }) => [name, does]))}) || case $words[2] in
${cases.join('\n')}
  esac
  [[ $CURRENT == 2 || $PREFIX == -* ]] && _describe ${PROGRAM} offered || _files
}
compdef _sidecar_bench ${PROGRAM}`
  },

  fish(verbs) {
    const lines = verbs.flatMap(({ name, does, options }) => [
      `complete -c ${PROGRAM} -n __fish_use_subcommand -f -a ${name} -d ${quoteWord(does)}`,
      ...options.map(
        ([option, help]) =>
          `complete -c ${PROGRAM} -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)} -d ${quoteWord(help)}`,
      ),
    ])
    return lines.join('\n')
  },
}

/** Adds `completion`, which prints a script for a shell to complete verbs and options. @type {AddVerb} */
export function addCompletion(verb, { print }) {
  verb.argument('<shell>', Object.keys(SHELLS).join(', ')).action((/** @type {string} */ shell) => {
    if (!Object.hasOwn(SHELLS, shell)) throw new UsageError(`"${shell}" is none of ${Object.keys(SHELLS).join(', ')}`)
    print(SHELLS[shell](/** @type {Command} */ (verb.parent).commands.map(describeVerb)))
  })
}

/**
 * Describes a verb, with the options that its help shows.
 * @param {Command} command whose options all have long names
 * @returns {Verb}
 */
function describeVerb(command) {
  const options = command.createHelp().visibleOptions(command)
  return {
    name: command.name(),
    does: command.description(),
    options: options.map(({ long, description }) => [`${long}`, description]),
  }
}
