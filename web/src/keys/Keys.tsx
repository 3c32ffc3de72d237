import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client, queries } from '../api.ts'
import { day } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { DeleteButton } from '../ui/DeleteButton.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Section } from '../ui/Section.tsx'
import { Time } from '../ui/Time.tsx'
import { visible } from '../ui/visible.ts'
import { CreateKey } from './CreateKey.tsx'

const key = ['keys']

/** API keys: a new one is shown once. */
export function Keys() {
  const [isOpen, setOpen] = useState(false)
  const found = useQuery({ queryKey: key, queryFn: () => client.keys.list() })
  const refresh = () => queries.invalidateQueries({ queryKey: key })
  return (
    <Section title={t('settings.keys')} about={t('keys.about')}>
      <div>
        <Button kind="primary" onClick={() => setOpen(true)}>
          {t('keys.create')}
        </Button>
      </div>
      <ErrorNote error={found.error} />
      {found.isLoading && <Loading />}
      {found.data?.length === 0 && <p className="text-soft">{t('keys.none')}</p>}
      <ul className="divide-y divide-line">
        {found.data?.map((one) => (
          <li key={one.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
            <span className="font-medium">{visible(one.name ?? t('keys.unnamed'))}</span>
            <code className="text-sm text-soft">
              {one.prefix}…{one.last_four}
            </code>
            <span className="text-sm text-soft">
              {one.last_used_at === null ? (
                t('keys.never-used')
              ) : (
                <>
                  {t('keys.used')} <Time at={one.last_used_at} />
                </>
              )}
              {one.expires_at !== null && <> · {t('keys.until', { day: day(one.expires_at) })}</>}
            </span>
            <span className="ml-auto">
              <DeleteButton
                what={t('keys.the', { name: visible(one.name ?? one.last_four) })}
                warning={t('keys.delete.warning')}
                onDelete={() => client.keys.delete({ params: { id: one.id } }).then(refresh)}
              />
            </span>
          </li>
        ))}
      </ul>
      {isOpen && (
        <CreateKey
          onClose={() => {
            setOpen(false)
            void refresh()
          }}
        />
      )}
    </Section>
  )
}
