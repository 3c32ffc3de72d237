import { type ForgeServer, openForgeServer } from '../tools/forge-server.ts'
import { forgeToken, type HouseSetup, scriptOf, useModel } from '../tools/house.ts'
import { openProgram, type Program } from '../tools/program.ts'
import { openScriptedLlm, type ScriptedLlm } from '../tools/scripted-llm.ts'
import { claim, openBrowser, type Visitor, type Visits } from './browser.ts'

/* The program as it is started, a model that plays a script, and a browser in which its owner is signed in. */

export interface Opened extends AsyncDisposable {
  program: Program
  llm: ScriptedLlm
  forge: ForgeServer
  browser: Visits
  visitor: Visitor
}

/** `fresh`: nobody has been here; the account is not taken and no model is set. */
export async function openParley(
  { scripts, side = [], repositories = {}, unfilled = {} }: HouseSetup,
  { fresh = false } = {},
): Promise<Opened> {
  await using opened = new AsyncDisposableStack()
  const llm = opened.use(await openScriptedLlm(scriptOf(scripts, side)))
  const forge = opened.use(await openForgeServer({ token: forgeToken, repositories, unfilled, address: '127.0.0.3' }))
  const hosts = [llm.url, forge.url].map((url) => new URL(url).host)
  const program = opened.use(await openProgram({ env: { PARLEY_PRIVATE_HOSTS: hosts.join(',') } }))
  await program.start()
  const browser = opened.use(await openBrowser())
  const visitor = opened.use(await browser.visit(program.url))
  if (!fresh) {
    await claim(visitor.page, program.said())
    await useModel(program.client, llm.url)
  }
  const all = opened.move()
  return { program, llm, forge, browser, visitor, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** Starts a conversation on the home page and waits until it is open. */
export async function ask({ page }: Visitor, text: string): Promise<void> {
  await page.goto('/')
  await page.getByLabel('Task for the agent').fill(text)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/conversations\/[0-9a-f-]{36}$/)
}
