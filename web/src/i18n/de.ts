import { chat } from './de/chat.ts'
import { connections } from './de/connections.ts'
import { home } from './de/home.ts'
import { owner } from './de/owner.ts'
import { settings } from './de/settings.ts'
import { shell } from './de/shell.ts'
import { ui } from './de/ui.ts'
import { users } from './de/users.ts'
import type { Translation } from './message.ts'

export const de: Translation = { ...chat, ...connections, ...home, ...owner, ...settings, ...shell, ...ui, ...users }
