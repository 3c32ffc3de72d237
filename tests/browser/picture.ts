import { begin, forgeToken, runs, says } from '../tools/house.ts'
import { quiet } from './browser.ts'
import { openParley } from './open.ts'
import { showcase, showcaseFiles, showcaseRepository, showcaseTask, showcaseTitle } from './showcase.ts'

/* Takes the picture of the README anew: `node_modules/.bin/node tests/browser/picture.ts`. */

const scripts = {
  asks: { turns: [runs('npm publish --access public'), { text: 'Done.' }] },
  slow: { turns: [runs('npm ci; sleep 300')] },
  done: { turns: [{ text: 'Done.' }] },
}
await using parley = await openParley({
  scripts,
  repositories: { [showcaseRepository]: { members: { ada: 'write' }, files: showcaseFiles } },
})
const { client } = parley.program
const start = (script: keyof typeof scripts, title: string) =>
  begin(client, says(`[[script:${script}]] ${title}`, { title }))

for (const title of ['Explain the flaky login test', 'Move the build to Node 24', 'Draft the release notes of 2.0'])
  await start('done', title)
await client.git.connect({ body: { provider_tokens: { open_forge: { token: forgeToken, host: parley.forge.url } } } })
const prices = { input_cost_per_token: 0.000_003, output_cost_per_token: 0.000_015 }
await client.settings.update({ body: { agent_settings: { llm: prices }, confirmation_mode: true } })
await start('asks', 'Publish version 2.1')
await client.settings.update({ body: { confirmation_mode: false } })
await start('slow', 'Upgrade the dependencies')

await parley.llm.setScript({ model: 'scripted-1', turns: showcase, scripts })
const request = { selected_repository: showcaseRepository, title: showcaseTitle }
const id = await begin(client, says(showcaseTask, request))
await using visitor = await parley.browser.visit(parley.program.url, {
  viewport: { width: 1360, height: 800 },
  reducedMotion: 'reduce',
  storageState: await parley.visitor.context.storageState(),
})
const { page } = visitor
await page.goto(`/conversations/${id}?tab=changes`)
await page.getByText('Finished').waitFor()
await page.reload()
await page.getByRole('treeitem', { name: /client\.js/ }).click()
await page.getByText('Shall I open a pull request?').waitFor()
await quiet(page)
await page.screenshot({ path: new URL('../../docs/images/conversation.png', import.meta.url).pathname })
