import type { UsageSum } from '@parley/contract/usage'
import type { ReactNode } from 'react'
import { t } from '../i18n/translate.ts'
import { type Measure, tokensOf, valueOf, written } from './measures.ts'

interface Ranked {
  key: string
  name: ReactNode
  sum: UsageSum
}

/** Who used how much, each with a bar beside the most. A table, so that every reader has the numbers. */
export function Ranking({ rows, measure }: { rows: readonly Ranked[]; measure: Measure }) {
  const sorted = rows.toSorted((one, other) => valueOf(other.sum, measure) - valueOf(one.sum, measure))
  const most = Math.max(...sorted.map(({ sum }) => valueOf(sum, measure)), Number.MIN_VALUE)
  return (
    <table className="w-full table-fixed text-sm tabular-nums">
      <colgroup>
        <col />
        <col className="w-20" />
        <col className="w-24" />
      </colgroup>
      <thead className="sr-only">
        <tr>
          <th>{t('usage.what')}</th>
          <th>{t('usage.tokens')}</th>
          <th>{t('usage.cost')}</th>
        </tr>
      </thead>
      <tbody>
        {sorted.map(({ key, name, sum }) => (
          <tr key={key} className="align-top">
            <td className="py-1.5 pr-2">
              <span className="block truncate">{name}</span>
              <span className="mt-1 block h-1.5 rounded-full bg-panel">
                <span
                  className="block h-full rounded-full bg-accent"
                  style={{ width: `${(100 * valueOf(sum, measure)) / most}%` }}
                />
              </span>
            </td>
            <td className="py-1.5 text-right text-soft">{written(tokensOf(sum), 'tokens')}</td>
            <td className="py-1.5 text-right font-medium">{written(sum.cost, 'cost')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
