import type { UsageReport } from '@parley/contract/usage'
import { day as written } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { type Measure, roundTop, tokensOf, valueOf, written as shown } from './measures.ts'

type Day = UsageReport['days'][number]

// The service counts days in UTC; noon stays on the day in most places.
const dateOf = (day: string) => written(`${day}T12:00:00Z`)

/** A bar for each day. What the picture says stands below it as a table too. */
export function Days({ days, measure }: { days: readonly Day[]; measure: Measure }) {
  const most = Math.max(...days.map((one) => valueOf(one, measure)))
  const top = roundTop(most)
  const dearest = days.find((one) => valueOf(one, measure) === most)
  const label =
    most === 0 || dearest === undefined
      ? t('usage.chart.empty')
      : t('usage.chart', { days: days.length, day: dateOf(dearest.day), value: shown(most, measure) })
  return (
    <div>
      <div role="img" aria-label={label} className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2">
        <div className="flex h-44 flex-col justify-between text-right text-xs text-soft tabular-nums">
          <span className="-mt-2">{shown(top, measure)}</span>
          <span>{shown(top / 2, measure)}</span>
          <span className="-mb-2">{shown(0, measure)}</span>
        </div>
        <div className="relative h-44 border-b border-edge">
          <span className="absolute inset-x-0 top-0 border-t border-line" />
          <span className="absolute inset-x-0 top-1/2 border-t border-line" />
          <div className="absolute inset-0 flex items-end gap-px sm:gap-0.5">
            {days.map((one) => (
              <Bar key={one.day} of={one} measure={measure} top={top} />
            ))}
          </div>
        </div>
        <span />
        <div className="flex justify-between pt-1 text-xs text-soft">
          <span>{dateOf(days[0]?.day ?? '')}</span>
          <span>{dateOf(days.at(-1)?.day ?? '')}</span>
        </div>
      </div>
      <details className="mt-3">
        <summary className="text-sm text-accent">{t('usage.table')}</summary>
        <Table days={days.filter(({ calls }) => calls > 0)} />
      </details>
    </div>
  )
}

function Bar({ of: one, measure, top }: { of: Day; measure: Measure; top: number }) {
  const value = valueOf(one, measure)
  return (
    <span
      title={`${dateOf(one.day)}: ${shown(value, measure)}`}
      className="flex h-full min-w-0 flex-1 items-end hover:bg-panel"
    >
      <span
        className={`block w-full rounded-t-sm bg-accent ${value === 0 ? '' : 'min-h-0.5'}`}
        style={{ height: `${(100 * value) / top}%` }}
      />
    </span>
  )
}

const Table = ({ days }: { days: readonly Day[] }) => (
  <div className="max-h-72 overflow-auto" role="region" aria-label={t('usage.table')} tabIndex={0}>
    <table className="w-full text-sm tabular-nums">
      <thead className="text-right text-soft">
        <tr>
          <th className="py-1 text-left font-medium">{t('usage.day')}</th>
          <th className="py-1 font-medium">{t('usage.calls')}</th>
          <th className="py-1 font-medium">{t('usage.tokens')}</th>
          <th className="py-1 font-medium">{t('usage.cost')}</th>
        </tr>
      </thead>
      <tbody className="divide-y divide-line text-right">
        {days.toReversed().map((one) => (
          <tr key={one.day}>
            <td className="py-1 text-left whitespace-nowrap">{dateOf(one.day)}</td>
            <td>{one.calls}</td>
            <td>{shown(tokensOf(one), 'tokens')}</td>
            <td>{shown(one.cost, 'cost')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
