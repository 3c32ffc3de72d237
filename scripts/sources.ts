import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/*
 * What the walls need to know of each source file, read from its syntax tree: what it imports and exports, which words it
 * says in code (comments and texts are free), where it branches, and how long its functions are.
 */

export interface Import {
  /** As written: `./service.ts`, `@parley/store/page`, `node:fs`. */
  specifier: string
  line: number
}

export interface Source {
  /** From the root of the repository, with `/`. */
  path: string
  lines: number
  imports: Import[]
  /** Lines that export by default, re-export everything (`export *`), read `process.env`, branch, or say SQL. */
  defaultExports: number[]
  starExports: number[]
  environmentReads: number[]
  branches: number[]
  sql: number[]
  /** Every statement hands on what another file exports. */
  onlyHandsOn: boolean
  /** Each word of each identifier, lower case (`ownerId` says `owner` and `id`), with its first line. */
  words: Map<string, number>
  functions: { name: string; line: number; ownLines: number }[]
}

const skipped = ['node_modules/**', '**/node_modules/**', '**/dist/**', 'build/**', 'data/**', 'tmp/**']

/** Every TypeScript source of the repository, in order of path. */
export function readSources(root: string): Source[] {
  return globSync('**/*.{ts,tsx}', { cwd: root, exclude: skipped })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.endsWith('.d.ts'))
    .sort()
    .map((path) => readSource(path, readFileSync(join(root, path), 'utf8')))
}

const languageVersion = ts.ScriptTarget.Latest

export function readSource(path: string, text: string): Source {
  const file = ts.createSourceFile(
    path,
    text,
    { languageVersion, jsDocParsingMode: ts.JSDocParsingMode.ParseNone },
    false,
  )
  const lineOf = (node: ts.Node) => file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1
  const source: Source = {
    path,
    lines: text.trimEnd().split('\n').length,
    imports: [],
    defaultExports: [],
    starExports: [],
    environmentReads: [],
    branches: [],
    sql: [],
    onlyHandsOn: file.statements.length > 0 && file.statements.every(handsOn),
    words: new Map(),
    functions: [],
  }
  const visit = (node: ts.Node): void => {
    note(node, source, lineOf)
    ts.forEachChild(node, visit)
  }
  visit(file)
  measureFunctions(file, source, lineOf)
  return source
}

type LineOf = (node: ts.Node) => number

const handsOn = (statement: ts.Statement): boolean =>
  ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined

const queryVerbs = new Set(['selectFrom', 'insertInto', 'updateTable', 'deleteFrom', 'mergeInto'])

function note(node: ts.Node, source: Source, lineOf: LineOf): void {
  const specifier = importedBy(node)
  if (specifier !== undefined) source.imports.push({ specifier, line: lineOf(node) })
  if (ts.isExportDeclaration(node) && node.exportClause === undefined) source.starExports.push(lineOf(node))
  if (isDefaultExport(node)) source.defaultExports.push(lineOf(node))
  if (ts.isIfStatement(node) || ts.isSwitchStatement(node) || ts.isConditionalExpression(node))
    source.branches.push(lineOf(node))
  if (ts.isTaggedTemplateExpression(node) && ts.isIdentifier(node.tag) && node.tag.text === 'sql')
    source.sql.push(lineOf(node))
  if (ts.isPropertyAccessExpression(node)) {
    if (queryVerbs.has(node.name.text)) source.sql.push(lineOf(node))
    if (node.name.text === 'env' && ts.isIdentifier(node.expression) && node.expression.text === 'process')
      source.environmentReads.push(lineOf(node))
  }
  if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node))
    for (const word of wordsOf(node.text)) if (!source.words.has(word)) source.words.set(word, lineOf(node))
}

/** The specifier of `import … from`, `export … from`, `import(…)` and `typeof import(…)`. */
function importedBy(node: ts.Node): string | undefined {
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined)
    return ts.isStringLiteral(node.moduleSpecifier) ? node.moduleSpecifier.text : undefined
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal))
    return node.argument.literal.text
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments
    if (argument !== undefined && ts.isStringLiteral(argument)) return argument.text
  }
  return undefined
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true
  if (ts.isExportSpecifier(node)) return node.name.text === 'default'
  return (
    ts.canHaveModifiers(node) &&
    (ts.getModifiers(node)?.some((modifier) => modifier.kind === ts.SyntaxKind.DefaultKeyword) ?? false)
  )
}

const wordsOf = (identifier: string): string[] =>
  identifier
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')

/** Own lines: from the first to the last, without those of functions inside it, so that a service of many verbs is not long. */
function measureFunctions(file: ts.SourceFile, source: Source, lineOf: LineOf): void {
  const measure = (node: ts.Node): number => {
    let inner = 0
    ts.forEachChild(node, (child) => {
      inner += measure(child)
    })
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return inner
    const line = lineOf(node)
    const all = file.getLineAndCharacterOfPosition(node.end).line + 2 - line
    source.functions.push({ name: nameOf(node), line, ownLines: all - inner })
    return all
  }
  measure(file)
}

const nameOf = (node: ts.SignatureDeclaration): string =>
  node.name !== undefined && ts.isIdentifier(node.name) ? node.name.text : 'a function'
