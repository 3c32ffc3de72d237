import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/* What the page says stands in the tables: a text in the code of the page would be English for everybody. */

const root = fileURLToPath(new URL('..', import.meta.url))

/** Attributes that a person reads or hears. */
const said = new Set(['aria-label', 'title', 'placeholder', 'alt', 'label', 'text', 'hint', 'about', 'none', 'warning'])
/** Names that are the same in every language. */
const names = new Set(['Parley', 'PLAN.md', 'Ctrl K', 'Esc'])
const address = /^(https?:\/\/)?[\w-]+(\.[\w-]+)*(\/[\w-]*)?$/

const isText = (text: string): boolean =>
  /\p{L}{2}/u.test(text) && !names.has(text.trim()) && !(/[./]/.test(text) && address.test(text))

/** The texts that are drawn as they stand, also in either branch of a condition. */
function texts(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) return [node.text]
  if (ts.isConditionalExpression(node)) return [...texts(node.whenTrue), ...texts(node.whenFalse)]
  if (ts.isBinaryExpression(node)) return texts(node.right)
  if (ts.isParenthesizedExpression(node) || ts.isJsxExpression(node))
    return node.expression === undefined ? [] : texts(node.expression)
  return ts.isTemplateExpression(node)
    ? [node.head, ...node.templateSpans.map(({ literal }) => literal)].map((part) => part.text)
    : []
}

function found(file: string, code: string): string[] {
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX)
  const all: string[] = []
  const walk = (node: ts.Node): void => {
    if (ts.isJsxText(node) && isText(node.text)) all.push(node.text.trim())
    else if (ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent)) all.push(...texts(node).filter(isText))
    else if (ts.isJsxAttribute(node) && said.has(node.name.getText()) && node.initializer !== undefined)
      all.push(...texts(node.initializer).filter(isText))
    ts.forEachChild(node, walk)
  }
  walk(source)
  return all.map((text) => `${file}: ${text}`)
}

test('a text in the code of the page is found wherever it is said', () => {
  const code = `const a = <p title="Read me">Hello {b ? 'there' : t('x')} <b aria-label={\`Changes of \${c}\`} className="x yy" /></p>`
  assert.deepEqual(
    found('a.tsx', code).toSorted(),
    ['a.tsx: Changes of ', 'a.tsx: Hello', 'a.tsx: Read me', 'a.tsx: there'].toSorted(),
  )
})

test('everything the page says comes from the tables of its languages', () => {
  const files = globSync('**/*.tsx', { cwd: root })
  assert.ok(files.length > 50)
  assert.deepEqual(
    files.flatMap((file) => found(file, readFileSync(`${root}${file}`, 'utf8'))),
    [],
  )
})
