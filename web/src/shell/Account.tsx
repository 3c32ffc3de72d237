import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { DropdownMenu } from 'radix-ui'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { me } from '../users/me.ts'

const item = 'block w-full rounded px-3 py-2 text-left text-sm outline-none data-highlighted:bg-panel'

export function Account() {
  const { data } = useQuery(me)
  const leave = useMutation({ mutationFn: () => client.users.signOut(), onSuccess: () => location.assign('/sign-in') })
  const name = data?.name ?? data?.email ?? t('shell.account')
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        aria-label={t('shell.account-of', { name })}
        className="grid size-9 place-items-center rounded-full bg-tint text-sm font-semibold text-accent uppercase"
      >
        {name.slice(0, 1)}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="end" sideOffset={6} className="card z-10 min-w-48 p-1 shadow-lg">
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
