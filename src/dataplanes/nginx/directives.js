/** A line of nginx's configuration without its semicolon, or a block. @typedef {string | Block} Directive */
/** The head of a block, and then its directives. @typedef {Directive[]} Block */

/** The working directory, to which nginx writes: the folder of its configuration may be read-only. */
export const HERE = '/proc/self/cwd'

/**
 * Renders directives, a line each; blocks are indented.
 * @param {Directive[]} directives
 * @param {string} [indent] before each line
 * @returns {string}
 */
export function renderDirectives(directives, indent = '') {
  return directives
    .map(directive => {
      if (typeof directive === 'string') return `${indent}${directive};\n`
      const [head, ...lines] = directive
      return `${indent}${head} {\n${renderDirectives(lines, `${indent}  `)}${indent}}\n`
    })
    .join('')
}
