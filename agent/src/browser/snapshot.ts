/* A page as text: what a screen reader would say, with a number for each thing that can be used. */

/** A node of the browser's accessibility tree, as far as we read it. */
export interface AxNode {
  nodeId: string
  ignored?: boolean
  role?: { value?: unknown }
  name?: { value?: unknown }
  value?: { value?: unknown }
  properties?: { name: string; value?: { value?: unknown } }[]
  childIds?: string[]
  parentId?: string
  backendDOMNodeId?: number
}

export interface Snapshot {
  text: string
  /** Nodes of the document by their numbers. */
  marks: Map<number, number>
}

const usable: ReadonlySet<string> = new Set([
  'button',
  'checkbox',
  'combobox',
  'ColorWell',
  'Date',
  'DateTime',
  'InputTime',
  'link',
  'listbox',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'MenuListPopup',
  'option',
  'PopUpButton',
  'radio',
  'searchbox',
  'slider',
  'spinbutton',
  'switch',
  'tab',
  'textbox',
  'treeitem',
])
/** Roles that say nothing which their children do not say. */
const silent: ReadonlySet<string> = new Set([
  'RootWebArea',
  'WebArea',
  'none',
  'generic',
  'paragraph',
  'LayoutTable',
  'LayoutTableRow',
  'LayoutTableCell',
  'rowgroup',
  'MenuListPopup',
  'LineBreak',
])
const unseen: ReadonlySet<string> = new Set(['InlineTextBox', 'LineBreak'])

const longestName = 300
const longestAddress = 120

/** `limit` characters at most; what is left out is said. `from`: the first number, so that frames do not share any. */
export function snapshotOf(nodes: readonly AxNode[], limit: number, from = 1): Snapshot {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const lines: string[] = []
  const marks = new Map<number, number>()
  let next = from
  let size = 0
  let left = 0
  const add = (depth: number, text: string) => {
    const line = `${'  '.repeat(Math.min(depth, 20))}${text}`
    size += line.length + 1
    if (size > limit) left += 1
    else lines.push(line)
  }

  function walk(node: AxNode, depth: number, told: string): void {
    const role = word(node.role)
    if (unseen.has(role)) return
    const name = word(node.name).replaceAll(/\s+/g, ' ').trim()
    const shown = node.ignored !== true && !silent.has(role)
    const text = role === 'StaticText'
    if (text && shown && name !== '' && !told.includes(name)) add(depth, name.slice(0, 2_000))
    const says = shown && !text && (usable.has(role) || name !== '' || structural.has(role))
    if (says) add(depth, line(node, role, name))
    // What a name is made of is not said twice.
    const known = says ? `${told} ${name}` : told
    for (const id of text ? [] : (node.childIds ?? [])) {
      const child = byId.get(id)
      if (child !== undefined) walk(child, says ? depth + 1 : depth, known)
    }
  }

  function line(node: AxNode, role: string, name: string): string {
    const value = word(node.value)
    const states = (node.properties ?? []).flatMap(state)
    const mark = usable.has(role) && node.backendDOMNodeId !== undefined ? `[${numbered(node.backendDOMNodeId)}] ` : ''
    const parts = [role, name === '' ? '' : JSON.stringify(name.slice(0, longestName)), ...states]
    const told = value === '' || value === name ? '' : ` = ${JSON.stringify(value.slice(0, longestName))}`
    return `${mark}${parts.filter((part) => part !== '').join(' ')}${told}`
  }

  function numbered(node: number): number {
    if (size <= limit) marks.set(next, node)
    next += 1
    return next - 1
  }

  const root = nodes.find(({ parentId }) => parentId === undefined) ?? nodes[0]
  if (root !== undefined) walk(root, 0, '')
  if (left > 0) lines.push(`[${left} more lines of the page left out; use script to look at a part of it]`)
  return { text: lines.join('\n'), marks }
}

/** Worth a line without a name. */
const structural: ReadonlySet<string> = new Set([
  'table',
  'row',
  'list',
  'listitem',
  'form',
  'dialog',
  'alert',
  'Iframe',
])

const word = (of: { value?: unknown } | undefined): string =>
  typeof of?.value === 'string' || typeof of?.value === 'number' ? String(of.value) : ''

function state({ name, value }: { name: string; value?: { value?: unknown } }): string[] {
  const said = value?.value
  if (name === 'url' && typeof said === 'string') return said.length <= longestAddress ? [said] : []
  if (name === 'checked' || name === 'expanded' || name === 'selected')
    return said === true || said === 'true' ? [`(${name})`] : said === 'mixed' ? ['(mixed)'] : []
  if (name === 'disabled' || name === 'focused' || name === 'invalid')
    return said === true || said === 'true' ? [`(${name})`] : []
  return []
}
