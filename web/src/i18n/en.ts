import { chat } from './en/chat.ts'
import { settings } from './en/settings.ts'
import { shell } from './en/shell.ts'
import { ui } from './en/ui.ts'
import { users } from './en/users.ts'

/** English: the table that every other language has the keys of. A file for each part of the page. */
export const en = { ...ui, ...shell, ...users, ...settings, ...chat } as const
