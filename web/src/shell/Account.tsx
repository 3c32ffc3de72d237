import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { DropdownMenu } from 'radix-ui'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { me } from '../users/me.ts'

const item = 'block w-full rounded px-3 py-2 text-left text-sm outline-none data-highlighted:bg-panel'

/** Who is signed in, and what concerns only them. `isWide`: with the name beside the letter. */
export function Account({ isWide = false }: { isWide?: boolean }) {
  const { data } = useQuery(me)
  const leave = useMutation({ mutationFn: () => client.users.signOut(), onSuccess: () => location.assign('/sign-in') })
  const name = data?.name ?? data?.email ?? t('shell.account')
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        className={isWide ? 'flex w-full items-center gap-2.5 rounded-lg p-1 text-sm hover:bg-line/60' : 'rounded-full'}
      >
        <Who name={name} isWide={isWide} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={isWide ? 'start' : 'end'}
          sideOffset={6}
          className="card z-10 min-w-48 p-1 shadow-lg"
        >
          <p className="max-w-64 truncate px-3 py-2 text-sm text-soft">{name}</p>
          <DropdownMenu.Item asChild>
            <Link to="/settings/$section" params={{ section: 'profile' }} className={item}>
              {t('users.profile')}
            </Link>
          </DropdownMenu.Item>
          <DropdownMenu.Item asChild>
            <Link to="/settings/$section" params={{ section: 'keys' }} className={item}>
              {t('settings.keys')}
            </Link>
          </DropdownMenu.Item>
          <DropdownMenu.Item className={item} onSelect={() => leave.mutate()}>
            {t('shell.sign-out')}
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

function Who({ name, isWide }: { name: string; isWide: boolean }) {
  return (
    <>
      <span
        aria-hidden
        className="grid size-8 shrink-0 place-items-center rounded-full bg-tint font-semibold text-accent uppercase"
      >
        {name.slice(0, 1)}
      </span>
      <span className="sr-only">{t('shell.account-of', { name })}</span>
      {isWide && (
        <span aria-hidden className="truncate">
          {name}
        </span>
      )}
    </>
  )
}
