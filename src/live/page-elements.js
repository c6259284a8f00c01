/** The page's elements. They take text, never markup, since names and error messages may contain any. Runs in browsers. */

/**
 * Finds an element by its id.
 * @param {string} id
 * @returns {HTMLElement}
 * @throws {Error} if page.html lacks it
 */
export function findElement(id) {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`looking for #${id}: page.html has no such element`)
  return element
}

/**
 * Creates an element.
 * @param {string} tag
 * @param {{ text?: string, attributes?: Record<string, string>, children?: Element[] }} [options] children: follow the text
 * @returns {HTMLElement} not yet in the page
 */
export function createElement(tag, { text, attributes = {}, children = [] } = {}) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  if (text !== undefined) element.textContent = text
  element.append(...children)
  return element
}

/**
 * Sets the text of an element. An equal text is not set again, since a screen reader would read it again.
 * @param {Element} element
 * @param {string | null} text null: empty
 */
export function setText(element, text) {
  if (element.textContent !== (text ?? '')) element.textContent = text ?? ''
}
