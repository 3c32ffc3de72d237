import type { Finding } from '@parley/contract/health'
import { useMutation, useQuery } from '@tanstack/react-query'
import { client } from '../api.ts'
import { duration } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Section } from '../ui/Section.tsx'
import { visible } from '../ui/visible.ts'

/** For the owner: what runs here, whether it is sound, and what it is bounded by. */
export const Server = () => (
  <>
    <Facts />
    <Doctor />
    <Limits />
  </>
)

function Facts() {
  const found = useQuery({ queryKey: ['server-info'], queryFn: () => client.health.serverInfo() })
  if (found.data === undefined) return <ErrorNote error={found.error} />
  const { version, role, sandbox_driver, uptime_seconds } = found.data
  const facts = [
    [t('server.version'), version],
    [t('server.role'), role],
    [t('server.driver'), sandbox_driver],
    [t('server.uptime'), duration(uptime_seconds * 1000)],
  ] as const
  return (
    <Section title={t('settings.server')}>
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="text-sm text-soft">{name}</dt>
            <dd className="font-medium">{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

function Doctor() {
  const examine = useMutation({ mutationFn: () => client.health.examine() })
  const found = examine.data
  const bad = found?.filter(({ ok }) => !ok).length ?? 0
  return (
    <Section title={t('server.health')} about={t('server.health.about')}>
      <div className="flex flex-wrap items-center gap-3">
        <Button kind="primary" busy={examine.isPending} onClick={() => examine.mutate()}>
          {t('server.examine')}
        </Button>
        <span role="status" className={`text-sm ${bad === 0 ? 'text-good' : 'text-bad'}`}>
          {found !== undefined && (bad === 0 ? t('server.sound') : t('server.unsound', { count: bad }))}
        </span>
      </div>
      <ErrorNote error={examine.error} />
      {examine.isPending && <Loading />}
      {found !== undefined && (
        <ul className="divide-y divide-line">
          {found.map((one) => (
            <Check key={one.check} of={one} />
          ))}
        </ul>
      )}
    </Section>
  )
}

function Check({ of: { check, ok, fatal, detail, fix } }: { of: Finding }) {
  const look = ok ? 'text-good' : fatal ? 'text-bad' : 'text-warn'
  const word = ok ? t('server.ok') : fatal ? t('server.failed') : t('server.warning')
  return (
    <li className="flex gap-3 py-2.5">
      <span className={`w-5 shrink-0 text-center ${look}`}>
        <span aria-hidden>{ok ? '✓' : fatal ? '✕' : '!'}</span>
        <span className="sr-only">{word}</span>
      </span>
      <div className="min-w-0">
        <p className="font-medium">{visible(check)}</p>
        <p className="text-sm wrap-anywhere text-soft">{visible(detail)}</p>
        {!ok && fix !== null && (
          <pre className="mt-1 rounded bg-panel p-2 text-[0.8125rem] whitespace-pre-wrap">{visible(fix)}</pre>
        )}
      </div>
    </li>
  )
}

function Limits() {
  const found = useQuery({ queryKey: ['limits'], queryFn: () => client.health.limits() })
  return (
    <Section title={t('server.limits')} about={t('server.limits.about')}>
      <ErrorNote error={found.error} />
      {found.isLoading && <Loading />}
      {found.data !== undefined && (
        <div className="overflow-x-auto" role="region" aria-label={t('server.limits')} tabIndex={0}>
          <table className="w-full text-sm">
            <thead className="text-left text-soft">
              <tr>
                <th className="py-1 pr-3 font-medium">{t('server.limit')}</th>
                <th className="py-1 pr-3 font-medium">{t('server.value')}</th>
                <th className="py-1 font-medium">{t('server.origin')}</th>
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {found.data.map(({ name, value, is_default }) => (
                <tr key={name}>
                  <td className="py-1.5 pr-3 font-mono text-[0.8125rem]">{name}</td>
                  <td className="py-1.5 pr-3 whitespace-nowrap">{value}</td>
                  <td className={`py-1.5 ${is_default ? 'text-soft' : 'text-accent'}`}>
                    {is_default ? t('server.default') : t('server.set')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  )
}
