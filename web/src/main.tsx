import './styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import { queries, whenSignedOut } from './api.ts'
import { showLanguage } from './i18n/language.ts'
import { currentLanguage, onLanguage } from './i18n/translate.ts'
import { router } from './routes.tsx'
import './theme.ts' // the page follows the system while it is open

whenSignedOut(() => {
  const { pathname, href } = router.state.location
  queries.removeQueries({ queryKey: ['me'] })
  if (pathname !== '/sign-in') void router.navigate({ to: '/sign-in', search: { next: href } })
})

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no place for the application')
await showLanguage()
createRoot(root).render(
  <QueryClientProvider client={queries}>
    <Page />
  </QueryClientProvider>,
)

/** Drawn anew as a whole when the language changes; what was loaded and what was written stays. */
function Page() {
  const language = useSyncExternalStore(onLanguage, currentLanguage)
  return <RouterProvider key={language} router={router} />
}
