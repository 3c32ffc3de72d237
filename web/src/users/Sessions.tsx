import { useMutation, useQuery } from '@tanstack/react-query'
import { client, queries } from '../api.ts'
import { moment } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Section } from '../ui/Section.tsx'
import { Time } from '../ui/Time.tsx'

const key = ['sessions']

/** Where one is signed in, and signing out there. */
export function Sessions() {
  const found = useQuery({ queryKey: key, queryFn: () => client.users.listSessions() })
  const end = useMutation({
    mutationFn: (id: string) => client.users.endSession({ params: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  })
  const leave = useMutation({
    mutationFn: () => client.users.signOut({ query: { everywhere: 'true' } }),
    onSuccess: () => location.assign('/sign-in'),
  })
  return (
    <Section title={t('users.sessions')} about={t('users.sessions.list')}>
      <ErrorNote error={found.error ?? end.error ?? leave.error} />
      {found.isLoading && <Loading />}
      <ul className="divide-y divide-line">
        {found.data?.map((one) => (
          <li key={one.id} className="flex min-h-12 flex-wrap items-center gap-x-3 py-1.5">
            <span>{t('users.session.since', { time: moment(one.created_at) })}</span>
            <span className="text-sm text-soft">
              {t('users.session.used')} <Time at={one.last_seen_at} />
            </span>
            {one.current ? (
              <span className="ml-auto text-sm text-good">{t('users.session.this')}</span>
            ) : (
              <Button
                className="ml-auto"
                busy={end.isPending && end.variables === one.id}
                onClick={() => end.mutate(one.id)}
              >
                {t('users.session.end')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={() => leave.mutate()} busy={leave.isPending}>
          {t('users.sessions.end')}
        </Button>
        <span className="text-sm text-soft">{t('users.sessions.about')}</span>
      </div>
    </Section>
  )
}
