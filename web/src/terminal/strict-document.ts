/*
 * The terminal library writes its styles into the page as text, which the page's policy forbids; here they become sheets and
 * properties of the browser's own objects, which need no exception.
 */

const make: (name: string) => HTMLElement = Document.prototype.createElement.bind(document)

/** Stands where a `style` element would; what is written into it is a sheet. */
function styleStandIn(): HTMLElement {
  const element = make('data')
  const sheet = new CSSStyleSheet()
  let text = ''
  element.hidden = true
  document.adoptedStyleSheets.push(sheet)
  Object.defineProperty(element, 'textContent', {
    get: () => text,
    set: (next: string) => {
      text = next
      sheet.replaceSync(next)
    },
  })
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet)
    Element.prototype.remove.call(element)
  }
  return element
}

function create(name: string): HTMLElement {
  if (name === 'style') return styleStandIn()
  const element = make(name)
  if (name === 'span')
    element.setAttribute = (attribute, value) => {
      if (attribute === 'style') element.style.cssText = value
      else Element.prototype.setAttribute.call(element, attribute, value)
    }
  return element
}

let users = 0

/**
 * From now on elements are made so, until the result is called. The library has an option for a document of its own and does
 * not ask it everywhere, so it is the page's own one that makes them; all that it makes works as ever.
 */
export function strictly(): () => void {
  users += 1
  if (users === 1) Object.defineProperty(document, 'createElement', { value: create, configurable: true })
  return () => {
    users -= 1
    if (users === 0) Reflect.deleteProperty(document, 'createElement')
  }
}
