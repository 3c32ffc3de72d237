import { chat } from './de/chat.ts'
import { settings } from './de/settings.ts'
import { shell } from './de/shell.ts'
import { ui } from './de/ui.ts'
import { users } from './de/users.ts'
import type { Translation } from './message.ts'

export const de: Translation = { ...ui, ...shell, ...users, ...settings, ...chat }
