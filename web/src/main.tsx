import './jitless.ts'
import './styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { queries, whenSignedOut } from './api.ts'
import { router } from './routes.tsx'

whenSignedOut(() => {
  const { pathname, href } = router.state.location
  queries.removeQueries({ queryKey: ['me'] })
  if (pathname !== '/sign-in') void router.navigate({ to: '/sign-in', search: { next: href } })
})

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no place for the application')
createRoot(root).render(
  <QueryClientProvider client={queries}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
)
