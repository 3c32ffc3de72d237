import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Row } from './Row.tsx'

/** The conversations that changed last. */
export function Recent() {
  const found = useQuery({
    queryKey: ['conversations', 'recent'],
    queryFn: () => client.conversations.search({ query: { limit: 6, sort_order: 'UPDATED_AT_DESC' } }),
    refetchInterval: 5000,
  })
  if (found.error !== null && found.data === undefined) return <ErrorNote error={found.error} />
  if (found.data === undefined || found.data.items.length === 0) return null
  return (
    <section aria-label={t('recent.label')} className="mt-8 lg:group-data-[sidebar=on]/shell:hidden">
      <div className="mb-2 flex items-baseline justify-between">
        <h2 className="text-sm font-semibold text-soft">{t('recent.title')}</h2>
        <Link to="/conversations" className="text-sm text-accent hover:underline">
          {t('recent.all')}
        </Link>
      </div>
      <ul className="card divide-y divide-line">
        {found.data.items.map((one) => (
          <li key={one.id}>
            <Row of={one} />
          </li>
        ))}
      </ul>
    </section>
  )
}
