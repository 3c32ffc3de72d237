import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { isSignedOut, queries } from './api.ts'
import { Home } from './conversations/Home.tsx'
import { NotHere } from './shell/NotHere.tsx'
import { PageError } from './shell/PageError.tsx'
import { Shell } from './shell/Shell.tsx'
import { type Tab, tabs } from './tabs.ts'
import { Join } from './users/Join.tsx'
import { me } from './users/me.ts'
import { SignIn } from './users/SignIn.tsx'

/* Every address of the page. What is behind the door asks first who is there. */

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const root = createRootRoute({ component: Outlet, notFoundComponent: NotHere })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search): { token?: string; next?: string } => {
    const [token, next] = [text(search['token']), text(search['next'])]
    return { ...(token === undefined ? {} : { token }), ...(next === undefined ? {} : { next }) }
  },
  component: SignIn,
})

const join = createRoute({ getParentRoute: () => root, path: '/join', component: Join })

const shared = createRoute({
  getParentRoute: () => root,
  path: '/shared/$id',
  component: lazyRouteComponent(() => import('./conversations/Shared.tsx'), 'Shared'),
})

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Shell,
  errorComponent: PageError,
  beforeLoad: async ({ location }) => {
    try {
      await queries.ensureQueryData(me)
    } catch (error) {
      if (isSignedOut(error)) throw redirect({ to: '/sign-in', search: { next: location.href } })
      throw error
    }
  },
})

const home = createRoute({ getParentRoute: () => inside, path: '/', component: Home })
const welcome = createRoute({
  getParentRoute: () => inside,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./settings/Welcome.tsx'), 'Welcome'),
})
const startTask = createRoute({
  getParentRoute: () => inside,
  path: '/start/$taskId',
  component: lazyRouteComponent(() => import('./conversations/Start.tsx'), 'Start'),
})
const conversations = createRoute({
  getParentRoute: () => inside,
  path: '/conversations',
  component: lazyRouteComponent(() => import('./conversations/List.tsx'), 'List'),
})

const conversation = createRoute({
  getParentRoute: () => inside,
  path: '/conversations/$id',
  validateSearch: (search): { tab?: Tab; seq?: number } => {
    const tab = tabs.find((one) => one === search['tab'])
    const seq = Number(search['seq'])
    return { ...(tab === undefined ? {} : { tab }), ...(Number.isInteger(seq) && seq > 0 ? { seq } : {}) }
  },
  component: lazyRouteComponent(() => import('./conversations/Conversation.tsx'), 'Conversation'),
})
const sandboxes = createRoute({
  getParentRoute: () => inside,
  path: '/sandboxes',
  component: lazyRouteComponent(() => import('./sandboxes/Sandboxes.tsx'), 'Sandboxes'),
})
const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  beforeLoad: () => {
    throw redirect({ to: '/settings/$section', params: { section: 'model' } })
  },
})
const settingsSection = createRoute({
  getParentRoute: () => inside,
  path: '/settings/$section',
  component: lazyRouteComponent(() => import('./settings/Settings.tsx'), 'Settings'),
})

const inner = [home, welcome, startTask, conversations, conversation, sandboxes, settings, settingsSection]

export const router = createRouter({
  routeTree: root.addChildren([signIn, join, shared, inside.addChildren(inner)]),
  defaultPreload: 'intent',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
