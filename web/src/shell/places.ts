/** Where one can go from everywhere. */
export const places = [
  { to: '/', label: 'shell.new-conversation', short: 'shell.new', icon: 'plus' },
  { to: '/conversations', label: 'shell.conversations', short: 'shell.conversations', icon: 'chat' },
  { to: '/sandboxes', label: 'shell.sandboxes', short: 'shell.sandboxes', icon: 'box' },
  { to: '/settings', label: 'shell.settings', short: 'shell.settings', icon: 'sliders' },
] as const
