import type { UsageReport } from '@parley/contract/usage'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { client } from '../api.ts'
import { compact, dollars, percent } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { save } from '../ui/save.ts'
import { Section } from '../ui/Section.tsx'
import { Segments } from '../ui/Segments.tsx'
import { visible } from '../ui/visible.ts'
import { me } from '../users/me.ts'
import { Days } from './Days.tsx'
import { measures, type Measure, tokensOf } from './measures.ts'
import { Ranking } from './Ranking.tsx'

const ranges = [7, 30, 90, 365] as const

/** What models have cost: in all, by day, by model, by conversation, and for the owner by person. */
export function Usage() {
  const [days, setDays] = useState<number>(30)
  const [everyone, setEveryone] = useState(false)
  const [measure, setMeasure] = useState<Measure>('cost')
  const { data: person } = useQuery(me)
  const found = useQuery({
    queryKey: ['usage', days, everyone],
    queryFn: () => client.usage.get({ query: { days, everyone: String(everyone) } }),
    placeholderData: (last) => last,
  })
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2">
        <select
          aria-label={t('usage.range')}
          className="field w-auto chosen"
          value={days}
          onChange={({ target }) => setDays(Number(target.value))}
        >
          {ranges.map((count) => (
            <option key={count} value={count}>
              {t('usage.last', { count })}
            </option>
          ))}
        </select>
        <Choice measure={measure} onChoose={setMeasure} />
        {person?.role === 'owner' && (
          <label className="flex min-h-9 items-center gap-2 text-sm">
            <input type="checkbox" checked={everyone} onChange={({ target }) => setEveryone(target.checked)} />
            {t('usage.everyone')}
          </label>
        )}
        {found.data !== undefined && (
          <Button className="ml-auto" onClick={() => save('usage.csv', csv(found.data))}>
            {t('usage.download')}
          </Button>
        )}
      </div>
      <ErrorNote error={found.error} />
      {found.data === undefined ? found.isLoading && <Loading /> : <Report report={found.data} measure={measure} />}
    </>
  )
}

const Choice = ({ measure, onChoose }: { measure: Measure; onChoose: (measure: Measure) => void }) => (
  <Segments
    label={t('usage.measure')}
    value={measure}
    choices={measures.map((value) => ({ value, label: t(`usage.${value}`) }))}
    onChoose={onChoose}
  />
)

function Report({ report, measure }: { report: UsageReport; measure: Measure }) {
  const { total } = report
  const cached = total.prompt_tokens === 0 ? 0 : total.cache_read_tokens / total.prompt_tokens
  const tiles: [string, string, string?][] = [
    [t('usage.cost'), dollars(total.cost)],
    [t('usage.calls'), compact(total.calls)],
    [t('usage.input'), compact(total.prompt_tokens), t('usage.cached', { share: percent(cached) })],
    [t('usage.output'), compact(total.completion_tokens)],
  ]
  return (
    <>
      <dl className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-4">
        {tiles.map(([name, value, note]) => (
          <div key={name} className="card p-4">
            <dt className="text-sm text-soft">{name}</dt>
            <dd className="text-2xl font-semibold tabular-nums">{value}</dd>
            <dd className="min-h-5 text-sm text-soft">{note}</dd>
          </div>
        ))}
      </dl>
      <Section title={t('usage.by-day')}>
        <Days days={report.days} measure={measure} />
      </Section>
      {total.calls === 0 ? (
        <p className="text-soft">{t('usage.none')}</p>
      ) : (
        <Rankings report={report} measure={measure} />
      )}
    </>
  )
}

function Rankings({ report: { models, conversations, people }, measure }: { report: UsageReport; measure: Measure }) {
  const named = ({ conversation_id: id, title }: UsageReport['conversations'][number]): ReactNode =>
    title === null ? (
      <span className="text-soft">{t('usage.deleted')}</span>
    ) : (
      <Link to="/conversations/$id" params={{ id }} className="text-accent hover:underline">
        {visible(title)}
      </Link>
    )
  return (
    <>
      {people.length > 0 && (
        <Section title={t('usage.by-person')}>
          <Ranking
            measure={measure}
            rows={people.map((one) => ({
              key: one.user_id,
              name: visible(one.name ?? one.email ?? t('people.unnamed')),
              sum: one,
            }))}
          />
        </Section>
      )}
      <Section title={t('usage.by-model')}>
        <Ranking
          measure={measure}
          rows={models.map((one) => ({ key: one.model, name: visible(one.model), sum: one }))}
        />
      </Section>
      <Section title={t('usage.by-conversation')}>
        <Ranking
          measure={measure}
          rows={conversations.map((one) => ({ key: one.conversation_id, name: named(one), sum: one }))}
        />
      </Section>
    </>
  )
}

/** A line a day, as a spreadsheet reads it. */
const csv = ({ days }: UsageReport): string =>
  [
    'day,calls,cost,prompt_tokens,completion_tokens,cache_read_tokens,tokens',
    ...days.map((one) =>
      [
        one.day,
        one.calls,
        one.cost,
        one.prompt_tokens,
        one.completion_tokens,
        one.cache_read_tokens,
        tokensOf(one),
      ].join(','),
    ),
  ].join('\n')
