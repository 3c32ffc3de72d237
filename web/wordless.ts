import type { Plugin } from 'vite'

/*
 * What the contract says in words is for the readers of its documentation. A browser that loads the page does without: the
 * words of `described` and the texts of `description` and `summary` are left out of its scripts.
 */

interface Node {
  type: string
  start: number
  end: number
}
interface Call extends Node {
  callee: { name?: string }
  arguments: Node[]
}
interface Property extends Node {
  key: { name?: string }
  value: Node
}

const isCall = (node: Node): node is Call => node.type === 'CallExpression'
const isProperty = (node: Node): node is Property => node.type === 'Property'
const isText = ({ type }: Node): boolean =>
  type === 'Literal' || type === 'TemplateLiteral' || type === 'BinaryExpression'
const texts: readonly (string | undefined)[] = ['description', 'summary']

/** What stands in the place of words, and where they are. */
function wordsIn(node: Node): { from: Node; to: string } | undefined {
  const [, says] = isCall(node) && node.callee.name === 'described' ? node.arguments : []
  if (says !== undefined) return { from: says, to: '{}' }
  if (isProperty(node) && texts.includes(node.key.name) && isText(node.value)) return { from: node.value, to: "''" }
  return undefined
}

function found(tree: unknown): { from: Node; to: string }[] {
  if (typeof tree !== 'object' || tree === null) return []
  const own = wordsIn(tree as Node)
  const inner = Object.values(tree).flatMap(found)
  if (own === undefined) return inner
  const { start, end } = own.from
  return [own, ...inner.filter(({ from }) => from.end <= start || from.start >= end)]
}

export const wordless = (): Plugin => ({
  name: 'wordless',
  apply: 'build',
  enforce: 'post',
  transform: {
    filter: { id: /\/contract\/src\/[\w-]+\.ts$/ },
    handler(code) {
      const cuts = found(this.parse(code)).toSorted((a, b) => b.from.start - a.from.start)
      return cuts.reduce((text, { from, to }) => text.slice(0, from.start) + to + text.slice(from.end), code)
    },
  },
})
