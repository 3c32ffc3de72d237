import type { AnyEndpoint } from '@parley/contract/endpoint'
import { problems } from '@parley/contract/problems'
import { document, type Noun, nouns } from './document.ts'
import { type Components, type Field, fieldsOf, type Parameter, parameterField, typeText } from './fields.ts'

/** The contract as a page to read: whole in one piece, so that it can be searched, printed and read offline. */

interface Operation {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: unknown }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: unknown }> }>
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const text = (value: string): string => value.replace(/[&<>"']/g, (sign) => escapes[sign] ?? sign)
/** Text in which `code` is marked as in Markdown. */
const prose = (value: string): string => text(value).replace(/`([^`]+)`/g, '<code>$1</code>')
const titleOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
const anchorOf = ({ method, path }: AnyEndpoint): string =>
  `${method}-${path}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')

/** HTML of the whole page. Loads nothing but our own style sheet and script. */
export function docsPage(): string {
  const made = document()
  const paths = made['paths'] as Record<string, Record<string, Operation>>
  const components = (made['components'] as { schemas: Components }).schemas
  const operationOf = ({ path, method }: AnyEndpoint): Operation => {
    const operation = paths[path]?.[method.toLowerCase()]
    if (operation === undefined) throw new Error(`the document lacks ${method} ${path}`)
    return operation
  }
  const all = nouns()
  const types = typesOf(components)
  const sections = all.map((noun) => section(noun, (endpoint) => article(endpoint, operationOf(endpoint), types)))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Parley API</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/docs.css">
<script src="/docs/docs.js" defer></script>
</head>
<body>
<nav aria-label="Calls">
<a class="home" href="/">Parley</a>
<label>Find a call <input id="find" type="search" placeholder="secrets, POST, events …"></label>
${all.map(contents).join('\n')}<p><a href="#types">Types</a> · <a href="#problems">Problems</a></p>
</nav>
<main>
<h1>Parley API</h1>
${introduction}
${sections.join('\n')}
${types.section()}
<h2 id="problems">Problems</h2>
<table><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead><tbody>
${Object.entries(problems)
  .map(
    ([code, [status, title]]) =>
      `<tr id="problem-${code}"><td><code>${code}</code></td><td>${status}</td><td>${text(title)}</td></tr>`,
  )
  .join('\n')}
</tbody></table>
</main>
</body>
</html>
`
}

const introduction = `<p>Every call of this server. The same as a file for programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<p>Send your API key with each call:</p>
<pre><code>curl -H "Authorization: Bearer $PARLEY_API_KEY" https://parley.example/api/v1/users/me</code></pre>
<p><code>X-Access-Token</code> works in its place. A call that fails answers <code>application/problem+json</code> with a <code>detail</code> for people and a
<code>code</code> for programs (<a href="#problems">all of them</a>). With an <code>Idempotency-Key</code> each POST and DELETE can safely be sent again for 24 hours.
Times are UTC; ids are UUIDs; <code>next_page_id</code> of one page is the <code>page_id</code> of the next.</p>`

const contents = ({ name, endpoints }: Noun): string => `<details><summary>${titleOf(name)}</summary><ul>
${endpoints.map((one) => `<li><a href="#${anchorOf(one)}">${text(one.summary)}</a></li>`).join('\n')}
</ul></details>`

const section = ({ name, endpoints }: Noun, render: (endpoint: AnyEndpoint) => string): string =>
  `<section><h2 id="${name}">${titleOf(name)}</h2>\n${endpoints.map(render).join('\n')}</section>`

const access: Record<string, string> = {
  open: 'No key is needed.',
  user: 'Any API key.',
  sandbox: 'The session key of a sandbox, or an API key of its owner.',
}

type Types = ReturnType<typeof typesOf>

/** The named shapes: each has its place on the page, and whoever names one leads there. */
function typesOf(components: Components) {
  const link = (type: string): string =>
    text(type).replace(/\b[A-Z]\w*\b/g, (name) =>
      Object.hasOwn(components, name) ? `<a href="#type-${name}">${name}</a>` : name,
    )
  const one = (name: string): string => {
    const found = fieldsOf(components[name], components)
    const form = found.length === 0 ? `<p>${link(typeText(components[name]))}</p>` : table(found, link)
    return `<details><summary><code>${name}</code></summary><div id="type-${name}">${form}</div></details>`
  }
  const names = Object.keys(components).toSorted()
  return {
    components,
    link,
    section: () => `<h2 id="types">types</h2>\n${names.map(one).join('\n')}`,
  }
}

function article(endpoint: AnyEndpoint, operation: Operation, { components, link }: Types): string {
  const fields = (title: string, found: readonly Field[]): string =>
    found.length === 0
      ? ''
      : `<details${title === 'Body' ? ' open' : ''}><summary>${title}</summary>${table(found, link)}</details>`
  const parameters = operation.parameters ?? []
  const body = Object.values(operation.requestBody?.content ?? {})[0]
  const answer = operation.responses[endpoint.status]
  const answered = Object.values(answer?.content ?? {})[0]?.schema
  const parts = [
    fields(
      'Path',
      parameters.filter((one) => one.in === 'path').map((one) => parameterField(one, components)),
    ),
    fields(
      'Query',
      parameters.filter((one) => one.in === 'query').map((one) => parameterField(one, components)),
    ),
    fields('Body', fieldsOf(body?.schema, components)),
    example('Body', endpoint.example.body),
    `<h4>Answer</h4><p><code>${endpoint.status}</code> ${answered === undefined ? endpoint.answer : link(typeText(answered))}</p>`,
    fields('Fields of the answer', fieldsOf(answered, components)),
    example('Answer', endpoint.example.returns),
    endpoint.fails.length === 0 ? '' : `<h4>Problems</h4><p>${endpoint.fails.map(problemLink).join(', ')}</p>`,
  ]
  return `<article id="${anchorOf(endpoint)}">
<h3>${text(endpoint.summary)}${endpoint.deprecated ? ' <em>deprecated</em>' : ''}</h3>
<p class="call"><b>${endpoint.method}</b> <code>${text(endpoint.path)}</code></p>
<p>${prose(endpoint.description)}</p>
<p class="access">${access[endpoint.access] ?? `An API key with the scope <code>${endpoint.access}</code>.`}</p>
${parts.filter((part) => part !== '').join('\n')}
</article>`
}

const problemLink = (code: string): string => `<a href="#problem-${code}"><code>${code}</code></a>`

function table(found: readonly Field[], link: (type: string) => string): string {
  const rows = found.map(
    ({ name, type, required, note }) =>
      `<tr><td><code>${text(name)}</code>${required ? ' <span class="required">required</span>' : ''}</td><td>${link(type)}</td><td>${prose(note)}</td></tr>`,
  )
  return `<table>
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">What it is</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table>`
}

const example = (title: string, value: unknown): string =>
  value === undefined
    ? ''
    : `<details><summary>${title}, an example</summary><pre><code>${text(JSON.stringify(value, null, 2))}</code></pre></details>`
