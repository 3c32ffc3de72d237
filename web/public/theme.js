/* Before the first paint, so that the page does not flash in the other colours. */
const chosen = localStorage.getItem('parley.theme')
const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
document.documentElement.classList.toggle('dark', isDark)
