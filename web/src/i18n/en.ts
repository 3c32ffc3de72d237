import { chat } from './en/chat.ts'
import { connections } from './en/connections.ts'
import { home } from './en/home.ts'
import { owner } from './en/owner.ts'
import { settings } from './en/settings.ts'
import { shell } from './en/shell.ts'
import { ui } from './en/ui.ts'
import { users } from './en/users.ts'

/** English: the table that every other language has the keys of. A file for each part of the page. */
export const en = { ...chat, ...connections, ...home, ...owner, ...settings, ...shell, ...ui, ...users } as const
