import { createElement, findElement, setText } from './page-elements.js'
import { sayCores, sayMemory, sayThrottled } from './words.js'

/**
 * A bar and a line of numbers for each sidecar. Runs in browsers.
 * @import { SidecarNow } from '../judge/sidecars.js'
 */

export function createSidecarList() {
  const section = findElement('sidecars-section')
  const list = findElement('sidecars')
  let names = ''
  return {
    /** @param {SidecarNow[]} sidecars */
    show(sidecars) {
      section.hidden = sidecars.length === 0
      const wanted = JSON.stringify(sidecars.map(({ service, capCores }) => [service, capCores]))
      if (wanted !== names) list.replaceChildren(...sidecars.map(createItem))
      names = wanted
      for (const [i, sidecar] of sidecars.entries()) showItem(list.children[i], sidecar)
    },
  }
}

/** @param {SidecarNow} sidecar */
function createItem({ service, capCores }) {
  const name = createElement('span', { text: service, attributes: { class: 'name' } })
  const words = createElement('span', { attributes: { class: 'words' } })
  if (capCores === null) return createElement('li', { children: [name, words] })
  const meter = createElement('meter', {
    attributes: { min: '0', max: String(capCores), 'aria-label': `CPU of ${service}, of its cap` },
  })
  return createElement('li', { children: [name, meter, words] })
}

/** @param {Element} item @param {SidecarNow} sidecar */
function showItem(item, sidecar) {
  const words = [sayCores(sidecar), sayThrottled(sidecar), sayMemory(sidecar)].filter(Boolean).join(', ')
  setText(/** @type {Element} */ (item.querySelector('.words')), words)
  item.classList.toggle('is-throttled', sidecar.isThrottled === true)
  const meter = item.querySelector('meter')
  if (meter === null) return
  meter.value = sidecar.cores ?? 0
  meter.setAttribute('aria-valuetext', sayCores(sidecar))
}
