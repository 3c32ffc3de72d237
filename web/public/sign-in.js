/* The page behind the owner's one-time link: claims the server or signs in, then makes an API key. */
const byId = (id) => document.getElementById(id)
const views = ['claim', 'sign-in', 'key']
const api = '/api/v1'

const token = new URLSearchParams(location.search).get('token')
// The token must not stay in the address bar or the history.
if (token) history.replaceState(null, '', location.pathname)

function show(view) {
  for (const id of views) byId(id).hidden = id !== view
  byId(view).querySelector('input')?.focus()
}

function say(text, wrong = false) {
  byId('said').textContent = text
  byId('said').className = wrong ? 'wrong' : ''
}

/** The answer of a call; throws an `Error` with the problem's words. */
async function call(method, path, body) {
  const response = await fetch(`${api}${path}`, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  })
  const answer = await response.json()
  if (response.ok) return answer
  const reasons = (answer.errors ?? []).map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`)
  throw Object.assign(new Error([answer.detail, ...reasons].join(' ')), { code: answer.code })
}

/** Does the work of a form; its buttons rest meanwhile, and what goes wrong is said. */
function onSubmit(id, work) {
  byId(id).addEventListener('submit', async (event) => {
    event.preventDefault()
    const buttons = event.target.querySelectorAll('button')
    for (const button of buttons) button.disabled = true
    say('')
    try {
      await work(Object.fromEntries(new FormData(event.target)))
    } catch (error) {
      say(error.name === 'TimeoutError' ? 'The server does not answer.' : error.message, true)
      if (error.code === 'gone') show('sign-in')
    } finally {
      for (const button of buttons) button.disabled = false
    }
  })
}

function signedIn({ email, name }) {
  byId('who').textContent = name ?? email ?? 'the owner'
  show('key')
}

onSubmit('claim', async ({ email, password }) => {
  signedIn((await call('POST', '/users/claim', { token, email, password })).user)
})

onSubmit('sign-in', async ({ email, password }) => {
  signedIn((await call('POST', '/users/sign-in', { email, password })).user)
})

onSubmit('key', async ({ name }) => {
  const { key } = await call('POST', '/keys', { name: name.trim() || null })
  byId('key-text').textContent = key
  byId('curl-text').textContent = [
    `curl -X POST ${location.origin}${api}/app-conversations \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"initial_message": {"content": [{"type": "text", "text": "Say hello."}]}}'`,
  ].join('\n')
  byId('made').hidden = false
  byId('key-text').focus()
})

byId('sign-out').addEventListener('click', async () => {
  await call('POST', '/users/sign-out').catch(() => {})
  byId('made').hidden = true
  byId('key-text').textContent = ''
  byId('curl-text').textContent = ''
  show('sign-in')
})

for (const button of document.querySelectorAll('[data-copies]'))
  button.addEventListener('click', async () => {
    const source = byId(button.dataset.copies)
    try {
      await navigator.clipboard.writeText(source.textContent)
      button.textContent = 'Copied'
      setTimeout(() => (button.textContent = 'Copy'), 2_000)
    } catch {
      // Pages without https may not write to the clipboard; the person can, with one key.
      getSelection().selectAllChildren(source)
      say('Press Ctrl+C (or ⌘C) to copy the selected text.')
    }
  })

if (token) show('claim')
else
  call('GET', '/users/me').then(signedIn, () => {
    show('sign-in')
  })
