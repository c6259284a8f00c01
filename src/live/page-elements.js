/**
 * The page's elements. What comes from the run is put into them as text, never as markup: names and error messages may
 * say anything. Runs in browsers.
 */

/** @param {string} id @returns {HTMLElement} @throws {Error} when page.html has it not */
export function findElement(id) {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`looking for #${id}: page.html has no such element`)
  return element
}

/**
 * @param {string} tag
 * @param {{ text?: string, attributes?: Record<string, string>, children?: Element[] }} [content]
 */
export function createElement(tag, { text, attributes = {}, children = [] } = {}) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  if (text !== undefined) element.textContent = text
  element.append(...children)
  return element
}

/**
 * Sets a text that is another than before: what did not change is neither laid out nor read aloud again.
 * @param {Element} element
 * @param {string | null} text
 */
export function setText(element, text) {
  if (element.textContent !== (text ?? '')) element.textContent = text ?? ''
}
